// The scripts that start, advance, change and fail a run, as typed operations.
//
// scripts.h has the operations on the counter, the approvals and the joins; this header has the
// steps of the coordinator.
//
//   const StartRequest start = {.run_id = "run_123", .ir = text, .tokens = 1};
//   absl::StatusOr<bool> started = co_await StartRun(store, keys, start);
//
// As in scripts.h, an operation is one script and one round trip, two if the server does not know
// the script. It checks before its first write, creates no key of a run that is gone, and gives new
// keys the TTL of the run. Views in requests must live until the task has finished. Errors of every
// operation: InvalidArgument for an id that keys.h refuses (nothing is sent), FailedPrecondition
// (WRONGTYPE), and those of the store.
//
// Thread-safety: as Store.
// Source: docs/systems/orchestrator.md 4.1.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_RUN_SCRIPTS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_RUN_SCRIPTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::orchestrator {

struct StartRequest {
  std::string_view run_id;
  std::string_view ir;          // The text of the graph, stored verbatim.
  int64_t tokens = 0;           // The number of entry tokens.
  std::string_view op = {};     // Added to the applied set; empty: no member is added.
  std::string_view route = {};  // Where the tokens go; recorded with `op` only.
  absl::Duration ttl = RunTtl();
};
// Creates graph and counter in one step. False if the run exists.
// Source: docs/systems/orchestrator.md 4.2.
base::Task<absl::StatusOr<bool>> StartRun(store::Store& store, Keys keys, StartRequest request);

// The iteration of a loop, mirrored under `loop:<run>:<node>` for monitors; nullopt if the loop has
// ended. The token ids are authoritative. Source: docs/systems/orchestrator.md 3.5.
struct LoopState {
  std::string node_id;
  std::optional<int64_t> iteration;

  friend bool operator==(const LoopState&, const LoopState&) = default;
};

struct EmitRequest {
  std::string_view run_id;
  std::string_view token_id;  // The token whose successors these are.
  // The number of successors; with 0 only the context and the loops are written.
  int64_t count = 0;
  std::string_view route;  // Where the tokens go, recorded for a retry.
  std::span<const LoopState> loops = {};
  std::span<const std::pair<std::string, std::string>> context = {};  // Fields and values.
  // The number of tokens that `token_id` represents, which are consumed in the same step; 0: they
  // are consumed later, by ApplyDeltaGuarded.
  int64_t consume = 0;
  // The commands that publish the successors in the same step: XADD or RPUSH. Their keys must be in
  // the slot of the run if the server is a cluster.
  std::span<const store::Command> publications = {};
};
struct Emission {
  enum class Outcome {
    kEmitted,         // `counter` is the new value; `route` is the request's.
    kEmittedBefore,   // `route` is the recorded one; nothing changed, and nothing was published.
    kConsumedBefore,  // The token is consumed already; nothing changed.
    kRefused,         // The counter would become negative; nothing changed.
    kRunGone,
  };
  Outcome outcome = Outcome::kRunGone;
  int64_t counter = 0;
  std::string route;

  friend bool operator==(const Emission&, const Emission&) = default;
};
// Counts the successors of a token, and in the same step stores the output of its node and the
// route, and publishes and consumes if the request says so. A late signal therefore cannot
// overwrite a newer output, and a retry follows the recorded route even if the graph was patched. A
// retry is linear in the number of applied operations. Source: docs/systems/orchestrator.md 4.3.
base::Task<absl::StatusOr<Emission>> EmitTokens(store::Store& store, Keys keys,
                                                EmitRequest request);

struct ReplaceIrRequest {
  std::string_view run_id;
  std::string_view expected;  // The text that the patch was applied to.
  std::string_view ir;        // The new text.
  // Fields of the context that must not exist.
  std::span<const std::string> absent_fields = {};
};
enum class ReplaceIrOutcome {
  kReplaced,
  kChanged,  // Another patch was faster.
  kRunGone,
  kFieldExists,  // The run has reached a node that the patch removes.
};
// Replaces the graph of a run and keeps its TTL. Source: docs/systems/orchestrator.md 4.12.
base::Task<absl::StatusOr<ReplaceIrOutcome>> ReplaceIr(store::Store& store, Keys keys,
                                                       ReplaceIrRequest request);

