// Aggregator: counts transactions, and does all that follows from having counted them.
//
// In this order: the counters, in slices of 400 transactions; for each application in the order of
// first appearance the events of its first traffic ever and of its first traffic today; for each
// again its alerts; and, when there is somebody to tell, the ping that there are events.
//
//   Aggregator aggregator(process);
//   absl::Status counted = co_await aggregator.Aggregate({{"2", "37ba04ec", now, {{"6", "1"}},
//   "200"}});
//
// Applications are told apart by their id alone: of two services that have one of the same id in a
// single call, only the last gets events and alerts.
//
// Each round trip may be the last one of a worker that dies: what was counted stays counted, and
// the rest does not happen. hardening.h names what can be prevented.
//
// Thread-safety: as Store.
// Source: seed 004 Stats, Daily traffic and Events; reference/threescale.md 5.2 to 5.6.
#ifndef REDOUBLE_CORE_THREESCALE_AGGREGATOR_H_
#define REDOUBLE_CORE_THREESCALE_AGGREGATOR_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/threescale/counters.h"
#include "core/threescale/events.h"
#include "core/threescale/hardening.h"
#include "core/threescale/keys.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

struct AggregatorOptions {
  Hardening hardening = {};
  // Tells the system that there are events. Empty: nobody is to be told, and no ping key is taken.
  EventQueue::Hook events_hook = {};
};

class Aggregator {
 public:
  // Transactions in one pipeline.
  static constexpr size_t kSlice = 400;

  explicit Aggregator(const Process& process, AggregatorOptions options = AggregatorOptions())
      : process_(process), options_(std::move(options)) {}

  // Counts, and publishes. Errors: those of Redis; the first error of a slice's commands, which
  // does not keep the others of that slice from running but ends the operation; what the hook
  // failed with is not an error.
  base::Task<absl::Status> Aggregate(std::vector<CountedTransaction> transactions);

 private:
  base::Task<absl::Status> Count(const std::vector<CountedTransaction>& transactions);
  base::Task<absl::Status> NoteTraffic(ApplicationRef application);
  base::Task<absl::StatusOr<bool>> IsFirstTrafficOfDay(ApplicationRef application);
  base::Task<absl::Status> PublishTraffic(EventType type, ApplicationRef application);
  base::Task<absl::Status> Ping();

  Process process_;
  AggregatorOptions options_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_AGGREGATOR_H_
