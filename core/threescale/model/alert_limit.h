// AlertLimitStore: the utilization levels, in percent, at which a service allows alerts.
//
// The levels of a service are a set in Redis. Alerts (notify/alerts.h) raises an alert only at a
// level that the set contains.
//
//   AlertLimitStore alert_limits(process);
//   absl::StatusOr<std::optional<int>> added = co_await alert_limits.Save("2", "80");
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 4.7, D5.
#ifndef REDOUBLE_CORE_THREESCALE_MODEL_ALERT_LIMIT_H_
#define REDOUBLE_CORE_THREESCALE_MODEL_ALERT_LIMIT_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

// The possible levels, ascending: 0, 50, 80, 90, 100, 120, 150, 200, 300.
std::span<const int> AlertLevels();

// Returns the level with exactly the digits of `text` ("050" is not a level), or nullopt.
std::optional<int> ParseAlertLevel(std::string_view text);

class AlertLimitStore {
 public:
  explicit AlertLimitStore(const Process& process) : process_(process) {}

  // Adds a level. Returns the level if it is new. Returns nullopt if the service had it already,
  // and, without a command, if `value` is not a level. One round trip.
  base::Task<absl::StatusOr<std::optional<int>>> Save(std::string_view service_id,
                                                      std::string_view value);
  // Removes a level. Returns whether the service had it. Returns nullopt, without a command, if
  // `value` is not a level. One round trip.
  base::Task<absl::StatusOr<std::optional<bool>>> Delete(std::string_view service_id,
                                                         std::string_view value);
  // Returns the levels of a service in the order of Redis. One round trip.
  base::Task<absl::StatusOr<std::vector<int>>> LoadAll(std::string_view service_id);

 private:
  Process process_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MODEL_ALERT_LIMIT_H_
