// Coordinator: starts runs and advances them. For each completion signal it counts the successors,
// publishes their tokens to the workers and consumes the token that was executed.
//
//   Coordinator coordinator(store, clock, keys,
//                           {.queue = {.consumer = "c1", .block = absl::Seconds(5)}});
//   absl::StatusOr<Started> started = co_await coordinator.Start("run_123", ir_text);
//   while (running) {
//     absl::StatusOr<std::optional<SignalOutcome>> outcome = co_await coordinator.Poll();
//   }
//
// Any number of coordinators can serve one queue. The order is emit, publish, consume, and
// consumption is the commit. Each counter change is applied once, however often a signal arrives.
// After a crash between two steps the signal is processed again (SignalQueue::Recover). Execution
// and publication happen at least once, with equal token ids; counters, joins, loops and the end of
// a run count once. Events are hints: a crash can lose them.
//
// A run ends when its counter is 0 and no approval is pending; the caller that deletes its keys
// publishes the end and has the context in SignalOutcome::context. CoordinatorOptions::on_finish
// receives the context before the keys are deleted, so that a crash loses no result. A run that
// stands still without a failure continues with the next Sweep.
//
// Round trips of one signal: take, read the run, store and emit, publish (one pipeline for all
// tokens; one script for each arrival at a join), consume, publish the events and remove the
// signal: six, or five for a node without successors. Successors whose configuration has references
// to outputs (graph/templates.h) cost one more. With Hardening::atomic_hops and without a join:
// four, because emission, publication and consumption are one script.
//
// Errors: after an error of the connection, or of a server that is unavailable for the moment, the
// next Poll processes the same signal again. After any other error the signal stays in the
// processing list (SignalQueue::Recover), and the next Poll takes another signal. DataLoss: the
// recorded route of a run cannot be parsed. InvalidArgument: an invalid run id, or a stored graph
// that cannot be parsed. A signal that cannot be parsed is dropped and reported, and is no error.
//
// Thread-safety: as Store; one signal at a time for each Coordinator.
// Source: docs/systems/orchestrator.md 3.1, 3.2, 4.2 to 4.6, 4.13 and 4.14.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_COORDINATOR_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_COORDINATOR_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/orchestrator/graph/ir.h"
#include "redouble/core/orchestrator/graph/routing.h"
#include "redouble/core/orchestrator/hardening.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/orchestrator/run/artifacts.h"
#include "redouble/core/orchestrator/run/config_templates.h"
#include "redouble/core/orchestrator/run/signal_queue.h"
#include "redouble/core/orchestrator/run/token_commands.h"
#include "redouble/core/orchestrator/scripts/run_scripts.h"
#include "redouble/core/orchestrator/token_ids.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/pubsub/channel.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::orchestrator {

// The end of a run, for a store that keeps results.
struct RunResult {
  enum class Status { kCompleted, kFailed, kCancelled };

  std::string run_id;
  Status status = Status::kCompleted;
  // The context of the run, sorted by field: references to the outputs of its nodes.
  HashFields context;
  // The failed node and the reason; empty for a completed run. The node is empty if the run was
  // ended by Abort.
  std::string node_id;
  std::optional<NodeFailure> failure;
};

// Stores the result of a run. An error leaves the run and the signal as they are; the retry calls
// the function again. It is called at least once for each run that ends, before the keys are
// deleted, and later calls for the same run are correct.
using OnFinish = std::function<base::Task<absl::Status>(const RunResult& result)>;

struct CoordinatorOptions {
  SignalQueueOptions queue = {};
  TokenIdForm token_ids = TokenIdForm::kHashed;
  // A run expires so long after its start, or later if the timeout of an approval requires it.
  absl::Duration run_ttl = RunTtl();
  // Options that remove hazards.
  Hardening hardening = {};
  // Called before the keys of a run are deleted, with one more round trip; null: not called.
  OnFinish on_finish = nullptr;
  // Trims task streams to about this many entries (MAXLEN ~); nullopt: no trimming. It must be
  // larger than the largest backlog, because trimmed tokens are lost.
  std::optional<int64_t> stream_max_length = std::nullopt;
  // Must outlive the coordinator. Null: outputs are known only from the signal that carries them,
  // and their references are those of ContentRef.
  Artifacts* artifacts = nullptr;
  // The channels on which events are published.
  store::ChannelKind channels = store::ChannelKind::kDocumented;
};

