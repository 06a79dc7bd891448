// LimitUsage: the usage of the limits of an application's plan, and their utilization.
//
// Alerts and the utilization query of the internal API use it. It writes nothing.
//
//   absl::StatusOr<std::vector<LimitUsage>> usage = co_await ReadLimitUsage(process, application);
//   const std::optional<Utilization> most = MostUtilized(*usage);
//   most->ratio        // 0.8
//   most->LimitText()  // "hits per day: 8/10"
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 4.16, 4.21.
#ifndef REDOUBLE_CORE_THREESCALE_AUTHORIZE_LIMIT_USAGE_H_
#define REDOUBLE_CORE_THREESCALE_AUTHORIZE_LIMIT_USAGE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/process.h"
#include "redouble/core/threescale/text/integer.h"
#include "redouble/core/threescale/text/periods.h"

namespace redouble::inline v0_1::threescale {

// One limit and its usage in the current period.
struct LimitUsage {
  Granularity period = Granularity::kEternity;
  std::string metric_name;
  Integer max_value = 0;
  Integer current_value = 0;

  friend bool operator==(const LimitUsage&, const LimitUsage&) = default;
};

// Returns the limits of the application's plan in the order of UsageLimitStore::LoadAll, without
// those whose metric has no name. For a memoized application these are the limits that were read
// last. Up to four round trips: metrics, limits, names, counters; the last two are not sent without
// limits. Errors: those of Redis.
base::Task<absl::StatusOr<std::vector<LimitUsage>>> ReadLimitUsage(Process process,
                                                                   Application application);

struct Utilization {
  LimitUsage limit;
  double ratio = 0;  // Usage divided by limit.

  // "hits per day: 8/10"
  std::string LimitText() const;
};

// Returns the limit with the greatest utilization, the first of equal ones. Limits of 0 are
// ignored. Returns nullopt if no limit was used.
std::optional<Utilization> MostUtilized(std::span<const LimitUsage> limits);

// Returns the highest alert level that the ratio has reached: 0.89 is 80.
int AlertLevelOf(double ratio);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_AUTHORIZE_LIMIT_USAGE_H_
