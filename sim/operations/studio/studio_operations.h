// Studio's operations for scenarios and goldens.
//
//   | operation                            | arguments                                            |
//   | ------------------------------------ | ---------------------------------------------------- |
//   | `registry.normalize_base_url`        | url                                                  |
//   | `registry.create_service`            | service_id, name, base_url, environment, tags,       |
//   |                                      | auth_mode, status, log_config, metrics_config,       |
//   |                                      | trace_config                                         |
//   | `registry.get_service`               | service_id                                           |
//   | `registry.list_services`             |                                                      |
//   | `registry.update_service`            | service_id, changes                                  |
//   | `registry.delete_service`            | service_id                                           |
//   | `registry.refresh_service`           | service_id; answers of the service, below            |
//   | `registry.create`, `registry.update` | record; the store's operations, without checks       |
//   | `registry.get`, `registry.delete`    | service_id; as above                                 |
//   | `registry.list`                      | as above                                             |
//   | `events.insert_event`                | envelope                                             |
//   | `events.list_service_events`         | service_id, task_id, source_kind, event_type,        |
//   |                                      | from_time, to_time, before, limit                    |
//   | `events.list_task_events`            | service_id, task_id, before, limit                   |
//   | `events.get_service_activity_snapshot`, `events.get_pull_cursor` | service_id               |
//   | `events.set_pull_cursor`             | service_id, cursor                                   |
//   | `ingest.ingest_events`               | events                                               |
//   | `ingest.list_service_events`, `ingest.list_task_events` | those of events                   |
//   | `ingest.sync_service`                | service (or service_id), feed, server_page_size,     |
//   |                                      | pull_page_limit, pull_max_pages                      |
//   | `ingest.sync_registered_services`    | feed, server_page_size, pull_page_limit,             |
//   |                                      | pull_max_pages                                       |
//   | `health.get_health`                  | service_id                                           |
//   | `health.refresh_health`              | service_id, use_cached_capabilities (default: false);|
//   |                                      | answers of the service, below                        |
//   | `health.refresh_all_services`        | answers of the services, below                       |
//   | `health_store.get_health`            | service_id                                           |
//   | `search.task_document_id`            | service_id, task_id                                  |
//   | `search.build_prefix_tokens`         | value                                                |
//   | `search.set_task_document`           | document                                             |
//   | `search.get_task_document`, `search.delete_task_document` | document_id, or service_id and  |
//   |                                      | task_id                                              |
//   | `search.set_service_document`        | document                                             |
//   | `search.get_service_document`        | service_id                                           |
//   | `search.upsert_task_document`        | service, event                                       |
//   | `search.upsert_service_document`     | service (or service_id), health_status               |
//   | `search.delete_service_document`, `search.delete_task_documents_for_service` | service_id   |
//   | `search.search_tasks`                | service_id, task_id, correlation_id, status, stage,  |
//   |                                      | from_timestamp, to_timestamp, limit, cursor          |
//   | `search.search_services`             | query, environment, status, health, tag, limit,      |
//   |                                      | cursor                                               |
//   | `search.prune_expired_task_documents`, `search.initialize` |                                |
//   | `studio.get_service`                 | service_id                                           |
//   | `studio.list_services`               |                                                      |
//   | `studio.refresh_service`             | service_id; answers of the service, below            |
//
// All except the pure ones also take `now`, a time in RFC 3339 (default: the time of the scenario),
// and the options of the stores: `event_prefix`, `ttl_seconds` (null: no TTL) and `history_maxlen`
// of events, `task_index_ttl_seconds`, `search` (false: Studio runs without a search index), and
// the options of core/studio/hardening.h as booleans of the same names.
//
// The answers of a service: `capabilities`, a document, or `capability_error`, a text; `workers`, a
// report, or `worker_error`, a text. A feed is an array of events, newest first, in pages of
// `server_page_size`.
//
// Results have the form of the goldens. An operation that fails returns its status.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_OPERATIONS_STUDIO_STUDIO_OPERATIONS_H_
#define REDOUBLE_SIM_OPERATIONS_STUDIO_STUDIO_OPERATIONS_H_

#include "absl/status/status.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::scenarios {

// Returns the table above. Source: docs/systems/studio.md 4.
sim::OperationTable StudioOperations();

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_STUDIO_STUDIO_OPERATIONS_H_
