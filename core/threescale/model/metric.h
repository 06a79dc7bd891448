// MetricStore: the metrics of a service, by id and by name, and the tree that they form.
//
// Usage of a metric also counts for its parent and for all further ancestors. The tree is stored as
// the parent of each metric, and nothing enforces that it is a tree: a deleted metric stays the
// parent of its children, and a cycle of parents can be saved. The original never returns from a
// walk in such a cycle (hazard H24). Here the walk fails with FailedPrecondition, without a code of
// the backend (D16).
//
//   MetricStore metrics(process);
//   absl::StatusOr<std::optional<std::string>> id = co_await metrics.LoadId({"2", "hits"});
//   absl::StatusOr<MetricNames> below = co_await metrics.Descendants({"2", "hits"});
//
// Errors of every operation: those that it names, and those of Redis. All reads except Load are
// memoized; the entries of parents are not cleared when a metric is saved or deleted.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 2.4, 3.5, 4.5, H24, D16.
#ifndef REDOUBLE_CORE_THREESCALE_MODEL_METRIC_H_
#define REDOUBLE_CORE_THREESCALE_MODEL_METRIC_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/hardening.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

struct Metric {
  std::string service_id;
  std::string id;
  std::string name;
  std::optional<std::string> parent_id = std::nullopt;
  // For Save: children of this metric, which are saved with it in the same service.
  std::vector<Metric> children = {};
};

// Metric names; nullopt for an id without a name.
using MetricNames = std::vector<std::optional<std::string>>;

// Parents with their children, in the order of the children's ids in the reply of Redis.
using MetricHierarchy = std::vector<std::pair<std::optional<std::string>, MetricNames>>;

// The error of a walk that reaches a metric for the second time.
absl::Status MetricCycleError(std::string_view service_id, std::string_view metric);

// Returns the children of a metric, and then the descendants of each child.
absl::StatusOr<MetricNames> DescendantsIn(const MetricHierarchy& hierarchy,
                                          const MetricNameRef& metric);

class MetricStore {
 public:
  explicit MetricStore(const Process& process, Hardening hardening = Hardening())
      : process_(process), hardening_(hardening) {}

  // Saves a metric and its children. Reads the old name; deletes the mapping of the old name if it
  // differs, whichever metric it points to (H15); writes in one pipeline; reads the ids of the
  // service. Up to four round trips per metric. A save cannot remove a parent. If two metrics have
  // one name, the name leads to the one that was saved last. With change_metrics_atomically, three
  // round trips per metric and two more for each write of another process in between.
  base::Task<absl::Status> Save(const Metric& metric);

  // Deletes a metric. Returns false if it has no name. Three round trips; one if it has no name.
  // With change_metrics_atomically, two more for each write of another process in between.
  // Children, limits and counters stay, and usage of the children still counts for the id.
  base::Task<absl::StatusOr<bool>> Delete(MetricRef metric);

  // Return nullopt if there is no such value. One round trip each.
  base::Task<absl::StatusOr<std::optional<Metric>>> Load(MetricRef metric);
  base::Task<absl::StatusOr<std::optional<std::string>>> LoadId(MetricNameRef metric);
  base::Task<absl::StatusOr<std::optional<std::string>>> LoadName(MetricRef metric);
  base::Task<absl::StatusOr<std::optional<std::string>>> LoadParentId(MetricRef metric);
  // Returns the ids of all metrics of a service, in the order of Redis.
  base::Task<absl::StatusOr<std::vector<std::string>>> LoadIds(std::string_view service_id);
  // Returns the names of `ids` in the same order. Sends no command without ids.
  base::Task<absl::StatusOr<MetricNames>> LoadNames(std::string_view service_id,
                                                    std::vector<std::string> ids);

  // Returns the tree of a service. Reads the ids, their parents (400 per MGET, one pipeline) and
  // the names: three round trips.
  base::Task<absl::StatusOr<MetricHierarchy>> Hierarchy(std::string_view service_id);
  // Returns DescendantsIn(Hierarchy(...), metric).
  base::Task<absl::StatusOr<MetricNames>> Descendants(MetricNameRef metric);
  // Returns the names of the metric's parent, the parent's parent and so on; nullopt for a parent
  // without a name. Three round trips per ancestor.
  base::Task<absl::StatusOr<MetricNames>> Ascendants(MetricNameRef metric);

 private:
  base::Task<absl::Status> SaveOne(const Metric& metric);
  base::Task<absl::Status> SaveByScript(const Metric& metric);
  base::Task<absl::StatusOr<bool>> DeleteByScript(MetricRef metric);
  base::Task<absl::Status> Forget(MetricNameRef name, std::string_view id);
  base::Task<absl::StatusOr<MetricHierarchy>> ReadHierarchy(std::string_view service_id);
  base::Task<absl::StatusOr<MetricNames>> ReadParentIds(std::string_view service_id,
                                                        const std::vector<std::string>& ids);
  base::Task<absl::StatusOr<MetricNames>> ReadDescendants(MetricNameRef metric);
  base::Task<absl::StatusOr<MetricNames>> ReadAscendants(MetricNameRef metric);

  Process process_;
  Hardening hardening_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MODEL_METRIC_H_
