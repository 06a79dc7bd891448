// MetricStore: the metrics of a service, by id and by name, and the tree that they form.
//
// What is reported for a metric counts for its parent as well, and for the parent's parent. The
// tree is kept as each metric's parent, and nothing keeps it a tree: a deleted metric stays the
// parent of its children, and a circle of parents can be saved. The original never comes back from
// a walk in such a circle; here the walk fails: FailedPrecondition, without an error code of the
// backend. That is the one deliberate difference from the documented system.
//
//   MetricStore metrics(process);
//   absl::StatusOr<std::optional<std::string>> id = co_await metrics.LoadId({"2", "hits"});
//   absl::StatusOr<MetricNames> below = co_await metrics.Descendants({"2", "hits"});
//
// Errors of every operation: those named, and those of Redis. Reads are memoized except Load; what
// is known of parents is not forgotten when a metric is saved or deleted.
//
// Thread-safety: as Store.
// Source: seed 004 Metrics, reference/threescale.md 3.4.
#ifndef REDOUBLE_CORE_THREESCALE_METRIC_H_
#define REDOUBLE_CORE_THREESCALE_METRIC_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/threescale/keys.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

struct Metric {
  std::string service_id;
  std::string id;
  std::string name;
  std::optional<std::string> parent_id = std::nullopt;
  // For Save: saved with it, as its children and of its service.
  std::vector<Metric> children = {};
};

// Metric names; none for a metric of which only the id is known any more.
using MetricNames = std::vector<std::optional<std::string>>;

// Parents and their children, in the order of the children's ids in Redis's reply.
using MetricHierarchy = std::vector<std::pair<std::optional<std::string>, MetricNames>>;

// The error of a walk that comes to a metric that it has passed.
absl::Status MetricCycleError(std::string_view service_id, std::string_view metric);

// The children of a metric, then the descendants of each child.
absl::StatusOr<MetricNames> DescendantsIn(const MetricHierarchy& hierarchy,
                                          const MetricNameRef& metric);

class MetricStore {
 public:
  explicit MetricStore(const Process& process) : process_(process) {}

  // Writes a metric and its children. Reads the old name, deletes the way from it to an id when it
  // differs (whoever's id that is by now), writes in one pipeline, and reads the ids of the
  // service: up to four round trips per metric. A parent cannot be taken back; of two metrics of
  // one name the last saved has it.
  base::Task<absl::Status> Save(const Metric& metric);

  // False when it has no name. Two round trips, and one for the ids. Children, limits and counters
  // stay, and usage of the children still counts for the id.
  base::Task<absl::StatusOr<bool>> Delete(MetricRef metric);

  // One round trip; none when it has no name.
  base::Task<absl::StatusOr<std::optional<Metric>>> Load(MetricRef metric);
  base::Task<absl::StatusOr<std::optional<std::string>>> LoadId(MetricNameRef metric);
  base::Task<absl::StatusOr<std::optional<std::string>>> LoadName(MetricRef metric);
  base::Task<absl::StatusOr<std::optional<std::string>>> LoadParentId(MetricRef metric);
  // The ids of all metrics of a service, in Redis's order.
  base::Task<absl::StatusOr<std::vector<std::string>>> LoadIds(std::string_view service_id);
  // The names of the ids, in their order; no command for no ids.
  base::Task<absl::StatusOr<MetricNames>> LoadNames(std::string_view service_id,
                                                    std::vector<std::string> ids);

  // The whole tree of a service: the ids, their parents (400 to a command, one pipeline), and the
  // names.
  base::Task<absl::StatusOr<MetricHierarchy>> Hierarchy(std::string_view service_id);
  // DescendantsIn of the hierarchy.
  base::Task<absl::StatusOr<MetricNames>> Descendants(MetricNameRef metric);
  // The names of the metric's parent, the parent's parent and so on; empty for a parent without a
  // name. Three round trips each.
  base::Task<absl::StatusOr<std::vector<std::string>>> Ascendants(MetricNameRef metric);

 private:
  base::Task<absl::Status> SaveOne(const Metric& metric);
  base::Task<absl::Status> Forget(MetricNameRef name, std::string_view id);
  base::Task<absl::StatusOr<MetricHierarchy>> ReadHierarchy(std::string_view service_id);
  base::Task<absl::StatusOr<MetricNames>> ReadParentIds(std::string_view service_id,
                                                        const std::vector<std::string>& ids);
  base::Task<absl::StatusOr<MetricNames>> ReadDescendants(MetricNameRef metric);
  base::Task<absl::StatusOr<std::vector<std::string>>> ReadAscendants(MetricNameRef metric);

  Process process_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_METRIC_H_
