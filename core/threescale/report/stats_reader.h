// StatsReader: reads the counters of a service or an application, as system does for its charts.
//
//   StatsReader stats(process);
//   StatsQuery query = {.service_id = "2", .application_id = "37ba04ec", .metric_id = "6"};
//   query.granularity = Granularity::kDay;
//   query.since = now - absl::Hours(24 * 6);
//   query.until = now;
//   absl::StatusOr<std::vector<StatsPoint>> week = co_await stats.Series(query);   // 7 points
//
// Counters are read under the keys that reports write: an application id with a space is found,
// other than by limits (H25). Nothing is written, so a repeated call is harmless.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 4.28.
#ifndef REDOUBLE_CORE_THREESCALE_REPORT_STATS_READER_H_
#define REDOUBLE_CORE_THREESCALE_REPORT_STATS_READER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/process.h"
#include "redouble/core/threescale/text/integer.h"
#include "redouble/core/threescale/text/periods.h"

namespace redouble::inline v0_1::threescale {

// The views must outlive the task that takes the query.
struct StatsQuery {
  std::string_view service_id;
  // Nullopt: the counters of the service.
  std::optional<std::string_view> application_id = std::nullopt;
  // Set either a metric,
  std::string_view metric_id = {};
  // or a response code: three digits, or a class such as "2XX".
  std::string_view response_code = {};
  Granularity granularity = Granularity::kDay;
  // The first and the last period are those that contain these times. Without effect for eternity.
  absl::Time since = absl::UnixEpoch();
  absl::Time until = absl::UnixEpoch();
};

struct StatsPoint {
  Period period;
  Integer value = 0;  // 0 for a missing counter.
};

class StatsReader {
 public:
  // The greatest number of points of one series.
  static constexpr size_t kMostPoints = 10'000;

  explicit StatsReader(const Process& process) : process_(process) {}

  // Returns the counters of all periods from `since` to `until`, ascending. One MGET: one round
  // trip. Errors: InvalidArgument if the query does not have exactly one of metric and response
  // code, if the service or the application has no counters of the granularity (2.1), if `until` is
  // before `since`, or for more than kMostPoints; otherwise those of Redis.
  base::Task<absl::StatusOr<std::vector<StatsPoint>>> Series(StatsQuery query);

  // Returns the sum of a series.
  base::Task<absl::StatusOr<Integer>> Total(StatsQuery query);

  // Returns the ids of the applications of a service that ever had traffic, sorted, with each space
  // as
  // `+` (1.1). SMEMBERS: one round trip.
  base::Task<absl::StatusOr<std::vector<std::string>>> Applications(std::string_view service_id);

 private:
  Process process_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REPORT_STATS_READER_H_
