#include "redouble/core/threescale/report/stats_reader.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/model/requests.h"

namespace redouble::inline v0_1::threescale {
namespace {

absl::Status Check(const StatsQuery& query) {
  if (query.metric_id.empty() == query.response_code.empty()) {
    return absl::InvalidArgumentError("a query has either a metric or a response code");
  }
  const std::span<const Granularity> counted =
      query.application_id ? ApplicationGranularities() : ServiceGranularities();
  if (std::find(counted.begin(), counted.end(), query.granularity) == counted.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a service is not counted by ", base::ToAbsl(GranularityName(query.granularity))));
  }
  if (query.until < query.since) {
    return absl::InvalidArgumentError("the series ends before it begins");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<StatsPoint>> PointsOf(const StatsQuery& query) {
  std::vector<StatsPoint> points;
  for (Period period = PeriodAt(query.granularity, query.since);;
       period = PeriodAt(query.granularity, period.end)) {
    points.push_back({period});
    const bool last = period.granularity == Granularity::kEternity || query.until < period.end;
    if (last) return points;
    if (points.size() == StatsReader::kMostPoints) {
      return absl::InvalidArgumentError(
          absl::StrCat("the series has more than ", StatsReader::kMostPoints, " points"));
    }
  }
}

}  // namespace

base::Task<absl::StatusOr<std::vector<StatsPoint>>> StatsReader::Series(StatsQuery query) {
  REDOUBLE_CO_RETURN_IF_ERROR(Check(query));
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<StatsPoint> points, PointsOf(query));
  CounterSubject subject;
  subject.service_id = query.service_id;
  subject.application_id = query.application_id;
  subject.metric_id = query.metric_id;
  subject.response_code = query.response_code;
  std::vector<std::string> keys;
  for (const StatsPoint& point : points) {
    keys.push_back(process_.keys.Counter(subject, point.period.KeySegment(process_.stamp_format)));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalTexts values,
                               co_await GetAll(process_.store, std::move(keys)));
  for (size_t i = 0; i < points.size(); ++i) points[i].value = ToIntegerOrZero(values[i]);
  co_return points;
}

base::Task<absl::StatusOr<Integer>> StatsReader::Total(StatsQuery query) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<StatsPoint> points, co_await Series(query));
  Integer total = 0;
  for (const StatsPoint& point : points) total += point.value;
  co_return total;
}

base::Task<absl::StatusOr<std::vector<std::string>>> StatsReader::Applications(
    std::string_view service_id) {
  const std::string key = process_.keys.TrafficApplications(service_id);
  absl::StatusOr<std::vector<std::string>> ids = co_await store::SMembers(process_.store, key);
  if (ids.ok()) std::sort(ids->begin(), ids->end());
  co_return ids;
}

}  // namespace redouble::inline v0_1::threescale
