// 3scale's operations of reports, workers and what they leave behind, for scenarios and goldens.
//
//   | operation                            | arguments                     | result               |
//   | ------------------------------------ | ----------------------------- | -------------------- |
//   | `http.report`                        | the parameters of the request | status and body; in  |
//   |                                      |                               | scenarios also jobs  |
//   | `worker.run_all_jobs`                | jobs                          | "ok"                 |
//   | `aggregator.process`                 | transactions                  | "ok"                 |
//   | `events.store`                       | type, object                  | true                 |
//   | `events.list`                        |                               | the events           |
//   | `events.delete_range`, `.delete`     | id                            | how many             |
//   | `events.size`                        |                               | how many             |
//   | `events.ping_if_not_empty`           | hook: "ok" or "raises"        | true, "nil" when     |
//   |                                      |                               | nobody was called    |
//   | `hook_calls_so_far`                  |                               | 0, or the calls      |
//   | `errors.list`                        | service_id, page              | the entries          |
//   | `errors.count`, `.delete`            | service_id                    | how many; "ok"       |
//   | `stats.mark_service_to_be_deleted`   | service_id                    | 1, 0 if it was       |
//   | `stats.delete!`                      |                               | "ok"                 |
//   | `stats.delete_zeros`                 |                               | how many             |
//   | `notify`                             | provider_key, transactions,   | "ok"; in scenarios   |
//   |                                      | authorizations                | the jobs             |
//
// The parameters of http.report stand as they are, or as `params` with the `extensions_header`. A
// transaction of aggregator.process is {service_id, application_id, timestamp, usage by metric ids,
// response_code}. A worker takes the jobs that the session has queued, which must then be those of
// the argument; with nothing queued it takes those of the argument (threescale_jobs.h).
//
// All take what ThreescaleSession::Begin takes, the booleans of hardening.h by their names, and
// `master_service_id` and `notification_batch` in place of those of the session.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SCENARIOS_OPERATIONS_THREESCALE_REPORTING_OPERATIONS_H_
#define REDOUBLE_SCENARIOS_OPERATIONS_THREESCALE_REPORTING_OPERATIONS_H_

#include "scenarios/operations/threescale_session.h"
#include "sim/scenario/operation.h"

namespace redouble::scenarios {

// Source: seed 004, reference/threescale.md 5 and 6.
void AddThreescaleReporting(sim::OperationTable& table, const ThreescaleSessions& sessions);

}  // namespace redouble::scenarios

#endif  // REDOUBLE_SCENARIOS_OPERATIONS_THREESCALE_REPORTING_OPERATIONS_H_
