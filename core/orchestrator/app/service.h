// Service: what must be done from time to time for all runs, by one process of a deployment.
//
// A round (Tick) finds the runs and, for each, finishes a cancellation that has begun, decides
// overdue approvals, pushes the signals of decisions that were not delivered, repairs a run that
// stands still (Coordinator::Sweep), and notices a run that makes no progress. It then recovers the
// signals of crashed coordinators, reclaims the tokens of crashed workers, and marks the records of
// runs that have expired.
//
//   Service service(store, clock, keys, {.coordinator = coordinator, .approvals = approvals});
//   absl::StatusOr<TickReport> report = co_await service.Tick();  // Or, until the program ends:
//   co_await service.Run();
//
// Any number of processes may run a service. The lease in Redis lets one of them act; the others do
// nothing, and one of them takes over when the lease has expired. The lease saves work and is not
// needed for correctness: every step has the same result if two services do it, or if it is
// repeated after a crash. What the service remembers between rounds (since when a run or a signal
// has not moved) is not stored: after a change of the service the waiting times begin anew.
//
// Round trips of a round: the lease 1, a SCAN of the runs, 5 for each run and 1 more with joins, a
// SCAN and 1 for each processing list.
//
// Errors: those of the store. An error that concerns the keys of one run only is reported and does
// not end the round.
//
// Thread-safety: as Store; one call at a time.
// Source: docs/systems/orchestrator.md 4.19.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_APP_SERVICE_H_
#define REDOUBLE_CORE_ORCHESTRATOR_APP_SERVICE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/orchestrator/approvals/approvals.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/results/run_store.h"
#include "redouble/core/orchestrator/run/coordinator.h"
#include "redouble/core/orchestrator/run/worker.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::orchestrator {

struct ServiceOptions {
  std::string holder = "service-1";  // Must be unique for each process.
  // The pause between two rounds of Run.
  absl::Duration interval = absl::Seconds(30);
  // How long the lease lives after its last renewal; longer than the interval.
  absl::Duration lease = ServiceLeaseTtl();
  // A signal that a coordinator has held for so long is returned to the queue, and a decision that
  // has had no effect for so long is delivered again.
  absl::Duration recover_after = absl::Seconds(60);
  // A run without a change of its counter, its operations, its context and its approvals for so
  // long is stuck, unless it waits for an approval or a worker holds one of its tokens. Nullopt: no
  // run is.
  std::optional<absl::Duration> stuck_after = absl::Minutes(5);
  // Ends stuck runs as failed, with the error type "stuck"; by default they are only reported.
  bool fail_stuck_runs = false;
  // The group and the reclaim time of the workers, to see whether one of them holds a token.
  std::string worker_group = "workers";
  absl::Duration worker_min_idle = absl::Seconds(60);
};

// What a service works on. Everything must outlive it.
struct ServiceParts {
  Coordinator& coordinator;
  Approvals& approvals;
  // Workers of this process whose Reclaim is called; null: none. May grow between rounds.
  const std::vector<std::unique_ptr<Worker>>* workers = nullptr;
  // The records of the runs; null: none.
  RunStore* runs = nullptr;
};

// A run that makes no progress.
struct StuckRun {
  std::string run_id;
  absl::Time since;  // When the service saw its last change.
};

struct TickReport {
  bool leading = false;   // Whether this service has the lease. If not, nothing else was done.
  int64_t runs = 0;       // The runs that were looked at.
  int64_t cancelled = 0;  // Cancellations that were finished.
  int64_t decided = 0;    // Approvals that timed out.
  int64_t pushed = 0;     // Signals of decisions that were pushed again.
  int64_t completed = 0;  // Runs that a sweep has completed.
  int64_t recovered = 0;  // Signals that were returned to the queue.
  int64_t expired = 0;    // Records that were marked as expired.
  int64_t failed = 0;     // Stuck runs that were ended.
  std::vector<StuckRun> stuck;
  WorkReport reclaimed;                       // The sum over the workers.
  std::vector<SweepReport::Skipped> skipped;  // Runs whose keys cannot be read.
};

class Service {
 public:
  // Store, clock and parts must outlive the service.
  Service(store::Store& store, base::Clock& clock, Keys keys, ServiceParts parts,
          ServiceOptions options = {});

  // Makes one round. After an error the next round begins anew.
  base::Task<absl::StatusOr<TickReport>> Tick();

  // Makes rounds until it is destroyed, with a pause of `interval` after each. Goes on after errors
  // and counts them. Destroying the task stops it at once, possibly between two commands.
  base::Task<void> Run();
  int64_t failed_ticks() const { return failed_ticks_; }
  const absl::Status& last_error() const { return last_error_; }

  // Gives the lease back, so that another service need not wait until it expires. False if this
  // service does not have it. One round trip.
  base::Task<absl::StatusOr<bool>> Resign();

 private:
  // What was seen of a run or a processing list, and since when.
  struct Watch {
    std::string state;
    absl::Time since;
    absl::Time pushed_at = absl::InfinitePast();
  };
  using Watches = std::map<std::string, Watch, std::less<>>;

  base::Task<absl::StatusOr<bool>> HoldLease();
  base::Task<absl::Status> TendRun(const std::string& run_id, TickReport& report);
  base::Task<absl::StatusOr<bool>> FinishCancellation(const std::string& run_id,
                                                      TickReport& report);
  base::Task<absl::Status> Deliver(const std::string& run_id, TickReport& report);
  base::Task<absl::Status> NoticeStuck(const std::string& run_id, TickReport& report);
  base::Task<absl::StatusOr<std::optional<std::string>>> StateOf(std::string_view run_id);
  base::Task<absl::StatusOr<bool>> IsInExecution(std::string_view run_id);
  base::Task<absl::StatusOr<bool>> HasClaimedToken(std::string_view run_id,
                                                   const std::string& stream);
  base::Task<absl::Status> RecoverSignals(TickReport& report);
  base::Task<absl::Status> ReclaimTokens(TickReport& report);
  base::Task<absl::Status> MarkExpired(const std::vector<std::string>& run_ids, TickReport& report);
  base::Task<absl::Status> MarkIfGone(const RunRecord& record, TickReport& report);
  Watch& Observe(Watches& watches, std::string_view name, std::string state);

  store::Store& store_;
  base::Clock& clock_;
  const Keys keys_;
  const ServiceParts parts_;
  const ServiceOptions options_;
  absl::Time renewed_at_ = absl::InfinitePast();
  Watches runs_;
  Watches lists_;
  int64_t failed_ticks_ = 0;
  absl::Status last_error_;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_APP_SERVICE_H_
