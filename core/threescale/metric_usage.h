// MetricCollection: what a client's usage, by metric names, means for the metrics of a service.
//
// Listeners ask before they compare usage with limits, workers before they count it.
//
//   MetricCollection metrics(process, "2");
//   absl::StatusOr<Usage> usage = co_await metrics.ProcessUsage({{"search", "5"}});
//   // {{"11", "5"}, {"10", "5"}}: search, and hits above it
//
// A collection remembers the ids and parents that it found as long as it lives. With a memoizer all
// collections of a service share what they know, for up to a minute; as that is itself read
// through the memoizer, a parent can be known for up to two.
//
// Thread-safety: as Store.
// Source: reference/threescale.md 1.5 and 5.1, 3 to 5.
#ifndef REDOUBLE_CORE_THREESCALE_METRIC_USAGE_H_
#define REDOUBLE_CORE_THREESCALE_METRIC_USAGE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/threescale/metric.h"
#include "core/threescale/process.h"
#include "core/threescale/usage.h"

namespace redouble::threescale {

enum class Propagation {
  kToParents,
  kNone,  // The extension flat_usage.
};

class MetricCollection {
 public:
  MetricCollection(const Process& process, std::string_view service_id);

  // The usage by metric ids, that of parents included. Names may have white space around them; of
  // two names of one metric the last value counts, in the place of the first. A round trip for each
  // name, then, entry by entry, one for each metric on the way up. Errors: UsageValueInvalid,
  // MetricInvalid, and the circle of parents of metric.h.
  base::Task<absl::StatusOr<Usage>> ProcessUsage(Usage usage,
                                                 Propagation propagation = Propagation::kToParents);

 private:
  struct Known {
    std::map<std::string, std::string, std::less<>> ids;      // By name.
    std::map<std::string, std::string, std::less<>> parents;  // By id.
  };

  base::Task<absl::StatusOr<Usage>> ReplaceNames(const Usage& usage);
  base::Task<absl::StatusOr<std::vector<std::string>>> AncestorsOf(std::string_view id);
  base::Task<absl::StatusOr<std::optional<std::string>>> ParentOf(const std::string& id);

  MetricStore metrics_;
  std::string service_id_;
  std::shared_ptr<Known> known_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_METRIC_USAGE_H_
