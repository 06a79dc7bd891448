// Alerts: tells the system, once a day and level, that an application has used up its limits to a
// level that the service wants to hear of.
//
// Only the highest level that was crossed counts: usage that jumps over an allowed level to one
// that is not allowed raises nothing. Once the highest allowed level has been raised, lower ones
// are silent for a day. What is compared are the periods of now, whatever time was reported.
//
//   Alerts alerts(process);
//   absl::Status updated = co_await alerts.Update({"2", "37ba04ec"});
//
// Between the look whether a level was raised and the mark that it was, another worker can look as
// well: both raise it. Hardening::raise_alerts_atomically prevents that.
//
// Errors: those of the store. Thread-safety: as Store.
// Source: seed 004 Alerts; reference/threescale.md 5.5.
#ifndef REDOUBLE_CORE_THREESCALE_ALERTS_H_
#define REDOUBLE_CORE_THREESCALE_ALERTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/threescale/application.h"
#include "core/threescale/hardening.h"
#include "core/threescale/json_text.h"
#include "core/threescale/limit_usage.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

class Alerts {
 public:
  explicit Alerts(const Process& process, Hardening hardening = Hardening())
      : process_(process), hardening_(hardening) {}

  // Raises the alert that the application's usage calls for, if any. Up to eleven round trips:
  // application, allowed levels (none: the end), the mark of the highest (there: the end), what
  // ReadLimitUsage sends, the mark and the permission of the level, and for an alert its id and
  // mark, and the two of an event. When hardened the last four are one script. The application,
  // the allowed levels and the first mark are memoized. Nothing happens for an application that
  // does not exist.
  base::Task<absl::Status> Update(ApplicationRef application);

 private:
  base::Task<absl::StatusOr<bool>> CanRaiseMore(const Application& application);
  base::Task<absl::Status> Raise(const Application& application, Utilization utilization,
                                 int level);
  base::Task<absl::StatusOr<bool>> MayRaise(const Application& application, int level);
  base::Task<absl::Status> RaiseByScript(const Application& application, int level,
                                         std::string object_tail);

  Process process_;
  Hardening hardening_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_ALERTS_H_
