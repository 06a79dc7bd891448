// The gateway's operations for scenarios and goldens.
//
//   | operation                      | arguments                                             |
//   | ------------------------------ | ----------------------------------------------------- |
//   | `check_request_rate_limit`     | key_id, limit, one_transaction (default: true)        |
//   | `check_budget`                 | key_id, daily_budget_usd, monthly_budget_usd          |
//   | `add_budget_spend`             | key_id, estimated_cost_usd                            |
//   | `reserve_budget`               | key_id, request_id, estimated_cost_usd                |
//   | `check_and_reserve_budget`     | those of check_budget and of reserve_budget           |
//   | `reconcile_budget_reservation` | key_id, request_id, actual_cost_usd                   |
//   | `release_budget_reservation`   | key_id, request_id                                    |
//   | `sweep_reservations`           | age_s                                                 |
//   | `sweep_loop`                   | abandoned_after, sweep_interval, both in seconds      |
//   | `readyz`                       | postgres_ready (default: true)                        |
//   | `admit`                        | those of reserve_budget, rpm_limit, both budgets      |
//   | `settle`                       | key_id, request_id, reserved, final_cost_usd,         |
//   |                                | completed (default: true)                             |
//
// Without one_transaction the commands of the rate limit are sent one after the other, as a port of
// the gateway may do. sweep_loop is what a gateway with these settings does beside its requests; it
// ends at once without sweep_interval, and never with it.
//
// All except readyz, sweep_reservations and sweep_loop also take `now`, a time in RFC 3339; the
// default is the time of the scenario. A limit or budget that is absent or null is unlimited; a
// cost of admit or settle that is absent or null is unknown. Numbers may be texts ("NaN", "0.5").
// Operations on budgets take the options of core/gateway/hardening.h as booleans of the same names.
//
// Results that the goldens have: "ok"; {"decision": "Allowed", "count": 1}; {"decision":
// "Exceeded", "count": 3, "retry_after_seconds": 70}; {"decision": "Allowed", "daily_spend_usd": 0,
// "monthly_spend_usd": 0}. The others: {"http_status": 200, "status": "ready"} of readyz;
// {"decision": "Admitted", "reserved": true} and {"decision": "Refused", "http_status": 429,
// "code": "rate_limit_exceeded", "retry_after_seconds": 70} of admit; {"action": "Reconciled"} of
// settle, with "error" if the reconciliation failed; {"seen": 2, "released": 1, "released_usd":
// 0.5} of sweep_reservations. An operation that fails returns its status.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_OPERATIONS_GATEWAY_GATEWAY_OPERATIONS_H_
#define REDOUBLE_SIM_OPERATIONS_GATEWAY_GATEWAY_OPERATIONS_H_

#include <optional>

#include "absl/status/status.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::scenarios {

// Returns the table above. Source: docs/systems/gateway.md 4.
sim::OperationTable GatewayOperations();

// Returns an error as the goldens write it: {"error": "ControlStateUnavailable"}. Returns nullopt
// for a status that is not an error of the gateway, such as an argument error.
std::optional<sim::Json> GatewayErrorResult(const absl::Status& status);

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_GATEWAY_GATEWAY_OPERATIONS_H_
