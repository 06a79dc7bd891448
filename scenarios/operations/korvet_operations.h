// Korvet's operations for scenarios: names and JSON in, JSON out.
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
// A topic is {"id": "AY-NMYanfEiPNk0fpNmRAQ", "name": "orders", "partitions": 3, "config":
// {"retentionTime": "604800000", ...}}: the fields of its hash, with their texts. `config` is an
// object of texts by option, {"retention.ms": "60000"}. Of create_topic, partitions, config and id
// may be absent; an id is then drawn from the scenario's seed. All take `keyspace`, "korvet" unless
// given; create_topic, add_partitions and alter_topic_config also take `validate_only`. An
// operation that fails gives its status, whose message begins with Kafka's name of the error.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SCENARIOS_OPERATIONS_KORVET_OPERATIONS_H_
#define REDOUBLE_SCENARIOS_OPERATIONS_KORVET_OPERATIONS_H_

#include "sim/scenario/operation.h"

namespace redouble::scenarios {

// The table above. Source: seed 003, reference/korvet.md 3.
sim::OperationTable KorvetOperations();

}  // namespace redouble::scenarios

#endif  // REDOUBLE_SCENARIOS_OPERATIONS_KORVET_OPERATIONS_H_
