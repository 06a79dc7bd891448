// AlertLimitStore: the levels of utilization, in percent, at which a service wants an alert.
//
//   AlertLimitStore alert_limits(process);
//   absl::StatusOr<std::optional<int>> added = co_await alert_limits.Save("2", "80");
//
// Thread-safety: as Store.
// Source: seed 004 Alerts, reference/threescale.md 3.6.
#ifndef REDOUBLE_CORE_THREESCALE_ALERT_LIMIT_H_
#define REDOUBLE_CORE_THREESCALE_ALERT_LIMIT_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

// The levels that there are, ascending: 0, 50, 80, 90, 100, 120, 150, 200, 300.
std::span<const int> AlertLevels();

// The level that `text` is, in just its own digits ("050" is none); none for anything else.
std::optional<int> ParseAlertLevel(std::string_view text);

class AlertLimitStore {
 public:
  explicit AlertLimitStore(const Process& process) : process_(process) {}

  // The level when it is new; none when the service had it already, and, without a command, when it
  // is no level. One round trip.
  base::Task<absl::StatusOr<std::optional<int>>> Save(std::string_view service_id,
                                                      std::string_view value);
  // Whether the service had the level; none, without a command, when it is no level. One round
  // trip.
  base::Task<absl::StatusOr<std::optional<bool>>> Delete(std::string_view service_id,
                                                         std::string_view value);
  // In Redis's order. One round trip.
  base::Task<absl::StatusOr<std::vector<int>>> LoadAll(std::string_view service_id);

 private:
  Process process_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_ALERT_LIMIT_H_
