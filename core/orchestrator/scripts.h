// The atomic steps of a run: Lua scripts that run inside the server, as typed operations.
//
// A run's counter says how many tokens are in flight. Signals, approvals and stream entries can
// come twice, and coordinators can crash between two commands; so each change of the counter names
// an operation (ConsumeOp and its like, keys.h) that the run's applied set remembers.
//
//   const DeltaRequest emit = {.run_id = "run_123", .op = EmitOp("token_001"), .delta = 1};
//   absl::StatusOr<CounterChange> change = co_await ApplyDeltaGuarded(store, keys, emit);
//   if (change->outcome == CounterChange::Outcome::kRunGone) ...   // a late signal: drop it
//
// All but ApplyDelta read and check before they write, so that an error leaves no effect; none of
// them makes a key of a run that is gone; and the keys that they create get the time to live of the
// run's own keys. Nothing but the counter's disappearance tells that a run is gone.
//
// Each operation is one script: one round trip (EVALSHA), two when the server does not know the
// script yet. In a cluster the keys must be of the form kHashTagged; with the plain form the server
// answers CROSSSLOT. Views in requests must live until the task has finished. Errors common to all:
// InvalidArgument for an id that keys.h refuses (nothing is sent), FailedPrecondition (WRONGTYPE)
// when a key holds another type, InvalidArgument ("ERR value is not an integer or out of range")
// when the counter is no integer or would overflow, and those of the store.
//
// Thread-safety: as Store.
// Source: seed 001 "apply_delta.lua"; reference/orchestrator.md sections 3 and 16 (D5). The texts
// are in scripts/*.lua.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/orchestrator/keys.h"
#include "core/orchestrator/messages.h"
#include "core/store/store.h"

namespace redouble::orchestrator {

struct DeltaRequest {
  std::string_view run_id;
  std::string_view op;  // Used for one delta only.
  int64_t delta = 0;
};

// The seed's script, word for word, for those who share a Redis with its users. The counter's new
// value, or 0 when the operation was applied before: which of the two a 0 is cannot be told, so it
// must not be taken for "finished". Hazards, all documented: it creates the counter of a run that
// is gone, without a TTL and possibly negative; it marks the operation as applied even when the
// counter then cannot be changed.
base::Task<absl::StatusOr<int64_t>> ApplyDelta(store::Store& store, Keys keys,
                                               DeltaRequest request);

// What became of a change of the counter.
struct CounterChange {
  enum class Outcome {
    kApplied,    // `counter` is the new value.
    kDuplicate,  // Applied before; `counter` is the current value.
    kRunGone,    // There is no counter.
    kRefused,    // It would break the protocol, see the operation; `counter` is the current value.
  };
  Outcome outcome = Outcome::kRunGone;
  int64_t counter = 0;

  friend bool operator==(const CounterChange&, const CounterChange&) = default;
};

// Changes the counter by `delta` once. Refused when the counter would become negative.
base::Task<absl::StatusOr<CounterChange>> ApplyDeltaGuarded(store::Store& store, Keys keys,
                                                            DeltaRequest request);

struct PauseRequest {
  std::string_view token_id;     // The token at the approval's node, which is consumed.
  std::string_view approval_id;  // A pure function of the token's id, so that a retry repeats it.
  // Written as it is; its run is the one that pauses.
  Approval approval;
};
// Consumes a token and waits for an approval in its place, in one step: the approval is pending
// before the counter falls. Refused when the counter is below 1.
base::Task<absl::StatusOr<CounterChange>> PauseForApproval(store::Store& store, Keys keys,
                                                           PauseRequest request);

struct DecisionRequest {
  std::string_view run_id;
  std::string_view approval_id;
  ApprovalStatus status = ApprovalStatus::kApproved;  // Anything but pending.
  absl::Time decided_at;
};
struct Decision {
  enum class Outcome {
    kDecided,     // `counter` is the new value: the run has its token back.
    kNotPending,  // Somebody else decided, or there is no such approval; nothing changed.
    kRunGone,     // The approval outlived its run; nothing changed.
  };
  Outcome outcome = Outcome::kNotPending;
  int64_t counter = 0;

  friend bool operator==(const Decision&, const Decision&) = default;
};
// Decides a pending approval: the first wins. Status, counter and pending set change in one step,
// so that the run never looks complete between them. Errors also: InvalidArgument for a decision
// that is "pending".
base::Task<absl::StatusOr<Decision>> DecideApproval(store::Store& store, Keys keys,
                                                    DecisionRequest request);

struct ArrivalRequest {
  std::string_view run_id;
  std::string_view join;         // The join's node id.
  std::string_view predecessor;  // The node id from which the token comes.
  std::string_view token_id;
  int64_t needed = 0;  // How many predecessors complete the join; at least 1.
};
struct Arrival {
  enum class Outcome {
    kParked,            // A new arrival.
    kDuplicate,         // This token arrived before.
    kPredecessorTwice,  // Another token of the same predecessor is parked; this one was not, and
                        // never will be.
    kRunGone,           // No operation was ever applied to the run.
  };
  Outcome outcome = Outcome::kRunGone;
  int64_t count = 0;  // How many are parked, or were when the join fired.
  // The arrival completes the join: publish its token, which stands for `count`. A retry of the
  // arrival that fired fires again with the same count; nothing else does.
  bool fire = false;

  friend bool operator==(const Arrival&, const Arrival&) = default;
};
// Parks a token at a join. To be called after its `emit:` was applied. Errors also: InvalidArgument
// when `needed` is below 1.
base::Task<absl::StatusOr<Arrival>> ArriveAtJoin(store::Store& store, Keys keys,
                                                 ArrivalRequest request);

struct QuiesceRequest {
  std::string_view run_id;
  std::span<const std::string_view> joins;  // All joins of the run, in the order of the IR.
  // The loops that the run is in, as FormatTokenMark writes them, for the id of the token.
  std::string_view loops = {};
};
struct FiredJoin {
  size_t index = 0;        // Of `joins`.
  int64_t join_count = 0;  // How many tokens it had.
  // Of the token to publish: "join:D:quiesce" with its mark (token_ids.h); ":2" and so on behind
  // "quiesce" when the join fires again. FindUnpublished (routing.h) finds it after a crash.
  std::string token_id = {};

  friend bool operator==(const FiredJoin&, const FiredJoin&) = default;
};
// Fires the first join that holds tokens when all tokens of the run are parked and no approval is
// pending: after an exclusive branch the missing side never arrives. None when there is nothing to
// fire. Linear in the number of joins.
base::Task<absl::StatusOr<std::optional<FiredJoin>>> QuiesceJoins(store::Store& store, Keys keys,
                                                                  QuiesceRequest request);

struct FinishRequest {
  std::string_view run_id;
  // All nodes of the run, whose loop and join state goes, too.
  std::span<const std::string_view> nodes;
  // All approvals that the run ever had.
  std::span<const std::string_view> approvals;
};
enum class FinishOutcome {
  kFinished,     // Deleted by this call: its caller announces the end.
  kNotFinished,  // A token is in flight or an approval pending.
  kRunGone,      // Somebody else finished it, or it expired.
};
// Deletes all keys of a run that is complete. Linear in the number of nodes and approvals.
base::Task<absl::StatusOr<FinishOutcome>> FinishRun(store::Store& store, Keys keys,
                                                    FinishRequest request);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_H_
