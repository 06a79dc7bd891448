// ApprovalFunction: the function of the workers of `wf.tasks.hitl`. It requests the approval that a
// node describes; the decision continues the run.
//
//   Worker worker(store, clock, keys, {.type = "hitl", .consumer = "hitl-1"},
//                 ApprovalFunction(approvals));
//
// The configuration of the node is an object with these members, each of which may be missing:
// `approver`, a text, and `timeout_seconds`, a positive number.
//
//   {"approver":"manager@company.com","timeout_seconds":7200}
//
// A token that is delivered again requests no second approval, because the approval id is derived
// from the token. A configuration that cannot be read fails the node.
//
// Thread-safety: as Store.
// Source: docs/systems/orchestrator.md 4.9.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_APPROVALS_APPROVAL_WORKER_H_
#define REDOUBLE_CORE_ORCHESTRATOR_APPROVALS_APPROVAL_WORKER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/orchestrator/approvals/approvals.h"
#include "redouble/core/orchestrator/run/worker.h"

namespace redouble::inline v0_1::orchestrator {

// The terms in the configuration of a node; the defaults for the empty text. Errors:
// InvalidArgument with the JSON pointer.
absl::StatusOr<ApprovalTerms> ReadApprovalTerms(std::string_view config_json);

// `approvals` must outlive the function.
NodeFunction ApprovalFunction(Approvals& approvals);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_APPROVALS_APPROVAL_WORKER_H_
