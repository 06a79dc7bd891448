// 3scale's operations for scenarios and goldens.
//
// The internal API, where an application or a metric is identified by service_id and id:
//
// * service.save: id, provider_key, backend_version, referrer_filters_required, state,
//   default_service. service.load_by_id, .delete, .exists?: id. service.load_with_provider_key: id,
//   provider_key. service.list, .default_id: provider_key. provider_key.change: old_key, new_key.
// * service_token.save_pairs: pairs, a list of service_token and service_id. service_token.delete,
//   .exists?: service_token, service_id.
// * application.save: service_id, id, state, plan_id, plan_name, redirect_url. application.load,
//   .exists?, .delete, .keys, .referrer_filters: service_id, id. application.create_key,
//   .delete_key, .create_referrer_filter, .delete_referrer_filter: those and value.
//   application.save_id_by_key: service_id, user_key, id; .load_id_by_key, .delete_id_by_key:
//   service_id, user_key.
// * metric.save: service_id, id, name, parent_id, children. metric.load, .delete, .load_name,
//   .load_parent_id: service_id, id. metric.load_id, .descendants, .ascendants: service_id, name.
//   metric.hierarchy, .load_all_ids: service_id.
// * usage_limit.save: service_id, plan_id, metric_id, and a value for each period given.
//   usage_limit.load_value, .delete: those and period. usage_limit.load_all: service_id, plan_id.
// * alert_limit.save, .delete: service_id, value. alert_limit.load_all: service_id.
// * redis.set: key, value. redis.del, redis.raw_del_simulating_ttl_expiry: key.
//
// The API of clients, `http.authorize`, `http.authrep`, `http.oauth_authorize` and
// `http.oauth_authrep`, takes the parameters of the request as arguments, or as `params` with the
// `extensions_header`; `now`, `trimmed_stamps`, `check_and_report_atomically` and
// `legacy_referrer_filters` are beside `params`. The result is {"status": 200, "body": "<?xml
// ...", "headers": {...}}, without "headers" if there are none. In a scenario it also has `jobs`,
// which a worker should run. threescale_reporting_operations.h has the operations of reports,
// workers, events, errors and statistics.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_OPERATIONS_H_
#define REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_OPERATIONS_H_

#include "redouble/sim/operations/operation.h"
#include "redouble/sim/operations/threescale/threescale_session.h"

namespace redouble::inline v0_1::scenarios {

// Returns all operations. Source: docs/systems/threescale.md 4. `sessions`: see
// threescale_session.h; by default each operation has a new session.
sim::OperationTable ThreescaleOperations(ThreescaleSessions sessions = {});

// Add the parts of the table.
void AddThreescaleServices(sim::OperationTable& table, const ThreescaleSessions& sessions);
void AddThreescaleApplications(sim::OperationTable& table, const ThreescaleSessions& sessions);
void AddThreescaleMetrics(sim::OperationTable& table, const ThreescaleSessions& sessions);
void AddThreescaleAuthorization(sim::OperationTable& table, const ThreescaleSessions& sessions);

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_OPERATIONS_H_
