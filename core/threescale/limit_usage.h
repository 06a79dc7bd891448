// How far an application has used up the limits of its plan, for alerts.
//
//   absl::StatusOr<std::vector<LimitUsage>> usage = co_await ReadLimitUsage(process, application);
//   const std::optional<Utilization> most = MostUtilized(*usage);
//   most->ratio        // 0.8
//   most->LimitText()  // "hits per day: 8/10"
//
// Thread-safety: as Store.
// Source: reference/threescale.md 5.5.
#ifndef REDOUBLE_CORE_THREESCALE_LIMIT_USAGE_H_
#define REDOUBLE_CORE_THREESCALE_LIMIT_USAGE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/threescale/application.h"
#include "core/threescale/integer.h"
#include "core/threescale/periods.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

// One limit and what was used of it in the period that is now.
struct LimitUsage {
  Granularity period = Granularity::kEternity;
  std::string metric_name;
  Integer max_value = 0;
  Integer current_value = 0;

  friend bool operator==(const LimitUsage&, const LimitUsage&) = default;
};

// The limits of the application's plan in the order of UsageLimitStore::LoadAll, without those
// whose metric has no name; of an application that is memoized, the limits that it knows already.
// Up to four round trips: metrics, limits, names, counters; the last two
// are not sent when there is no limit.
base::Task<absl::StatusOr<std::vector<LimitUsage>>> ReadLimitUsage(Process process,
                                                                   Application application);

struct Utilization {
  LimitUsage limit;
  double ratio = 0;  // Of the limit, 1 at the limit itself.

  // "hits per day: 8/10"
  std::string LimitText() const;
};

// The limit that is used up most, the first of equals; limits of 0 do not take part. None when
// nothing was used of any.
std::optional<Utilization> MostUtilized(std::span<const LimitUsage> limits);

// The highest alert level that the ratio has reached: 0.89 is 80.
int AlertLevelOf(double ratio);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_LIMIT_USAGE_H_
