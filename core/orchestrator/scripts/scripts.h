// The atomic steps of a run: Lua scripts that run inside the server, as typed operations.
//
// The counter of a run is the number of tokens in flight. Signals, approvals and stream entries can
// arrive twice, and coordinators can crash between two commands. Each change of the counter
// therefore names an operation (ConsumeOp, EmitOp and ResumeOp in keys.h), which the applied set of
// the run remembers.
//
//   const DeltaRequest emit = {.run_id = "run_123", .op = EmitOp("token_001"), .delta = 1};
//   absl::StatusOr<CounterChange> change = co_await ApplyDeltaGuarded(store, keys, emit);
//   if (change.ok() && change->outcome == CounterChange::Outcome::kRunGone) ...  // A late signal.
//
// All scripts but ApplyDelta check before their first write, so an error leaves no effect. They
// create no key of a run that is gone, and give new keys the TTL of the run. A missing counter
// means that the run is gone.
//
// Each operation is one script: one round trip (EVALSHA), or two if the server does not know the
// script. In a cluster use the keys of store::KeyLayout::kCluster; with documented keys the server
// replies CROSSSLOT. Views in requests must live until the task has finished.
//
// Errors of every operation: InvalidArgument for an id that keys.h refuses, before a command is
// sent; FailedPrecondition (WRONGTYPE) if a key has another type; InvalidArgument ("ERR value is
// not an integer or out of range") if the counter is not an integer or would overflow; those of the
// store.
//
// Thread-safety: as Store.
// Source: docs/systems/orchestrator.md 4.1. The texts are the Lua files in this folder.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_SCRIPTS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_SCRIPTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::orchestrator {

struct DeltaRequest {
  std::string_view run_id;
  std::string_view op;  // Must not be used for another delta.
  int64_t delta = 0;
};

// The script of the original documents, byte for byte, for systems that share a Redis with its
// users. Returns the new value of the counter, or 0 if the operation was applied before. The caller
// cannot distinguish the two meanings of 0 and must not treat it as completion. Documented hazards:
// the script creates the counter of a run that is gone, without a TTL and possibly negative, and it
// marks the operation as applied even if the counter then cannot be changed. Source:
// docs/systems/orchestrator.md D5, hazards H1, H18 and H23.
base::Task<absl::StatusOr<int64_t>> ApplyDelta(store::Store& store, Keys keys,
                                               DeltaRequest request);

// The result of a change of the counter.
struct CounterChange {
  enum class Outcome {
    kApplied,    // `counter` is the new value.
    kDuplicate,  // Applied before; `counter` is the current value.
    kRunGone,    // The counter is missing.
    kRefused,    // Not permitted, see the operation; `counter` is the current value.
  };
  Outcome outcome = Outcome::kRunGone;
  int64_t counter = 0;

  friend bool operator==(const CounterChange&, const CounterChange&) = default;
};

// Changes the counter by `delta`, once for each operation. Refused if the counter would become
// negative.
base::Task<absl::StatusOr<CounterChange>> ApplyDeltaGuarded(store::Store& store, Keys keys,
                                                            DeltaRequest request);

struct PauseRequest {
  std::string_view token_id;     // The token at the approval node; it is consumed.
  std::string_view approval_id;  // A pure function of the token id, so that a retry repeats it.
  // Written verbatim; its run id is that of the run to pause.
  Approval approval;
};
// Consumes a token and adds a pending approval in one step. Refused if the counter is below 1.
// Source: docs/systems/orchestrator.md 4.9.
base::Task<absl::StatusOr<CounterChange>> PauseForApproval(store::Store& store, Keys keys,
                                                           PauseRequest request);

struct DecisionRequest {
  std::string_view run_id;
  std::string_view approval_id;
  ApprovalStatus status = ApprovalStatus::kApproved;  // Must not be kPending.
  absl::Time decided_at;
  // Further fields of the approval's hash. Source: docs/systems/orchestrator.md 2.5.
  std::span<const std::pair<std::string, std::string>> fields = {};
};
struct Decision {
  enum class Outcome {
    kDecided,     // `counter` is the new value; the run has its token again.
    kNotPending,  // Decided before, or unknown; nothing changed.
    kRunGone,     // The approval outlived its run; nothing changed.
  };
  Outcome outcome = Outcome::kNotPending;
  int64_t counter = 0;

