// Alerts: raises an alert when an application's usage of its limits reaches a level that the
// service allows, at most once per level and day.
//
// Only the highest level that was reached counts: usage that passes an allowed level and reaches
// one that is not allowed raises no alert. After the highest allowed level was raised, lower levels
// are not raised for a day. The current periods are compared, whatever time was reported.
//
//   Alerts alerts(process);
//   absl::Status updated = co_await alerts.Update({"2", "37ba04ec"});
//
// Two workers can both read that a level has no mark, and both raise it (H3). A crash after the
// mark loses the alert (H4). Hardening::raise_alerts_atomically removes both hazards.
// In the cluster layout, where one script cannot have both keys, it removes H3, and FinishRaised
// repairs H4.
//
// Errors of every operation: those of Redis.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 3.4, 4.21, H3, H4.
#ifndef REDOUBLE_CORE_THREESCALE_NOTIFY_ALERTS_H_
#define REDOUBLE_CORE_THREESCALE_NOTIFY_ALERTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/authorize/limit_usage.h"
#include "redouble/core/threescale/hardening.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/process.h"
#include "redouble/core/threescale/text/json_text.h"

namespace redouble::inline v0_1::threescale {

class Alerts {
 public:
  explicit Alerts(const Process& process, Hardening hardening = Hardening())
      : process_(process), hardening_(hardening) {}

  // Raises the alert for the application's usage, if any. Up to eleven round trips: application,
  // allowed levels (stops if there are none), the mark of the highest level (stops if present),
  // those of ReadLimitUsage, the mark and the permission of the level, and for an alert its id and
  // mark, and two for its event. With raise_alerts_atomically, one script replaces the last four.
  // The application, the allowed levels and the first mark are memoized. Does nothing for a missing
  // application.
  base::Task<absl::Status> Update(ApplicationRef application);

  // Publishes the alerts of an application that a process with raise_alerts_atomically marked at
  // least `age` ago in the cluster layout and did not publish, because it crashed in between.
  // Returns their number. `age` must be longer than a publication takes: an alert whose publication
  // is under way is published a second time. A repeated alert has the id of the first. Does nothing
  // in the documented layout. Round trips: one per level, and up to four per alert. May be
  // repeated. Source: docs/systems/threescale.md 1.4.
  base::Task<absl::StatusOr<int64_t>> FinishRaised(ApplicationRef application, absl::Duration age);

 private:
  std::string StateKey(const Application& application) const;
  base::Task<absl::StatusOr<bool>> CanRaiseMore(const Application& application);
  base::Task<absl::Status> Raise(const Application& application, Utilization utilization,
                                 int level);
  base::Task<absl::StatusOr<bool>> MayRaise(const Application& application, int level);
  base::Task<absl::Status> RaiseByScript(const Application& application, int level,
                                         std::string object_tail);
  base::Task<absl::Status> RaiseInSteps(const Application& application, int level,
                                        std::string object_tail);
  // Publishes the alert that a mark holds, and completes the mark.
  base::Task<absl::Status> PublishClaimed(std::string_view mark, std::string_view alert);

  Process process_;
  Hardening hardening_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_NOTIFY_ALERTS_H_
