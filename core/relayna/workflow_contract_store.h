// WorkflowContractStore: prevents a workflow stage from running the same action for the same task
// twice at the same time.
//
//   WorkflowContractStore contracts(store);
//   absl::StatusOr<bool> acquired = co_await contracts.AcquireDedup(contract);
//   if (acquired.ok() && *acquired) {
//     co_await contracts.MarkInflight(contract);
//     ...                                          // the handler
//     co_await contracts.ClearInflight(contract);
//     co_await contracts.ReleaseDedup(contract);   // also after an error of the handler
//   }
//
// After a crash the marker blocks redeliveries until its TTL ends (W1); nothing renews it. By
// default a marker has no owner: a consumer that takes longer than the TTL releases the marker of
// the next consumer (W2). With Hardening::owner_token a release is one script that deletes only the
// caller's own marker.
//
// Thread-safety: as the store, which must outlive this; arguments must outlive the task.
// Source: docs/systems/relayna.md 2.10, 3.6, 4.12 and 4.13.
#ifndef REDOUBLE_CORE_RELAYNA_WORKFLOW_CONTRACT_STORE_H_
#define REDOUBLE_CORE_RELAYNA_WORKFLOW_CONTRACT_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/python/value.h"
#include "redouble/core/relayna/hardening.h"
#include "redouble/core/relayna/keys.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::relayna {

struct WorkflowContractOptions {
  std::string prefix{kRelaynaPrefix};
  // Seconds; nullopt: no TTL. Unlike in the status store, 0 is sent: Redis refuses it for the
  // marker, and EXPIRE 0 deletes the inflight hash.
  std::optional<int64_t> ttl_seconds = kDefaultTtlSeconds;
  // owner_token applies.
  Hardening hardening = {};
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
};

// One action of a stage for a task.
struct WorkflowContract {
  std::string stage;
  std::string task_id;
  std::optional<std::string> action;
  python::Value payload;  // An object.
  // The members of the payload that identify the action.
  std::vector<std::string> dedup_key_fields;
};

class WorkflowContractStore {
 public:
  explicit WorkflowContractStore(store::Store& store, WorkflowContractOptions options = {});

  // The signature of the contract: WorkflowSignature (tokens.h).
  static absl::StatusOr<std::string> SignatureOf(const WorkflowContract& contract);

  // Sets the marker by SET NX. Returns true if it was free. One round trip.
  base::Task<absl::StatusOr<bool>> AcquireDedup(const WorkflowContract& contract);
  // Deletes the marker, also if another consumer set it. With an owner token, one script deletes
  // the marker and the inflight entry, if the marker has the token. One round trip.
  base::Task<absl::Status> ReleaseDedup(const WorkflowContract& contract);
  // Writes the inflight entry by HSET, then sends EXPIRE of the hash: two round trips. A crash
  // between them leaves a new hash without a TTL (W3). With an owner token, one transaction.
  // Errors: InvalidArgument (TypeError), before anything is sent, for a dedup field without a JSON
  // form.
  base::Task<absl::Status> MarkInflight(const WorkflowContract& contract);
  // Deletes the inflight entry by HDEL, also if another consumer set it. The hash disappears with
  // its last entry. With an owner token, only while the marker has the token. One round trip.
  base::Task<absl::Status> ClearInflight(const WorkflowContract& contract);

 private:
  base::Task<absl::Status> Remove(const WorkflowContract& contract, bool with_marker);

  store::Store& store_;
  const WorkflowContractOptions options_;
  const WorkflowKeys keys_;
};

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_WORKFLOW_CONTRACT_STORE_H_
