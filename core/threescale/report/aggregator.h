// Aggregator: counts transactions, and publishes the events and alerts that follow.
//
// The steps are: the counters, in slices of 400 transactions; for each application, in the order of
// first appearance, the events of its first traffic ever and of its first traffic of the day; for
// each application its alerts; and the ping, if a hook is set.
//
//   Aggregator aggregator(process);
//   absl::Status counted = co_await aggregator.Aggregate(
//       {{"2", "37ba04ec", now, {{"6", "1"}}, "200"}});
//
// Applications are identified by their id alone: if one call contains two services with the same
// application id, only the last service gets events and alerts.
//
// A worker can crash after any round trip. What it counted stays counted, and the following steps
// are missing (H5, H6, H9). hardening.h lists the options against some of these hazards.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 4.19 to 4.21, 4.8, 4.9.
#ifndef REDOUBLE_CORE_THREESCALE_REPORT_AGGREGATOR_H_
#define REDOUBLE_CORE_THREESCALE_REPORT_AGGREGATOR_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/authorize/counters.h"
#include "redouble/core/threescale/hardening.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/notify/events.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

struct AggregatorOptions {
  Hardening hardening = {};
  // The hook that notifies system of events. Empty: no ping, and the ping key is not written.
  EventQueue::Hook events_hook = {};
};

class Aggregator {
 public:
  // The number of transactions per pipeline.
  static constexpr size_t kSlice = 400;

  explicit Aggregator(const Process& process, AggregatorOptions options = AggregatorOptions())
      : process_(process), options_(std::move(options)) {}

  // Counts the transactions and publishes events and alerts. Errors: those of Redis. The first
  // error in a slice ends the operation, after the other commands of that slice were executed. A
  // memoizer remembers the traffic of a day only after all its commands succeeded. An error of the
  // hook is ignored.
  // With count_jobs_once, `job_id` says which job the transactions are; empty: none.
  // With check_applications_atomically, ApplicationNotFound for an application that does not exist:
  // its slice and what follows was not counted.
  base::Task<absl::Status> Aggregate(std::vector<CountedTransaction> transactions,
                                     std::string job_id = {});

 private:
  base::Task<absl::Status> Count(const std::vector<CountedTransaction>& transactions,
                                 std::string_view job_id);
  // Whether traffic and its event are noted by a script.
  bool notes_atomically() const;
  base::Task<absl::Status> NoteTraffic(ApplicationRef application);
  base::Task<absl::Status> NoteTrafficOfDay(ApplicationRef application);
  base::Task<absl::Status> NoteUnknownTrafficOfDay(ApplicationRef application, absl::Time now);
  // Returns whether this traffic is the first of the day of `key`.
  base::Task<absl::StatusOr<bool>> CountTrafficOfDay(std::string_view key);
  base::Task<absl::Status> PublishTraffic(EventType type, ApplicationRef application,
                                          absl::Time time);
  base::Task<absl::Status> Ping();

  Process process_;
  AggregatorOptions options_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REPORT_AGGREGATOR_H_
