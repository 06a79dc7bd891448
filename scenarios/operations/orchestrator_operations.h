// The orchestrator's operations for scenarios: names and JSON in, JSON out.
//
// Arguments, and behind the arrow what the operation gives:
//
//   start_run: run_id, ir -> created, tokens, completed
//   process_signal: consumer, plain -> what came of it, or null
//   recover_signals: consumer -> how many
//   sweep_run: run_id -> completed?
//   push_signal: run_id, node_id, job_id, result_ref, result_data -> "ok"
//   fail_node: run_id, node_id, job_id, error_type, error_message -> "ok"
//   work: type, consumer, result_ref, result_data, error -> what was done
//   reclaim: as work; min_idle_ms -> what was done
//   request_approval: consumer, approver, timeout_s, approval_id -> the approval's id, or null
//   approve, reject: run_id, approval_id, decided_by, comment -> "decided" and so on
//   decide_overdue: run_id -> how many
//   push_undelivered: run_id -> how many
//   patch_run: run_id, operations -> "patched", "run_gone"
//   apply_delta: run_id, op, delta: the seed's script -> the counter, or 0
//   apply_delta_guarded: run_id, op, delta -> [code, counter]
//   get_cached_result: scope, key -> the reference, or null
//   put_cached_result: scope, key, ref -> "ok"
//   invalidate_cached_result: scope, key -> whether it was there
//   publish_event: event -> how many heard it
//   run_keys: run_id -> names
//   queue_depths: by stream and list
//
// Those of runs and queues take `hash_tagged`, false unless given. Tokens have path ids
// ("run_123/fetch"), so that scenarios can name them. `work` and `request_approval` read one token
// of their stream; `error` makes the node fail. What waits in production does not wait here.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SCENARIOS_OPERATIONS_ORCHESTRATOR_OPERATIONS_H_
#define REDOUBLE_SCENARIOS_OPERATIONS_ORCHESTRATOR_OPERATIONS_H_

#include "sim/scenario/operation.h"

namespace redouble::scenarios {

// The list above. Source: seed 001, reference/orchestrator.md.
sim::OperationTable OrchestratorOperations();

}  // namespace redouble::scenarios

#endif  // REDOUBLE_SCENARIOS_OPERATIONS_ORCHESTRATOR_OPERATIONS_H_