  friend bool operator==(const Decision&, const Decision&) = default;
};
// Decides a pending approval; the first decision wins. Status, counter and pending set change in
// one step, so the run never appears complete in between. Errors also: InvalidArgument for the
// status kPending. Source: docs/systems/orchestrator.md 4.10.
base::Task<absl::StatusOr<Decision>> DecideApproval(store::Store& store, Keys keys,
                                                    DecisionRequest request);

struct ArrivalRequest {
  std::string_view run_id;
  std::string_view join;         // The join's node id.
  std::string_view predecessor;  // The node id that the token comes from.
  std::string_view token_id;
  int64_t needed = 0;  // The number of predecessors that complete the join; at least 1.
};
struct Arrival {
  enum class Outcome {
    kParked,            // A new arrival.
    kDuplicate,         // This token arrived before.
    kPredecessorTwice,  // Another token of the same predecessor is parked; this one was dropped.
    kRunGone,           // The run has no applied set.
  };
  Outcome outcome = Outcome::kRunGone;
  int64_t count = 0;  // The number of parked tokens, or of the tokens with which the join fired.
  // The arrival completes the join: publish the join's token, which represents `count` tokens. Only
  // a retry of the same arrival fires again, with the same count.
  bool fire = false;

  friend bool operator==(const Arrival&, const Arrival&) = default;
};
// Parks a token at a join. Call it after the `emit:` operation of the token was applied. Errors
// also: InvalidArgument if `needed` is below 1. Source: docs/systems/orchestrator.md 4.6.
base::Task<absl::StatusOr<Arrival>> ArriveAtJoin(store::Store& store, Keys keys,
                                                 ArrivalRequest request);

struct QuiesceRequest {
  std::string_view run_id;
  std::span<const std::string_view> joins;  // All joins of the run, in the order of the IR.
  // The loops that the run is in, as FormatTokenMark writes them; part of the token id.
  std::string_view loops = {};
};
struct FiredJoin {
  size_t index = 0;        // The index in `joins`.
  int64_t join_count = 0;  // The number of tokens that were parked.
  // The id of the token to publish: "join:D:quiesce" with its mark (token_ids.h). ":2", ":3" and so
  // on follow "quiesce" if the join fires again. FindUnpublished (routing.h) finds it after a
  // crash.
  std::string token_id = {};

  friend bool operator==(const FiredJoin&, const FiredJoin&) = default;
};
// Fires the first join with parked tokens if all tokens of the run are parked and no approval is
// pending: after an exclusive branch the other side never arrives. Nullopt if no join fires. Linear
// in the number of joins. Source: docs/systems/orchestrator.md 4.6, D1.
base::Task<absl::StatusOr<std::optional<FiredJoin>>> QuiesceJoins(store::Store& store, Keys keys,
                                                                  QuiesceRequest request);

struct FinishRequest {
  std::string_view run_id;
  // All nodes of the run; their loop and join keys are deleted.
  std::span<const std::string_view> nodes;
  // All approvals that the run has had.
  std::span<const std::string_view> approvals;
};
enum class FinishOutcome {
  kFinished,     // This call deleted the run; its caller publishes the end.
  kNotFinished,  // A token is in flight, or an approval is pending.
  kRunGone,      // Another caller finished the run, or it expired.
};
struct Finish {
  FinishOutcome outcome = FinishOutcome::kRunGone;
  // The context of the run that this call deleted, sorted by field; it no longer exists in Redis.
  HashFields context = {};

  friend bool operator==(const Finish&, const Finish&) = default;
};
// Deletes all keys of a run if it is complete. Linear in the number of nodes and approvals.
// Source: docs/systems/orchestrator.md 4.13.
base::Task<absl::StatusOr<Finish>> FinishRun(store::Store& store, Keys keys, FinishRequest request);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_SCRIPTS_H_
