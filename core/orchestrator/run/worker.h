// Worker: reads tokens of one type from their stream, executes them, and signals the coordinators.
//
//   Worker worker(store, clock, keys,
//                 {.type = "http", .consumer = "http-1", .block = absl::Seconds(5)},
//                 [](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> { ... });
//   const absl::Status created = co_await worker.EnsureGroup();
//   while (running) {
//     absl::StatusOr<WorkReport> report = co_await worker.Poll();
//     ...
//     report = co_await worker.Reclaim();   // From time to time.
//   }
//
// A token is executed at least once. The worker pushes the signal before it acknowledges the entry,
// so a crash between the two repeats the execution. Reclaim takes over the entries of crashed
// workers, each immediately before its execution. A token that was delivered too often without an
// acknowledgement fails its run. Tokens of a run that has ended are not executed.
//
// While a function waits, the worker renews its claim of the entry each third of `min_idle`, so
// that executions may be longer than that. A worker that has lost its claim, because it could not
// reach the server for `min_idle`, cancels the function at its await: another worker has begun. A
// function that blocks its thread for longer than `min_idle` must call KeepClaim itself.
//
// After a crash the entry depends on the last step that was done:
//
//   read or claimed     pending; Reclaim executes it again
//   signal pushed       pending; executed again unless the coordinator has consumed the token by
//                       then; the second signal changes nothing
//   acknowledged        done
//
// With Hardening::atomic_hops there is no state between the signal and the acknowledgement, and a
// worker that has lost its claim pushes no signal.
//
// A node may have a timeout and a number of attempts (execution_policy.h). A function that is still
// waiting at its timeout is cancelled at its await, and the attempt fails with DEADLINE_EXCEEDED.
// An attempt that fails with a retryable error is repeated after a pause, by the same worker.
//
// A result that cannot be written as a signal, because its data is not a JSON object, fails the
// node: no entry is acknowledged without a signal that the coordinators can read.
//
// With several shards of the task streams (keys.h) a worker reads all of them in turn, each with a
// command of its own, and no shard waits for another that is busier.
//
// The group reads its stream from the beginning. A group that starts at `$` never receives the
// entries that were added before it (docs/systems/orchestrator.md D11).
//
// Errors: those of the store; the entry then stays pending and is delivered again. InvalidArgument:
// the task type is empty.
//
// Thread-safety: as Store; one call at a time.
// Source: docs/systems/orchestrator.md 3.3, 4.7, 4.8; hazards H6, H8, H9; D8.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_WORKER_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/orchestrator/execution_policy.h"
#include "redouble/core/orchestrator/hardening.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/orchestrator/scripts/run_scripts.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/stream_id.h"
#include "redouble/core/store/typed/stream_types.h"

namespace redouble::inline v0_1::orchestrator {

// The result of executing a node.
struct NodeResult {
  std::string data_json = {};  // A JSON object; empty if there is only a reference.
  std::string ref = {};  // Reference to the output; empty: the coordinator stores `data_json`.
  // The worker sends no signal, because another component will, for example after an approval.
  bool deferred = false;
};

// Executes a token. An error fails the node and the run, except an error of the store, which leaves
// the entry pending. The token outlives the task.
using NodeFunction = std::function<base::Task<absl::StatusOr<NodeResult>>(const Token& token)>;

struct WorkerOptions {
  std::string type = "function";  // The task type, which selects the stream.
  std::string group = "workers";
  std::string consumer = "worker-1";  // Must be unique for each worker.
  // How long Poll blocks. Nullopt, zero and negative durations: not at all. InfiniteDuration():
  // without limit. A loop of Poll on a server should block, for example for 5 seconds. With several
  // shards a call blocks on one of them, for at most kShardWait (signal_queue.h); the next call, on
  // the next one.
  std::optional<absl::Duration> block = std::nullopt;
  // How long an entry must be pending before Reclaim takes it over.
  absl::Duration min_idle = absl::Seconds(60);
  // Renews the claim of an entry while its function waits, with one script each third of
  // `min_idle`. Needs a clock whose sleep does not block the thread of an event loop, such as that
  // of backends/redis/net. Off: `min_idle` must be longer than the longest execution, otherwise two
  // workers execute one token.
  bool keep_claims = true;
  int64_t max_deliveries = 5;
  int64_t reclaim_count = 10;  // The maximum number of XAUTOCLAIM commands of one Reclaim.
  // Deletes acknowledged entries from the stream; by default they stay.
  bool delete_acknowledged = false;
  // Of these, Hardening::atomic_hops concerns workers.
  Hardening hardening = {};
  // Of tokens whose node has none. Timeouts and pauses need the clock that `keep_claims` needs.
  ExecutionPolicy policy = {};
};

// The counts of one call, by result of the entries.
struct WorkReport {
  int64_t executed = 0;
  int64_t failed = 0;  // Executions that returned an error; each fails its run.
  // Consumed before, or the run has ended; acknowledged without execution.
  int64_t skipped = 0;
  int64_t dead_lettered = 0;  // Delivered too often; failed without execution.
  int64_t unreadable = 0;     // Entries without a valid token; acknowledged.
  // Executions that were cancelled because another worker has claimed the entry meanwhile.
  int64_t lost = 0;

