// The gateway's operations for scenarios and goldens: names and JSON in, JSON out.
//
//   | operation                      | arguments                                             |
//   | ------------------------------ | ----------------------------------------------------- |
//   | `check_request_rate_limit`     | key_id, limit                                         |
//   | `check_budget`                 | key_id, daily_budget_usd, monthly_budget_usd          |
//   | `add_budget_spend`             | key_id, estimated_cost_usd                            |
//   | `reserve_budget`               | key_id, request_id, estimated_cost_usd                |
//   | `check_and_reserve_budget`     | those of check_budget and of reserve_budget           |
//   | `reconcile_budget_reservation` | key_id, request_id, actual_cost_usd                   |
//   | `release_budget_reservation`   | key_id, request_id                                    |
//   | `readyz`                       | postgres_ready: true unless given                     |
//   | `admit`                        | those of reserve_budget, rpm_limit, both budgets      |
//   | `settle`                       | key_id, request_id, reserved, final_cost_usd,         |
//   |                                | completed: true unless given                          |
//
// All but readyz also take `now`, an RFC 3339 time; the scenario's own unless given. Limits,
// budgets and the costs of admit and settle may be absent or null: unlimited, unknown. Numbers may
// be texts ("NaN", "0.5"). Operations on budgets take the options of core/gateway/hardening.h as
// booleans of the same names.
//
// Results are those of the goldens: "ok"; {"decision": "Allowed", "count": 1}; {"decision":
// "Exceeded", "count": 3, "retry_after_seconds": 70}; {"decision": "Allowed", "daily_spend_usd": 0,
// "monthly_spend_usd": 0}. Beyond them: {"http_status": 200, "status": "ready"} of readyz;
// {"decision": "Admitted", "reserved": true} and {"decision": "Refused", "http_status": 429,
// "code": "rate_limit_exceeded", "retry_after_seconds": 70} of admit; {"action": "Reconciled"} of
// settle, with "error" when that failed. An operation that fails gives its status.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SCENARIOS_OPERATIONS_GATEWAY_OPERATIONS_H_
#define REDOUBLE_SCENARIOS_OPERATIONS_GATEWAY_OPERATIONS_H_

#include <optional>

#include "absl/status/status.h"
#include "sim/scenario/operation.h"

namespace redouble::scenarios {

// The table above. Source: seed 002, reference/gateway.md 3 and 5.
sim::OperationTable GatewayOperations();

// How the goldens write a failure: {"error": "ControlStateUnavailable"}; none for a status that is
// not the gateway's, as that of wrong arguments.
std::optional<sim::Json> GatewayErrorResult(const absl::Status& status);

}  // namespace redouble::scenarios

#endif  // REDOUBLE_SCENARIOS_OPERATIONS_GATEWAY_OPERATIONS_H_
