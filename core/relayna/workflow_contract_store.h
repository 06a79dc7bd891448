// WorkflowContractStore: keeps a workflow stage from doing one action for one task twice at a time.
//
//   WorkflowContractStore contracts(store);
//   if (co_await contracts.AcquireDedup(contract)) {
//     co_await contracts.MarkInflight(contract);
//     ...                                          // the handler
//     co_await contracts.ClearInflight(contract);
//     co_await contracts.ReleaseDedup(contract);   // whatever became of it
//   }
//
// The marker protects against duplicates in flight and, for its time to live, against the
// redelivery of what a crash left; nothing renews it. By default it has no owner: who is slower
// than its time to live releases the marker of the next one (hazard W2). With an owner token a
// release is one script that only takes what is the caller's.
//
// Thread-safety: as the store, which outlives this; arguments outlive the task.
// Source: reference/relayna.md section 5; goldens workflow_*.
#ifndef REDOUBLE_CORE_RELAYNA_WORKFLOW_CONTRACT_STORE_H_
#define REDOUBLE_CORE_RELAYNA_WORKFLOW_CONTRACT_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/python/value.h"
#include "core/relayna/keys.h"
#include "core/store/store.h"

namespace redouble::relayna {

struct WorkflowContractOptions {
  std::string prefix{kRelaynaPrefix};
  // None: nothing expires. Unlike elsewhere 0 is a time to live here: Redis refuses it for the
  // marker, and as EXPIRE 0 it deletes the hash.
  std::optional<int64_t> ttl_seconds = kDefaultTtlSeconds;
  // Hardened: the marker's value in place of "1", different in every process; the marker and the
  // inflight entry are taken away only while the marker is this owner's (W2), and an entry and its
  // time to live are set in one transaction (W3). Empty: as documented.
  std::string owner_token = {};
};

// One action of a stage. The members are views or values of the caller.
struct WorkflowContract {
  std::string stage;
  std::string task_id;
  std::optional<std::string> action;
  python::Value payload;                      // An object.
  std::vector<std::string> dedup_key_fields;  // The members of the payload that count.
};

class WorkflowContractStore {
 public:
  explicit WorkflowContractStore(store::Store& store, WorkflowContractOptions options = {});

  // The signature under which the contract is kept: WorkflowSignature (tokens.h).
  static absl::StatusOr<std::string> SignatureOf(const WorkflowContract& contract);

  // SET NX of the marker. True when it was free. One round trip.
  base::Task<absl::StatusOr<bool>> AcquireDedup(const WorkflowContract& contract);
  // DEL of the marker, whosever it is; with an owner token, only when it is the caller's, and the
  // inflight entry with it, in one script. One round trip.
  base::Task<absl::Status> ReleaseDedup(const WorkflowContract& contract);
  // HSET of the entry, then EXPIRE of the hash: two round trips, and a crash between them leaves a
  // new hash for ever (W3); with an owner token one transaction. Errors: TypeError for a dedup
  // field that is no JSON, though its signature was fine, before anything is sent.
  base::Task<absl::Status> MarkInflight(const WorkflowContract& contract);
  // HDEL of the entry, whosever it is; the hash goes with its last entry. With an owner token only
  // while the marker is the caller's. One round trip.
  base::Task<absl::Status> ClearInflight(const WorkflowContract& contract);

 private:
  base::Task<absl::Status> TakeAway(const WorkflowContract& contract, bool with_marker);

  store::Store& store_;
  const WorkflowContractOptions options_;
  const WorkflowKeys keys_;
};

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_WORKFLOW_CONTRACT_STORE_H_
