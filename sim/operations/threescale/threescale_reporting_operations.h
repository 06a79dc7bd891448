// 3scale's operations of reports, workers, events, errors and statistics.
//
//   | operation                            | arguments                     | result               |
//   | ------------------------------------ | ----------------------------- | -------------------- |
//   | `http.report`                        | the parameters of the request | status and body; in  |
//   |                                      |                               | scenarios also jobs  |
//   | `worker.run_all_jobs`                | jobs, or the answer that has  | "ok"                 |
//   |                                      | them                          |                      |
//   | `aggregator.process`                 | transactions                  | "ok"                 |
//   | `events.store`                       | type, object                  | true                 |
//   | `events.list`                        |                               | the events           |
//   | `events.delete_range`, `.delete`     | id                            | the number deleted   |
//   | `events.size`                        |                               | the number of events |
//   | `events.ping_if_not_empty`           | hook: "ok" or "raises"        | true; "nil" without  |
//   |                                      |                               | a call               |
//   | `hook_calls_so_far`                  |                               | 0, or the calls      |
//   | `errors.list`                        | service_id, page              | the entries          |
//   | `errors.count`, `.delete`            | service_id                    | the number; "ok"     |
//   | `stats.mark_service_to_be_deleted`   | service_id                    | 1, 0 if it was       |
//   | `stats.delete!`                      |                               | "ok"                 |
//   | `stats.delete_zeros`                 |                               | the number deleted   |
//   | `notify`                             | provider_key, transactions,   | "ok"; in scenarios   |
//   |                                      | authorizations                | the jobs             |
//
// The parameters of http.report are arguments, or in `params` with the `extensions_header`. A
// transaction of aggregator.process is {service_id, application_id, timestamp, usage by metric ids,
// response_code}. A worker runs the jobs that the session has queued, which must equal those of the
// argument; if none are queued, it runs those of the argument (threescale_jobs.h).
//
// All operations take the arguments of ThreescaleSession::Begin, the options of hardening.h as
// booleans, and `master_service_id` and `notification_batch`, which replace those of the session.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_REPORTING_OPERATIONS_H_
#define REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_REPORTING_OPERATIONS_H_

#include "redouble/sim/operations/operation.h"
#include "redouble/sim/operations/threescale/threescale_session.h"

namespace redouble::inline v0_1::scenarios {

// Source: docs/systems/threescale.md 4.
void AddThreescaleReporting(sim::OperationTable& table, const ThreescaleSessions& sessions);

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_REPORTING_OPERATIONS_H_
