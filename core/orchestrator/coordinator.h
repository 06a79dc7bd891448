// Coordinator: moves runs on. It starts them, and for each completion signal counts the tokens that
// follow, publishes them to the workers and consumes the token that was executed.
//
//   Coordinator coordinator(store, clock, keys, {.queue = {.consumer = "c1"}});
//   absl::StatusOr<Started> started = co_await coordinator.Start("run_123", ir_text);
//   while (running) {
//     absl::StatusOr<std::optional<SignalOutcome>> outcome = co_await coordinator.Poll();
//   }
//
// Any number of coordinators may serve the same queue. The safety argument is: emit, publish, then
// consume; consuming is the commit. Each step is done once however often a signal comes, and a
// crash between any two of them is made good by processing the signal again, which
// SignalQueue::Recover brings about. A node may be executed, and a token published, more than once,
// always with the same token id; counters, joins, loops and the end of a run count once. Events are
// hints: a crash may lose one.
//
// A run ends when its counter is 0 and no approval is pending; whoever deletes its keys announces
// the end. A run that stands still although nothing failed loses nothing but time until Sweep.
//
// Round trips of one signal: take, read the run, store and emit, publish (all tokens in one
// pipeline; a script per arrival at a join), consume, events, forget the signal: seven, six for a
// node that nothing follows.
//
// Errors: those of the store leave a signal in the processing list, to be recovered. A signal that
// is none is dropped and reported.
//
// Thread-safety: as Store; one signal at a time per Coordinator.
// Source: seed 001 "Key Lifecycle", "Cleanup Strategy"; reference/orchestrator.md sections 4 to 9.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_COORDINATOR_H_
#define REDOUBLE_CORE_ORCHESTRATOR_COORDINATOR_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/task.h"
#include "core/orchestrator/artifacts.h"
#include "core/orchestrator/ir.h"
#include "core/orchestrator/keys.h"
#include "core/orchestrator/messages.h"
#include "core/orchestrator/mutation.h"
#include "core/orchestrator/routing.h"
#include "core/orchestrator/run_scripts.h"
#include "core/orchestrator/signal_queue.h"
#include "core/orchestrator/token_ids.h"
#include "core/store/batch.h"
#include "core/store/store.h"

namespace redouble::orchestrator {

struct CoordinatorOptions {
  SignalQueueOptions queue = {};
  TokenIdForm token_ids = TokenIdForm::kHashed;
  absl::Duration run_ttl = RunTtl();
  // Every commit prolongs the whole run to `run_ttl`, by one script more, so that a run lives as
  // long as it goes on. Otherwise it lives for `run_ttl` from its start (longer when an approval's
  // time-out needs it), which is what the recorded protocol does.
  bool extend_on_commit = false;
  // Lets a task stream forget its oldest entries, roughly, beyond this many; none: never. A stream
  // must never have as many tokens that wait: they would be lost.
  std::optional<int64_t> stream_max_length = std::nullopt;
  // Must outlive the coordinator. Null: outputs are known only from the signal that brings them,
  // and their references are those of ContentRef.
  Artifacts* artifacts = nullptr;
  Mutation mutation = Mutation::kNone;  // For tests.
};

struct Started {
  bool created = false;    // False: the run was there, from an attempt before or another caller.
  int64_t tokens = 0;      // How many tokens were published, by this call.
  bool completed = false;  // Nothing but absorbers: it is over already.
};

// What became of a signal.
struct SignalOutcome {
  enum class Kind {
    kCommitted,  // Its token was consumed by this call.
    kDuplicate,  // Its token was consumed before.
    kRunGone,    // The run is finished, failed, expired or unknown; nothing changed.
    kMalformed,  // It is no signal: `error` says why.
    kRefused,    // It would make the counter negative: no token of this run is behind it.
    kRunFailed,  // It said that the node failed, and ended the run.
  };
  Kind kind = Kind::kRunGone;
  std::string run_id;
  std::string node_id;
  int64_t counter = 0;              // Of the run, after the commit.
  std::vector<std::string> tokens;  // The ids of those that were published.
  bool completed = false;           // This call completed the run, and announced it.
  bool unknown_node = false;        // A patch removed the node meanwhile; nothing follows it.
  absl::Status error;
};

class Coordinator {
 public:
  // Store and clock must outlive the coordinator.
  Coordinator(store::Store& store, base::Clock& clock, Keys keys, CoordinatorOptions options = {});

