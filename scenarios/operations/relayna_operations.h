// Relayna's operations for scenarios: names and JSON in, JSON out.
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
//   | `workflow.signature`               | contract, stage optional    | text              |
//   | `timestamp.parse`                  | value, zone_seconds?        | ISO text or null  |
//
// A page is {"count", "items", "next_cursor"}; records and cursor are an array of two, the cursor
// maybe null; queues are rows [name, count, last time]. Filters are queue_name, task_id, reason,
// source_queue_name and state, all optional. A replay is replayed_at, now unless given, and
// target_queue_name; the broker of a replayed message takes it, or fails with publish_error, a text
// or {"type", "message"}. A contract is stage, task_id, action (maybe null), payload and
// dedup_key_fields.
//
// Every store takes its options as arguments, with the defaults of its header: `prefix`,
// `ttl_seconds` (null: none), `history_maxlen` or `feed_maxlen`, `owner_token`, `atomic_events`,
// `newest_first`; status and observation stores also `feed`, an object of the feed's options.
// Members called `timestamp` of an observation's `fields` are date-times where they parse; a `cls`
// of "dict" is an object whose fields cannot be told.
//
// An operation that fails gives its status; python::ErrorType tells the original's exception.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SCENARIOS_OPERATIONS_RELAYNA_OPERATIONS_H_
#define REDOUBLE_SCENARIOS_OPERATIONS_RELAYNA_OPERATIONS_H_

#include "sim/scenario/operation.h"

namespace redouble::scenarios {

// The table above. Source: seed 000, reference/relayna.md 1 to 5.
sim::OperationTable RelaynaOperations();

}  // namespace redouble::scenarios

#endif  // REDOUBLE_SCENARIOS_OPERATIONS_RELAYNA_OPERATIONS_H_