struct Started {
  bool created = false;    // False: the run existed, from an earlier attempt or another caller.
  int64_t tokens = 0;      // The number of tokens that this call published.
  bool completed = false;  // The graph has only absorbers, and this call completed the run.
};

// The result of processing one signal.
struct SignalOutcome {
  enum class Kind {
    kCommitted,  // Its token was consumed by this call.
    kDuplicate,  // Its token was consumed before.
    kRunGone,    // The run is finished, failed, expired or unknown; nothing changed.
    kMalformed,  // The text is not a signal; `error` has the reason.
    kRefused,    // The counter would become negative, so the run has no such token.
    kRunFailed,  // The signal reported a failure and ended the run.
  };
  Kind kind = Kind::kRunGone;
  std::string run_id;
  std::string node_id;
  int64_t counter = 0;              // The counter of the run after the commit.
  std::vector<std::string> tokens;  // The ids of the published tokens.
  bool completed = false;           // This call completed the run and published the event.
  // Of a run that this call completed: its context, sorted by field. It no longer exists in Redis.
  HashFields context;
  bool unknown_node = false;  // A patch removed the node; it has no successors.
  absl::Status error;
};

// The result of SweepAll.
struct SweepReport {
  // A run that could not be swept.
  struct Skipped {
    std::string run_id;
    absl::Status error;
  };

  int64_t swept = 0;
  int64_t completed = 0;         // Of the swept runs: those that this call completed.
  std::vector<Skipped> skipped;  // By run id.
};

class Coordinator {
 public:
  // Store and clock must outlive the coordinator.
  Coordinator(store::Store& store, base::Clock& clock, Keys keys, CoordinatorOptions options = {});

  SignalQueue& queue() { return queue_; }

  // Starts a run: creates graph and counter in one step with `run_ttl`, then publishes one token
  // for each entry node. If the run exists, `created` is false, and the entry tokens that are not
  // consumed are published again with the same ids, so an interrupted start can be repeated. Run
  // ids must be unique for all time, because Redis does not remember a run that has ended.
  //
  // Round trips: 3. Errors also: InvalidArgument if the text is not a valid graph (ParseIr).
  // Source: docs/systems/orchestrator.md 4.2.
  base::Task<absl::StatusOr<Started>> Start(std::string_view run_id, std::string_view ir);

  // Takes a signal, processes it and removes it from the processing list. Nullopt if no signal came
  // within SignalQueueOptions::block. After a temporary error, continues with the signal in hand;
  // if it is unknown whether a signal was taken, recovers the own processing list first. Source:
  // docs/systems/orchestrator.md 4.3.
  base::Task<absl::StatusOr<std::optional<SignalOutcome>>> Poll();

  // Processes one signal, given as its text, and publishes its events. The signal stays in the
  // processing list; the caller removes it with SignalQueue::Done.
  base::Task<absl::StatusOr<SignalOutcome>> ProcessSignal(std::string_view text);

  // Repairs a run that may stand still: republishes fired joins, fires a starved join, and
  // completes a run that is complete. Has no effect on a healthy run. Returns whether this call
  // completed the run. See also Approvals::PushUndelivered. Source:
  // docs/systems/orchestrator.md 4.13.
  base::Task<absl::StatusOr<bool>> Sweep(std::string_view run_id);
  // Ends a run that exists: reports it to on_finish as failed or cancelled, deletes its keys,
  // cancels its pending approvals and publishes workflow_failed. Returns whether this call ended
  // the run. After a crash between the report and the deletion the run continues; a repeated call
  // ends it. Tokens in execution are not stopped; their signals find no run.
  //
  // Round trips: 5, one more with on_finish. Source: docs/systems/orchestrator.md 4.14.
  base::Task<absl::StatusOr<bool>> Abort(std::string_view run_id, RunResult::Status status,
                                         NodeFailure reason);

  // Sweeps all runs, which it finds with SCAN, in the order of their ids. Skips and reports a run
  // whose keys cannot be read. Stops at an error of the connection.
  base::Task<absl::StatusOr<SweepReport>> SweepAll();

