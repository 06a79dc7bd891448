// The orchestrator's operations for scenarios.
//
// The arguments of each operation, and its result after the arrow:
//
//   start_run: run_id, ir -> created, tokens, completed
//   process_signal: consumer, reliable_pop, atomic_hops, extend_on_commit, emit_first,
//     atomic_arrival, iteration_of_token -> the outcome, or null
//   recover_signals: consumer -> the number of signals
//   sweep_run: run_id, atomic_check -> whether the run is completed
//   push_signal: run_id, node_id, job_id, result_ref, result_data -> "ok"
//   fail_node: run_id, node_id, job_id, error_type, error_message -> "ok"
//   work: type, consumer, result_ref, result_data, error, reclaim -> executed, failed, skipped, ...
//   reclaim: those of work, and min_idle_ms -> as work
//   request_approval: consumer, approver, timeout_s, approval_id -> the id of the approval, or null
//   approve, reject: run_id, approval_id, decided_by, comment, keep_decision_details,
//     atomic_decision -> "decided" and other outcomes
//   decide_overdue: run_id -> the number of approvals
//   push_undelivered: run_id -> the number of signals
//   patch_run: run_id, operations, compare_and_set -> "patched", "run_gone"
//   apply_delta: run_id, op, delta, one_script (the original document's script) -> the counter, or
//     0; with guarded: as apply_delta_guarded
//   apply_delta_guarded: run_id, op, delta -> [code, counter]
//   get_cached_result: scope, key -> the reference, or null
//   put_cached_result: scope, key, ref -> "ok"
//   invalidate_cached_result: scope, key -> whether the result was in the cache
//   publish_event: event -> the number of receivers
//   run_keys: run_id -> the names of the run's keys
//   queue_depths: -> the length of each stream and list
//
// The following are true by default, as the library always is. False leaves out the step that
// removes a hazard, and does as the original documents do (unguarded_store.h): emit_first (H3, H4),
// atomic_arrival (H12), iteration_of_token (H11), atomic_check (H16, H22), atomic_decision (H15,
// H17), compare_and_set (H19), one_script (H14). One operation leaves out one at most. With
// `reclaim` a worker first takes over entries of others (H8).
//
// Operations on runs and queues take `layout` (default: "documented"). Tokens have path ids
// ("run_123/fetch"), so that scenarios can name them. `work` and `request_approval` read one token
// from their stream; `error` makes the node fail. Operations that block in production do not block
// here.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_OPERATIONS_ORCHESTRATOR_ORCHESTRATOR_OPERATIONS_H_
#define REDOUBLE_SIM_OPERATIONS_ORCHESTRATOR_ORCHESTRATOR_OPERATIONS_H_

#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::scenarios {

// Returns the operations above. Source: docs/systems/orchestrator.md 4.
sim::OperationTable OrchestratorOperations();

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_ORCHESTRATOR_ORCHESTRATOR_OPERATIONS_H_
