#include <algorithm>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/threescale/authorize/authorizer.h"

namespace redouble::inline v0_1::threescale {
namespace {

constexpr int kUnlimited = -1;

// The usage of a metric; a missing one is 0, as in the original.
std::string_view ValueOf(const Usage& usage, const std::optional<std::string>& metric_name) {
  const std::string* value = metric_name ? FindUsage(usage, *metric_name) : nullptr;
  return value == nullptr ? std::string_view("0") : std::string_view(*value);
}

struct RankedReport {
  const UsageReport* report;
  Integer remaining;
};

// The comparison of the original: whether the first report is the tighter one. It handles an
// unlimited second report, but compares the -1 of an unlimited first report as a number (4.14).
bool ComesBefore(const RankedReport& one, const RankedReport& other) {
  if (one.remaining == other.remaining) {
    return one.report->period.granularity > other.report->period.granularity;
  }
  return other.remaining == kUnlimited || one.remaining < other.remaining;
}

}  // namespace

// The metrics that were read for one answer.
struct Authorizer::Descents {
  std::optional<MetricHierarchy> hierarchy;
};

base::Task<absl::StatusOr<MetricNames>> Authorizer::FindDescendants(
    const Authorization& authorization, std::string_view metric_name, Descents& descents) {
  MetricStore metrics(process_);
  const MetricNameRef metric{authorization.service.id, metric_name};
  if (process_.memoizer != nullptr) co_return co_await metrics.Descendants(metric);
  if (!descents.hierarchy) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(descents.hierarchy, co_await metrics.Hierarchy(metric.service_id));
  }
  co_return DescendantsIn(*descents.hierarchy, metric);
}

base::Task<absl::StatusOr<Integer>> Authorizer::AddDescendants(const Authorization& authorization,
                                                               std::string_view metric_name,
                                                               Integer value, Descents& descents) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const MetricNames descendants,
                               co_await FindDescendants(authorization, metric_name, descents));
  for (const std::optional<std::string>& descendant : descendants) {
    value = ApplyUsage(value, ValueOf(*authorization.usage, descendant));
  }
  co_return value;
}

base::Task<absl::StatusOr<std::vector<UsageReport>>> Authorizer::UsageReports(
    const Authorization& authorization) {
  Descents descents;
  co_return co_await Reports(authorization, /*names=*/nullptr, descents);
}

base::Task<absl::StatusOr<std::vector<UsageReport>>> Authorizer::Reports(
    const Authorization& authorization, const std::vector<std::string>* names, Descents& descents) {
  const bool adds_usage = authorization.authorized() && authorization.usage &&
                          threescale::Reports(authorization.endpoint);
  std::vector<UsageReport> reports;
  for (const LimitState& limit : authorization.limits) {
    if (!limit.metric_name) continue;
    const bool is_wanted = names == nullptr || std::find(names->begin(), names->end(),
                                                         *limit.metric_name) != names->end();
    if (!is_wanted) continue;
    UsageReport report;
    report.metric_name = *limit.metric_name;
    report.period = PeriodAt(limit.limit.period, authorization.time);
    report.max_value = limit.limit.value;
    report.current_value = limit.current;
    report.exceeded = limit.current > limit.limit.value;
    if (adds_usage) {
      const std::string_view value = ValueOf(*authorization.usage, limit.metric_name);
      REDOUBLE_CO_ASSIGN_OR_RETURN(
          const Integer current,
          co_await AddDescendants(authorization, report.metric_name,
                                  ApplyUsage(limit.current, value), descents));
      report.current_value = current;
    }
    reports.push_back(std::move(report));
  }
  co_return reports;
}

base::Task<absl::StatusOr<Integer>> Authorizer::RemainingCalls(const Authorization& authorization,
                                                               const UsageReport& report,
                                                               Descents& descents) {
  const Integer remaining = report.max_value - report.current_value;
  if (remaining <= 0) co_return 0;
  if (!authorization.usage) co_return kUnlimited;
  const std::string_view value = ValueOf(*authorization.usage, report.metric_name);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Integer usage,
                               co_await AddDescendants(authorization, report.metric_name,
                                                       ApplyUsage(/*current=*/0, value), descents));
  co_return usage > 0 ? remaining / usage : Integer(kUnlimited);
}

base::Task<absl::StatusOr<LimitHeaders>> Authorizer::FindLimitHeaders(
    const Authorization& authorization) {
  const bool has_usage = authorization.usage && !authorization.usage->empty();
  std::vector<std::string> names;
  if (has_usage) {
    MetricStore metrics(process_);
    for (const UsageEntry& entry : *authorization.usage) names.push_back(entry.metric);
    for (const UsageEntry& entry : *authorization.usage) {
      const MetricNameRef metric{authorization.service.id, entry.metric};
      REDOUBLE_CO_ASSIGN_OR_RETURN(const MetricNames above, co_await metrics.Ascendants(metric));
      for (const std::optional<std::string>& name : above) names.push_back(name.value_or(""));
    }
  }
  Descents descents;
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const std::vector<UsageReport> reports,
      co_await Reports(authorization, has_usage ? &names : nullptr, descents));
  std::optional<RankedReport> tightest;
  for (const UsageReport& report : reports) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Integer remaining,
                                 co_await RemainingCalls(authorization, report, descents));
    const RankedReport ranked{&report, remaining};
    if (!tightest || ComesBefore(ranked, *tightest)) tightest = ranked;
  }
  LimitHeaders headers;
  if (!tightest || tightest->remaining == kUnlimited) co_return headers;
  const Period& period = tightest->report->period;
  headers.remaining = tightest->remaining;
  headers.max_value = tightest->report->max_value;
  if (period.granularity != Granularity::kEternity) {
    headers.reset_seconds =
        absl::ToInt64Seconds(absl::Ceil(period.end - process_.clock.Now(), absl::Seconds(1)));
  }
  co_return headers;
}

base::Task<absl::StatusOr<HierarchyReport>> Authorizer::FindHierarchy(
    const Authorization& authorization, const std::vector<UsageReport>& reports) {
  HierarchyReport report;
  if (reports.empty()) co_return report;
  MetricStore metrics(process_);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const MetricHierarchy hierarchy,
                               co_await metrics.Hierarchy(authorization.service.id));
  for (const UsageReport& usage_report : reports) {
    const auto children = std::find_if(hierarchy.begin(), hierarchy.end(), [&](const auto& entry) {
      return entry.first == usage_report.metric_name;
    });
    report.emplace_back(usage_report.metric_name,
                        children == hierarchy.end() ? MetricNames() : children->second);
  }
  co_return report;
}

}  // namespace redouble::inline v0_1::threescale
