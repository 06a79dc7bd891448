// Relayna's operations for scenarios.
//
//   | operation                          | arguments                   | result            |
//   | ---------------------------------- | --------------------------- | ----------------- |
//   | `status.set_history`               | task_id, event              | null              |
//   | `status.get_history`               | task_id, limit?             | events            |
//   | `status.get_latest`                | task_id                     | event or null     |
//   | `status.get_child_task_ids`        | parent_task_id, limit?      | ids               |
//   | `contracts.ensure_status_event_id` | event                       | event             |
//   | `observation.set_event`            | cls, fields, trace?         | true or false     |
//   | `observation.get_history`          | task_id, limit?             | observations      |
//   | `feed.add_status_event`            | event                       | true or false     |
//   | `feed.add_observation_event`       | cls, fields                 | true or false     |
//   | `feed.get_feed`                    | after?, limit?              | a page            |
//   | `dlq.add`                          | record                      | null              |
//   | `dlq.get`                          | dlq_id                      | record or null    |
//   | `dlq.list_records`                 | limit?, cursor?, filters    | records, cursor   |
//   | `dlq.summarize_queues`             |                             | queues            |
//   | `dlq.claim_replay`                 | dlq_id, force?              | record or null    |
//   | `dlq.release_replay_claim`         | dlq_id                      | null              |
//   | `dlq.mark_replayed`                | dlq_id, replay              | record or null    |
//   | `dlq.replay_message`               | dlq_id, force?, now?,       | result or null    |
//   |                                    | publish_error?              |                   |
//   | `workflow.acquire_dedup`           | contract                    | true or false     |
//   | `workflow.mark_inflight`           | contract                    | null              |
//   | `workflow.clear_inflight`          | contract                    | null              |
//   | `workflow.release_dedup`           | contract                    | null              |
//   | `workflow.signature`               | contract (stage optional)   | text              |
//   | `timestamp.parse`                  | value, zone_seconds?        | ISO text or null  |
//
// A page is {"count", "items", "next_cursor"}. dlq.list_records returns an array of two: the
// records, and the cursor or null. dlq.summarize_queues returns rows [name, count, last time]. The
// filters are queue_name, task_id, reason, source_queue_name and state, all optional. A replay is
// replayed_at (default: now) and target_queue_name. The broker of dlq.replay_message accepts the
// message, or fails with publish_error, a text or {"type", "message"}. A contract is stage,
// task_id, action (may be null), payload and dedup_key_fields.
//
// Every store takes its options as arguments, with the defaults of its header: `prefix`,
// `ttl_seconds` (null: no TTL), `history_maxlen` or `feed_maxlen`, `owner_token`, `atomic_events`,
// `newest_first`, `atomic_marks`, `mark_before_publish`, `forget_expired_ids`, `add_once`;
// status and observation stores also `feed`, an object of the feed's options. Members named
// `timestamp` in the `fields` of an observation are datetimes if they parse as such; a `cls` of
// "dict" is an object without known fields.
//
// An operation that fails returns its status; python::ErrorType gives the original's exception.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_OPERATIONS_RELAYNA_RELAYNA_OPERATIONS_H_
#define REDOUBLE_SIM_OPERATIONS_RELAYNA_RELAYNA_OPERATIONS_H_

#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::scenarios {

// Returns the table above. Source: docs/systems/relayna.md 4.
sim::OperationTable RelaynaOperations();

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_RELAYNA_RELAYNA_OPERATIONS_H_
