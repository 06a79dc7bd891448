#include "redouble/core/threescale/authorize/limit_usage.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/model/alert_limit.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/requests.h"
#include "redouble/core/threescale/model/usage_limit.h"

namespace redouble::inline v0_1::threescale {
namespace {

// The keys of the counters that limits are compared with. They are encoded, as for all reads.
std::vector<std::string> CounterKeys(const Process& process, const Application& application,
                                     std::span<const UsageLimit> limits) {
  const absl::Time now = process.clock.Now();
  std::vector<std::string> keys;
  for (const UsageLimit& limit : limits) {
    keys.push_back(
        Encode(process.keys.Counter({.service_id = application.service_id,
                                     .application_id = application.id,
                                     .metric_id = limit.metric_id},
                                    PeriodAt(limit.period, now).KeySegment(process.stamp_format))));
  }
  return keys;
}

std::vector<std::string> MetricIds(std::span<const UsageLimit> limits) {
  std::vector<std::string> ids;
  for (const UsageLimit& limit : limits) ids.push_back(limit.metric_id);
  return ids;
}

// The limits that were last read for the application object, or else all limits of its plan.
base::Task<absl::StatusOr<std::vector<UsageLimit>>> LimitsOf(Process process,
                                                             Application application) {
  const std::shared_ptr<KeptLimits> kept = application.kept_limits;
  if (kept && kept->has_value()) co_return **kept;
  absl::StatusOr<std::vector<UsageLimit>> limits =
      co_await UsageLimitStore(process).LoadAll(application.plan());
  if (limits.ok() && kept) *kept = *limits;
  co_return limits;
}

}  // namespace

base::Task<absl::StatusOr<std::vector<LimitUsage>>> ReadLimitUsage(Process process,
                                                                   Application application) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto limits, co_await LimitsOf(process, application));
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const MetricNames names,
      co_await MetricStore(process).LoadNames(application.service_id, MetricIds(limits)));
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const OptionalTexts counters,
      co_await GetAll(process.store, CounterKeys(process, application, limits)));
  std::vector<LimitUsage> usage;
  for (size_t i = 0; i < limits.size(); ++i) {
    const std::optional<std::string>& name = names[i];
    if (!name) continue;
    const UsageLimit& limit = limits[i];
    usage.push_back({limit.period, *name, limit.value, ToIntegerOrZero(counters[i])});
  }
  co_return usage;
}

std::string Utilization::LimitText() const {
  return absl::StrCat(limit.metric_name, " per ", base::ToAbsl(GranularityName(limit.period)), ": ",
                      FormatInteger(limit.current_value), "/", FormatInteger(limit.max_value));
}

std::optional<Utilization> MostUtilized(std::span<const LimitUsage> limits) {
  std::optional<Utilization> most;
  for (const LimitUsage& limit : limits) {
    if (limit.max_value <= 0) continue;
    const double ratio =
        static_cast<double>(limit.current_value) / static_cast<double>(limit.max_value);
    if (ratio > (most ? most->ratio : 0)) most = Utilization{limit, ratio};
  }
  return most;
}

int AlertLevelOf(double ratio) {
  constexpr double kPercent = 100.0;
  int reached = 0;
  for (const int level : AlertLevels()) {
    if (ratio * kPercent >= level) reached = level;
  }
  return reached;
}

}  // namespace redouble::inline v0_1::threescale