  int64_t total() const { return executed + failed + skipped + dead_lettered + unreadable + lost; }
};

class Worker {
 public:
  // Store and clock must outlive the worker.
  Worker(store::Store& store, base::Clock& clock, Keys keys, WorkerOptions options,
         NodeFunction execute);

  // Creates the consumer group, and the stream if it is missing. OK if the group exists. One round
  // trip for each shard.
  base::Task<absl::Status> EnsureGroup();

  // Reads and executes one token. Returns an empty report if no token came within `block`. Creates
  // a missing group. Round trips: 4 (read, check for consumption and for the end of the run,
  // signal, acknowledge), 5 with `delete_acknowledged`; always 3 with Hardening::atomic_hops.
  // One more for each shard that was found empty.
  // Source: docs/systems/orchestrator.md 4.7.
  base::Task<absl::StatusOr<WorkReport>> Poll();

  // Takes over entries of any consumer that were pending for `min_idle`, and executes them. Each
  // XAUTOCLAIM claims one entry, scans up to ten, and continues where the last one ended, also from
  // call to call, in all shards in turn. Returns at the end of the pending entries, or after
  // `reclaim_count` claims. Round
  // trips: 1 for each claim, and 4 for each entry. Source: docs/systems/orchestrator.md 4.8.
  base::Task<absl::StatusOr<WorkReport>> Reclaim();

  // Renews the claim of the entry that is being executed. Returns false if none is, or if another
  // worker has claimed it. For functions that block their thread, which call it more often than
  // each `min_idle`. One round trip. Source: docs/systems/orchestrator.md 4.7.
  base::Task<absl::StatusOr<bool>> KeepClaim();

 private:
  // A stream of the worker's type.
  struct Shard {
    std::string stream;
    store::StreamId claim_from = store::StreamId::Min();  // The cursor of Reclaim.
  };
  using NextEntry = absl::StatusOr<std::optional<store::StreamEntry>>;

  Shard& Current() { return shards_[current_]; }
  void Advance() { current_ = (current_ + 1) % shards_.size(); }
  base::Task<absl::Status> CreateGroup(std::string_view stream);
  base::Task<NextEntry> Read();
  base::Task<NextEntry> ReadCurrent(std::optional<absl::Duration> block);
  base::Task<NextEntry> ClaimNext();
  base::Task<absl::StatusOr<std::optional<int64_t>>> OwnDeliveries(store::StreamId id);
  Claim ClaimOf(std::string_view entry_id) const;
  base::Task<absl::StatusOr<bool>> IsNeeded(const Token& token);
  base::Task<absl::Status> Handle(const store::StreamEntry& entry, int64_t deliveries,
                                  WorkReport& report);
  base::Task<absl::StatusOr<std::optional<NodeResult>>> RunFunction(const Token& token);
  base::Task<absl::StatusOr<NodeResult>> Call(const Token& token,
                                              std::optional<absl::Duration> timeout);
  base::Task<absl::StatusOr<std::optional<NodeResult>>> CallUntilDone(const Token& token);
  base::Task<absl::StatusOr<std::optional<NodeResult>>> KeepClaimUntilLost();
  struct Execution;

  base::Task<absl::StatusOr<Execution>> Execute(const Token& token);
  base::Task<absl::StatusOr<bool>> PushAndAcknowledge(const store::StreamEntry& entry,
                                                      const Token& token, std::string signal);
  base::Task<absl::Status> Acknowledge(const store::StreamEntry& entry);

  store::Store& store_;
  base::Clock& clock_;
  const Keys keys_;
  const WorkerOptions options_;
  absl::Status valid_type_;
  std::vector<Shard> shards_;  // One without an error of the type.
  size_t current_ = 0;         // The shard of the entry in hand, or the next one to read.
  const NodeFunction execute_;
  std::optional<store::StreamId> in_execution_;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_WORKER_H_