struct FailRequest {
  std::string_view run_id;
  std::string_view token_id;  // The token whose node failed.
  std::span<const std::string_view> nodes;
  std::span<const std::string_view> approvals;
  absl::Time failed_at;
};
enum class FailOutcome {
  kFailed,          // This call ended the run; its caller publishes the event.
  kConsumedBefore,  // The token is consumed already; the run continues.
  kRunGone,
};
// Ends a run: deletes its keys as FinishRun does. Pending approvals become cancelled and stay until
// they expire, so that a late decision finds the reason. Source: docs/systems/orchestrator.md 4.14.
base::Task<absl::StatusOr<FailOutcome>> FailRun(store::Store& store, Keys keys,
                                                FailRequest request);

struct ExtendRequest {
  std::string_view run_id;
  std::span<const std::string_view> nodes;
  absl::Duration ttl;
};
// Extends all keys of a run that would expire earlier, and returns their number.
// Source: docs/systems/orchestrator.md 1.3.
base::Task<absl::StatusOr<int64_t>> ExtendRun(store::Store& store, Keys keys,
                                              ExtendRequest request);

// Cancels a pending approval whose run is gone. False if it is not pending or the run exists.
base::Task<absl::StatusOr<bool>> CancelApproval(store::Store& store, Keys keys,
                                                RunApproval approval, absl::Time now);

// A pending entry of a task stream and the consumer that has it.
struct Claim {
  std::string_view stream;
  std::string_view group;
  std::string_view consumer;
  std::string_view entry_id;
};
// Sets the idle time of the entry to 0, without counting a delivery. False if the entry is not
// pending for the consumer. Source: docs/systems/orchestrator.md 4.7.
base::Task<absl::StatusOr<bool>> RenewClaim(store::Store& store, Claim claim);

struct EntryCompletion {
  Claim claim;
  std::string_view signal;  // The text of the signal (FormatSignal).
  bool delete_entry = false;
  int64_t signal_shard = 0;  // The shard of the run (Keys::ShardOf).
};
// Pushes the signal of an entry and acknowledges the entry in one step. False if the entry is not
// pending for the consumer; nothing changed then. Source: docs/systems/orchestrator.md 4.7.
base::Task<absl::StatusOr<bool>> CompleteEntry(store::Store& store, Keys keys,
                                               EntryCompletion completion);

struct LeaseRequest {
  std::string_view holder;
  absl::Duration ttl;
};
// Takes the lease of the service, or renews it. False if another holder has it.
// Source: docs/systems/orchestrator.md 4.19.
base::Task<absl::StatusOr<bool>> AcquireLease(store::Store& store, Keys keys, LeaseRequest request);
// Gives the lease back. False if `holder` does not have it.
base::Task<absl::StatusOr<bool>> ReleaseLease(store::Store& store, Keys keys,
                                              std::string_view holder);

// The ids of the run's decided approvals, sorted; empty if the run is gone. One round trip.
base::Task<absl::StatusOr<std::vector<std::string>>> DecidedApprovals(store::Store& store,
                                                                      Keys keys,
                                                                      std::string run_id);

// The final state of a run, read in one transaction: a run without tokens and without pending
// approvals does not change any more.
struct CompleteRun {
  bool complete = false;    // False: the run goes on, or is gone. The other members are empty then.
  HashFields context = {};  // Sorted by field.
  std::vector<std::string> decided_approvals = {};  // Their ids, sorted.
};
base::Task<absl::StatusOr<CompleteRun>> ReadIfComplete(store::Store& store, Keys keys,
                                                       std::string run_id);

// The members of a set that begin with one of the prefixes, sorted by byte; empty if the key does
// not exist. Linear in the size of the set.
base::Task<absl::StatusOr<std::vector<std::string>>> SortedMembers(
    store::Store& store, std::string_view key, std::vector<std::string_view> prefixes);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_RUN_SCRIPTS_H_