 private:
  struct Run;
  struct Step;
  struct Publication;

  base::Task<absl::StatusOr<bool>> Create(const Run& run, std::string_view ir_text,
                                          const Routing& entry);
  base::Task<absl::StatusOr<std::vector<Hop>>> ReadUnconsumedEntries(CompletionSignal& signal,
                                                                     Run& run);
  base::Task<absl::StatusOr<SignalOutcome>> Process(std::string_view text);
  base::Task<absl::StatusOr<SignalOutcome>> Advance(CompletionSignal signal);
  base::Task<absl::Status> ReadRun(CompletionSignal& signal, Run& run);
  base::Task<absl::StatusOr<Routing>> Decide(const Run& run, CompletionSignal& signal);
  base::Task<absl::StatusOr<Step>> Plan(const Run& run, CompletionSignal& signal);
  base::Task<absl::StatusOr<bool>> EmitAndPublish(const Run& run, const CompletionSignal& signal,
                                                  const Step& step, SignalOutcome& outcome);
  base::Task<absl::StatusOr<Emission>> Emit(const Run& run, const CompletionSignal& signal,
                                            const Step& step, const store::Batch& publications);
  base::Task<absl::StatusOr<bool>> Publish(const Run& run, const CompletionSignal& signal,
                                           std::span<const Hop> hops, SignalOutcome& outcome);
  base::Task<absl::Status> Prepare(std::span<const Hop> hops,
                                   std::span<const std::pair<std::string, std::string>> context,
                                   Publication& publication);
  base::Task<absl::Status> Arrive(const Run& run, const Hop& hop, std::string_view child_id,
                                  Publication& publication);
  base::Task<absl::Status> Commit(const Run& run, const CompletionSignal& signal,
                                  SignalOutcome& outcome);
  base::Task<absl::Status> Committed(const Run& run, const CompletionSignal& signal,
                                     int64_t counter, SignalOutcome& outcome);
  base::Task<absl::Status> Settle(const Run& run, const CompletionSignal& signal,
                                  SignalOutcome& outcome);
  base::Task<absl::Status> SettleRetry(const Run& run, const CompletionSignal& signal,
                                       SignalOutcome& outcome);
  base::Task<absl::Status> Extend(const Run& run);
  base::Task<absl::Status> FireStarvedJoin(const Run& run, const CompletionSignal& signal,
                                           SignalOutcome& outcome);
  base::Task<absl::Status> AdvanceLoops(const Run& run, TokenMark& mark);
  base::Task<absl::Status> RepublishFirings(const Run& run, const CompletionSignal& signal,
                                            SignalOutcome& outcome);
  base::Task<absl::Status> Complete(const Run& run, SignalOutcome& outcome);
  base::Task<absl::Status> ReportFailure(const Run& run, const CompletionSignal& signal,
                                         RunResult::Status status);
  base::Task<absl::StatusOr<HashFields>> ContextOf(const Run& run);
  base::Task<absl::Status> Fail(const Run& run, const CompletionSignal& signal,
                                RunResult::Status status, SignalOutcome& outcome);
  base::Task<absl::StatusOr<std::vector<std::string>>> AppliedOf(
      std::string_view run_id, std::vector<std::string_view> prefixes);
  base::Task<absl::StatusOr<ResolvedConfigs>> ConfigsOf(ConfigRequest request);
  TokenWriter Writer() const;
  base::Task<absl::Status> Send(const store::Batch& batch);
  void Note(EventType type, const SignalOutcome& outcome, std::string_view result_ref = {});
  absl::Status AddEvents(store::Batch& batch) const;
  base::Task<absl::Status> PublishEvents();
  base::Task<absl::Status> PublishEventsAndRemove(std::string_view text);

  store::Store& store_;
  base::Clock& clock_;
  const Keys keys_;
  const CoordinatorOptions options_;
  SignalQueue queue_;
  std::vector<Event> events_;             // Of the current signal; published with its removal.
  std::optional<std::string> in_hand_;    // A signal that is processed, or failed for the moment.
  std::optional<SignalOutcome> outcome_;  // Of the signal in hand, which is still to be removed.
  bool recover_ = false;  // A Take without a reply may have moved a signal to the processing list.
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_COORDINATOR_H_
