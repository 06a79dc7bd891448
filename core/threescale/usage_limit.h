// UsageLimitStore: how much of a metric a plan allows in a period.
//
// Values are stored as they come, without a check, and read as whole numbers (integer.h): a limit
// "junk" is a limit of 0.
//
//   UsageLimitStore limits(process);
//   const UsageLimitSave save[] = {{Granularity::kDay, "10"}};
//   absl::Status saved = co_await limits.Save({"2", "44"}, "6", save);
//   absl::StatusOr<std::vector<UsageLimit>> all = co_await limits.LoadAll({"2", "44"});
//
// Thread-safety: as Store.
// Source: seed 004 Usage limits, reference/threescale.md 3.5.
#ifndef REDOUBLE_CORE_THREESCALE_USAGE_LIMIT_H_
#define REDOUBLE_CORE_THREESCALE_USAGE_LIMIT_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/threescale/integer.h"
#include "core/threescale/keys.h"
#include "core/threescale/periods.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

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

  // Sets the given periods, from eternity down whatever their order; others stay. One pipeline; no
  // command for none. Of a period that is given twice, the first counts.
  base::Task<absl::Status> Save(PlanRef plan, std::string_view metric_id,
                                std::span<const UsageLimitSave> values);
  // One round trip, whether there was a limit or not.
  base::Task<absl::Status> Delete(PlanRef plan, std::string_view metric_id, Granularity period);
  // One round trip; none when there is no limit.
  base::Task<absl::StatusOr<std::optional<Integer>>> LoadValue(PlanRef plan,
                                                               std::string_view metric_id,
                                                               Granularity period);

  // All limits of a plan: metrics in the order of Redis's reply, for each from eternity down. The
  // metrics of the service are read, then all values at once: two round trips. Memoized.
  base::Task<absl::StatusOr<std::vector<UsageLimit>>> LoadAll(PlanRef plan);
  // The limits of these metrics, in their order. One round trip. Memoized, and not forgotten when a
  // limit is saved or deleted.
  base::Task<absl::StatusOr<std::vector<UsageLimit>>> LoadForMetrics(
      PlanRef plan, std::vector<std::string> metric_ids);

 private:
  base::Task<absl::StatusOr<std::vector<UsageLimit>>> ReadAll(PlanRef plan);
  base::Task<absl::StatusOr<std::vector<UsageLimit>>> Read(PlanRef plan,
                                                           std::vector<std::string> metric_ids);
  void Forget(const PlanRef& plan);

  Process process_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_USAGE_LIMIT_H_
