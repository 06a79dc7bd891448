// MetricCollection: converts a client's usage, by metric names, to usage by metric ids with
// parents.
//
// Listeners use it before they compare usage with limits, and workers before they count.
//
//   MetricCollection metrics(process, "2");
//   absl::StatusOr<Usage> usage = co_await metrics.ProcessUsage({{"search", "5"}});
//   // {{"11", "5"}, {"10", "5"}}: search, and its parent hits
//
// A collection caches ids and parents as long as it lives. With a Memoizer all collections of a
// service share this cache for up to a minute. Its values were themselves read through the
// Memoizer, so a parent can be stale for up to two minutes (H20).
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 2.4, 4.18, 4.24, H20.
#ifndef REDOUBLE_CORE_THREESCALE_AUTHORIZE_METRIC_USAGE_H_
#define REDOUBLE_CORE_THREESCALE_AUTHORIZE_METRIC_USAGE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/usage.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

enum class Propagation {
  kToParents,
  kNone,  // The extension flat_usage.
};

class MetricCollection {
 public:
  MetricCollection(const Process& process, std::string_view service_id);

  // Returns the usage by metric ids, including parents. White space around names is removed. If two
  // names have one id, the last value is used, at the first position. One round trip per name, and
  // then for each entry one per ancestor. Errors: UsageValueInvalid, MetricInvalid, and the cycle
  // of parents of metric.h.
  // Source: docs/systems/threescale.md 2.4, 4.18.
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

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_AUTHORIZE_METRIC_USAGE_H_