  SignalQueue& queue() { return queue_; }

  // Starts a run: graph and counter appear in one step with the failsafe TTL, then a token per
  // entry node is published. A run that is there already is not started again; those of its first
  // tokens that are not consumed are published again, with the same ids, so that a start that was
  // interrupted can simply be repeated. Run ids must be unique for ever: the name of a run that is
  // over is free again. Two round trips and one for the event.
  // Errors: InvalidArgument when the text is no graph that can run (ParseIr).
  base::Task<absl::StatusOr<Started>> Start(std::string_view run_id, std::string_view ir);

  // Takes a signal, processes it and forgets it. None when none came in time.
  base::Task<absl::StatusOr<std::optional<SignalOutcome>>> Poll();

  // Processes one signal, given by its text, wherever it comes from; events included. It stays in
  // the processing list: Poll, or the caller by SignalQueue::Done, forgets it.
  base::Task<absl::StatusOr<SignalOutcome>> ProcessSignal(std::string_view text);

  // Looks after a run that may stand still: fires a join that nothing else can reach, completes a
  // run that is complete. Harmless at any time. True when this call completed the run. See also
  // Approvals::PushUndelivered.
  base::Task<absl::StatusOr<bool>> Sweep(std::string_view run_id);
  // Sweeps every run there is, found by SCAN. How many it completed.
  base::Task<absl::StatusOr<int64_t>> SweepAll();

 private:
  struct Run;
  struct Publication;

  base::Task<absl::StatusOr<SignalOutcome>> Advance(CompletionSignal signal);
  base::Task<absl::Status> ReadRun(CompletionSignal& signal, Run& run);
  base::Task<absl::StatusOr<Routing>> Decide(const Run& run, CompletionSignal& signal);
  base::Task<absl::StatusOr<Emission>> Emit(const Run& run, const CompletionSignal& signal,
                                            const Routing& routing, std::string_view route);
  base::Task<absl::StatusOr<bool>> Publish(const Run& run, const CompletionSignal& signal,
                                           std::span<const Hop> hops, SignalOutcome& outcome);
  base::Task<absl::Status> Arrive(const Run& run, const Hop& hop, std::string_view child_id,
                                  Publication& publication);
  base::Task<absl::Status> Commit(const Run& run, const CompletionSignal& signal,
                                  SignalOutcome& outcome);
  base::Task<absl::Status> Settle(const Run& run, const CompletionSignal& signal, bool is_retry,
                                  SignalOutcome& outcome);
  base::Task<absl::Status> RepublishFirings(const Run& run, const CompletionSignal& signal,
                                            SignalOutcome& outcome);
  base::Task<absl::StatusOr<bool>> Finish(const Run& run);
  base::Task<absl::Status> Fail(const Run& run, const CompletionSignal& signal,
                                SignalOutcome& outcome);
  base::Task<absl::StatusOr<std::vector<std::string>>> AppliedOf(
      std::string_view run_id, std::vector<std::string_view> prefixes);
  base::Task<absl::StatusOr<std::vector<std::string>>> ApprovalsOf(std::string_view run_id);
  absl::Status AddToken(const Ir& ir, const Token& token, const CompletionSignal& signal,
                        store::Batch& batch);
  base::Task<absl::Status> Send(const store::Batch& batch);
  void Note(EventType type, const SignalOutcome& outcome, std::string_view result_ref = {});
  base::Task<absl::Status> PublishEvents();
  std::string ConsumedToken(const CompletionSignal& signal) const;

  store::Store& store_;
  base::Clock& clock_;
  const Keys keys_;
  const CoordinatorOptions options_;
  SignalQueue queue_;
  std::vector<Event> events_;  // Of the signal in hand, to be published behind it.
  int64_t attempts_ = 0;       // For Mutation::kFreshEmitKey.
};

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_COORDINATOR_H_
