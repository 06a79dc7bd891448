// The scripts by which a run begins, moves on, changes and fails, as typed operations: what
// scripts.h has for the counter, the approvals and the joins, for the steps of the coordinator.
//
//   const StartRequest start = {.run_id = "run_123", .ir = text, .tokens = 1};
//   absl::StatusOr<bool> started = co_await StartRun(store, keys, start);
//
// As in scripts.h: one round trip each, all checks before the first write, no key of a run that is
// gone, keys of a run with the run's time to live; views in requests must live until the task has
// finished; errors InvalidArgument for an id that keys.h refuses, FailedPrecondition (WRONGTYPE),
// and those of the store.
//
// Thread-safety: as Store.
// Source: reference/orchestrator.md sections 4, 5.1, 6.3, 7, 8.5 and 9.4.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_SCRIPTS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_SCRIPTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/orchestrator/keys.h"
#include "core/store/store.h"

namespace redouble::orchestrator {

struct StartRequest {
  std::string_view run_id;
  std::string_view ir;          // Its text, stored as it is.
  int64_t tokens = 0;           // How many begin the run.
  std::string_view op = {};     // Remembered as applied; empty: nothing.
  std::string_view route = {};  // Where the tokens go; remembered with `op` only.
  absl::Duration ttl = RunTtl();
};
// Creates graph and counter together. False when the run is there.
base::Task<absl::StatusOr<bool>> StartRun(store::Store& store, Keys keys, StartRequest request);

// The mirror of a loop's iteration under `loop:<run>:<node>`, for people and monitors; none: the
// loop has ended. What counts is in the tokens' ids.
struct LoopState {
  std::string node_id;
  std::optional<int64_t> iteration;

  friend bool operator==(const LoopState&, const LoopState&) = default;
};

struct EmitRequest {
  std::string_view run_id;
  std::string_view token_id;  // The token whose successors these are.
  int64_t count = 0;       // How many tokens follow; 0: nothing is emitted, but all else is done.
  std::string_view route;  // Where they go, remembered for a retry.
  std::span<const LoopState> loops = {};
  std::span<const std::pair<std::string, std::string>> context = {};  // Fields and values.
};
struct Emission {
  enum class Outcome {
    kEmitted,         // `counter` is the new value; `route` is the request's.
    kEmittedBefore,   // `route` is the one of then; nothing changed.
    kConsumedBefore,  // The token is done with; nothing changed.
    kRunGone,
  };
  Outcome outcome = Outcome::kRunGone;
  int64_t counter = 0;
  std::string route;

  friend bool operator==(const Emission&, const Emission&) = default;
};
// Counts the tokens that follow one, and in the same step stores what its node produced and where
// the run goes: so that a late signal cannot overwrite a newer output, and a retry takes the same
// way even when the graph was patched in between. Linear in the run's operations on a retry.
base::Task<absl::StatusOr<Emission>> EmitTokens(store::Store& store, Keys keys,
                                                EmitRequest request);

struct ReplaceIrRequest {
  std::string_view run_id;
  std::string_view expected;  // The text that was patched.
  std::string_view ir;        // The new text.
  // Fields of the context none of which may be there.
  std::span<const std::string> absent_fields = {};
};
enum class ReplaceIrOutcome {
  kReplaced,
  kChanged,  // Somebody else patched it meanwhile.
  kRunGone,
  kFieldThere,  // The run has come by what the patch takes away.
};
// Replaces a run's graph and keeps its time to live.
base::Task<absl::StatusOr<ReplaceIrOutcome>> ReplaceIr(store::Store& store, Keys keys,
                                                       ReplaceIrRequest request);

struct FailRequest {
  std::string_view run_id;
  std::string_view token_id;  // Whose node failed.
  std::span<const std::string_view> nodes;
  std::span<const std::string_view> approvals;
  absl::Time failed_at;
};
enum class FailOutcome {
  kFailed,          // Ended by this call: its caller announces it.
  kConsumedBefore,  // The token had completed before; the run goes on.
  kRunGone,
};
// Ends a run: deletes its keys as FinishRun does; approvals that are pending become cancelled and
// stay until they expire, so that a late decision finds out.
base::Task<absl::StatusOr<FailOutcome>> FailRun(store::Store& store, Keys keys,
                                                FailRequest request);

struct ExtendRequest {
  std::string_view run_id;
  std::span<const std::string_view> nodes;
  absl::Duration ttl;
};
// Prolongs all keys of a run that would expire earlier. How many it prolonged.
base::Task<absl::StatusOr<int64_t>> ExtendRun(store::Store& store, Keys keys,
                                              ExtendRequest request);

// Cancels a pending approval whose run is gone. True when it did.
base::Task<absl::StatusOr<bool>> CancelApproval(store::Store& store, Keys keys,
                                                RunApproval approval, absl::Time now);

// Those members of a set that begin with one of the prefixes, sorted by byte. Empty when there is
// no set. Linear in its size.
base::Task<absl::StatusOr<std::vector<std::string>>> SortedMembers(
    store::Store& store, std::string_view key, std::vector<std::string_view> prefixes);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_SCRIPTS_H_
