// Korvet's operations for scenarios.
//
//   | operation              | arguments                             | result                |
//   | ---------------------- | ------------------------------------- | --------------------- |
//   | `create_topic`         | name, partitions, config, id          | the topic             |
//   | `describe_topic`       | name                                  | the topic             |
//   | `describe_topic_by_id` | id                                    | the topic             |
//   | `list_topics`          |                                       | names, sorted by byte |
//   | `delete_topic`         | name                                  | "ok"                  |
//   | `add_partitions`       | name, total                           | "ok"                  |
//   | `alter_topic_config`   | name, config                          | "ok"                  |
//
//   | `produce`              | topic, partition, records             | the offsets           |
//   | `fetch`                | topic, partition, offset              | the records, `next`   |
//   | `list_offsets`         | topic, partition, timestamp           | offset, timestamp     |
//   | `log_bounds`           | topic, partition                      | log_start, high_watermark |
//   | `sweep_logs`           | topic, partitions                     | removed               |
//   | `create_group`         | topic, group, partitions, at          | "ok"                  |
//   | `poll`                 | topic, group, partitions, member      | the records           |
//   | `backlog`              | topic, group, partition, member       | the records, `lost`   |
//   | `commit`               | topic, group, partition, offset       | acknowledged          |
//   | `acknowledge`          | topic, group, partition, offsets      | acknowledged          |
//   | `committed`            | topic, group, partition               | committed_offset      |
//   | `lag`                  | topic, group, partition               | lag, lag_parts        |
//   | `seek`                 | topic, group, partition, at           | "ok"                  |
//   | `claim`                | topic, group, partition, member       | the records, `lost`   |
//   | `remove_member`        | topic, group, partition, member       | lost                  |
//   | `list_groups`          |                                       | groups                |
//   | `describe_group`       | group                                 | state, partitions     |
//   | `delete_group`         | group                                 | "ok"                  |
//   | `join_group`           | group, member, topics                 | the membership        |
//   | `heartbeat`            | group, member, topics, owned          | the membership        |
//   | `leave_group`          | group, member                         | "ok"                  |
//   | `commit_owned`         | group, member, topic, offsets         | acknowledged          |
//   | `describe_members`     | group                                 | the members           |
//
// A topic is {"id": "AY-NMYanfEiPNk0fpNmRAQ", "name": "orders", "partitions": 3, "config":
// {"retentionTime": "604800000", ...}}, with the fields of its hash as texts. `config` is an object
// with a text for each option: {"retention.ms": "60000"}. In create_topic, partitions, config and
// id are optional; the default id is drawn from the seed of the scenario. All operations take
// `keyspace` (default: "korvet"); create_topic, add_partitions and alter_topic_config also take
// `validate_only`. An operation that fails returns its status, whose message begins with Kafka's
// name of the error.
//
// Operations on logs and groups first read the topic (HGETALL). The default of `partition` is 0.
// Without a partition, produce sends each record where the partitioner puts it and returns
// [{"partition", "offset"}]. `partitions` is an array; `partition` may be given instead. A record
// to produce is {"key", "value", "timestamp", "headers": [[name, value]], "partition", "id"}; all
// members are optional. `at` is "earliest", "latest" or an offset. `topics` is {"orders": 3}, a
// number of partitions for each topic, and `owned` is ["orders:0"]. A membership is {"epoch",
// "partitions", "waiting"}; the members are {"state", "epoch", "assignment", "target"}. The
// options, all of them optional:
//
//   | operation              | options                                                        |
//   | ---------------------- | -------------------------------------------------------------- |
//   | `create_topic`         | atomic_creation                                                |
//   | `produce`              | acks, codec, trimming ("exact", "approximate", "none"), now,   |
//   |                        | stream_exists, atomic_batches, max_record_bytes,               |
//   |                        | max_records_per_write, batch_id, write_batches_once,           |
//   |                        | trim_by_server_time                                            |
//   | `fetch`                | max_records, max_bytes, partition_max_bytes, min_bytes,        |
//   |                        | max_wait_ms                                                    |
//   | `sweep_logs`           | by_time, by_size, trimming, now                                |
//   | `create_group`         | entries_read, guard_topic                                      |
//   | `poll`                 | max_records, max_wait_ms; at, entries_read, guard_topic for a  |
//   |                        | group that poll creates                                        |
//   | `backlog`              | offset, max_records                                            |
//   | `commit`               | metadata, member, commit_own_entries                           |
//   | `seek`                 | entries_read                                                   |
//   | `delete_group`         | delete_idle_groups                                             |
//   | `claim`                | min_idle_ms (default: 45000)                                   |
//   | `join_group`,          | call (default: 1), session_ms (default: 45000), assignor       |
//   | `heartbeat`,           |                                                                |
//   | `leave_group`          |                                                                |
//   | `commit_owned`         | partition                                                      |
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_OPERATIONS_KORVET_KORVET_OPERATIONS_H_
#define REDOUBLE_SIM_OPERATIONS_KORVET_KORVET_OPERATIONS_H_

#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::scenarios {

// Returns the tables above. Source: docs/systems/korvet.md 4.
sim::OperationTable KorvetOperations();

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_KORVET_KORVET_OPERATIONS_H_
