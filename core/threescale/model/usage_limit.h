// UsageLimitStore: the greatest usage of a metric that a plan allows in a period.
//
// Values are stored as given, without validation, and read as whole numbers (text/integer.h): the
// limit "junk" is a limit of 0.
//
//   UsageLimitStore limits(process);
//   const UsageLimitSave save[] = {{Granularity::kDay, "10"}};
//   absl::Status saved = co_await limits.Save({"2", "44"}, "6", save);
//   absl::StatusOr<std::vector<UsageLimit>> all = co_await limits.LoadAll({"2", "44"});
//
// Errors of every operation: those of Redis.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 2.3, 4.6.
#ifndef REDOUBLE_CORE_THREESCALE_MODEL_USAGE_LIMIT_H_
#define REDOUBLE_CORE_THREESCALE_MODEL_USAGE_LIMIT_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/process.h"
#include "redouble/core/threescale/text/integer.h"
#include "redouble/core/threescale/text/periods.h"

namespace redouble::inline v0_1::threescale {

struct UsageLimit {
  std::string metric_id;
  Granularity period = Granularity::kEternity;
  Integer value = 0;

  friend bool operator==(const UsageLimit&, const UsageLimit&) = default;
};

struct UsageLimitSave {
  Granularity period;
  std::string_view value;
};

class UsageLimitStore {
 public:
  explicit UsageLimitStore(const Process& process) : process_(process) {}

  // Sets the limits of the given periods, from eternity down to minute whatever their order. Other
  // periods keep their limits. If a period is given twice, the first value is used. One pipeline;
  // no command without values.
  base::Task<absl::Status> Save(PlanRef plan, std::string_view metric_id,
                                std::span<const UsageLimitSave> values);
  // Removes a limit if it exists. One round trip.
  base::Task<absl::Status> Delete(PlanRef plan, std::string_view metric_id, Granularity period);
  // Returns a limit, or nullopt if there is none. One round trip.
  base::Task<absl::StatusOr<std::optional<Integer>>> LoadValue(PlanRef plan,
                                                               std::string_view metric_id,
                                                               Granularity period);

  // Returns all limits of a plan: metrics in the order of the reply of Redis, and for each from
  // eternity down to minute. Reads the metrics of the service and then all values: two round trips.
  // Memoized.
  base::Task<absl::StatusOr<std::vector<UsageLimit>>> LoadAll(PlanRef plan);
  // Returns the limits of the given metrics, in their order. One round trip. Memoized; saving or
  // deleting a limit does not clear this entry.
  base::Task<absl::StatusOr<std::vector<UsageLimit>>> LoadForMetrics(
      PlanRef plan, std::vector<std::string> metric_ids);

 private:
  base::Task<absl::StatusOr<std::vector<UsageLimit>>> ReadAll(PlanRef plan);
  base::Task<absl::StatusOr<std::vector<UsageLimit>>> Read(PlanRef plan,
                                                           std::vector<std::string> metric_ids);
  void Forget(const PlanRef& plan);

  Process process_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MODEL_USAGE_LIMIT_H_
