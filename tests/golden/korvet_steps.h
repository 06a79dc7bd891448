// The operations of Korvet that a recording stands for.
//
// Korvet's recorder named its steps freely ("g", "mk", "fetch_past_hwm"), put several operations
// into one and one into two ("create_topic", "create_topic(cont)"), and wrote most of what was
// asked for into the commands only. So an operation is recognised by the form of its commands, and
// takes its arguments from them; what Korvet would not send (XREAD, XADD without a timestamp,
// XGROUP CREATE without MKSTREAM...) stays somebody's raw command, whose replies are compared.
//
//   | commands                                                | operation                        |
//   | ------------------------------------------------------- | -------------------------------- |
//   | HSETNX topic id; MULTI, HSET, SADD, HSET, EXEC          | create_topic                     |
//   | MULTI, DEL streams, DEL topic, SREM, HDEL, EXEC         | delete_topic                     |
//   | HSET topic partitions; HSET topic of options            | add_partitions,                  |
//   |                                                         | alter_topic_config               |
//   | HGETALL topic; HGET topic-ids; SMEMBERS topics          | describe_topic,                  |
//   |                                                         | describe_topic_by_id,            |
//   |                                                         | list_topics                      |
//   | SMEMBERS topics, HGET partitions, XINFO GROUPS          | list_groups                      |
//   | XADD of a record with its id, then XTRIM MAXLEN         | produce                          |
//   | XTRIM as the topic's retention says                     | sweep_logs                       |
//   | XRANGE or XINFO STREAM of a step with an offset         | fetch                            |
//   | XRANGE, XREVRANGE or XINFO STREAM of a step with a      | list_offsets                     |
//   |   timestamp, or of a name that says which               |                                  |
//   | XGROUP CREATE ... MKSTREAM                              | create_group                     |
//   | XREADGROUP ... COUNT ... >                              | poll                             |
//   | XPENDING range, XACK                                    | commit                           |
//   | XACK                                                    | acknowledge                      |
//   | XPENDING, XINFO GROUPS                                  | committed, lag                   |
//   | XAUTOCLAIM from 0-0; XGROUP DELCONSUMER, SETID, DESTROY | claim, remove_member, seek,      |
//   |                                                         | delete_group                     |
//
// Where the recorder noted no result, what the commands replied is one: the ids that were read, how
// many were acknowledged.
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_TESTS_GOLDEN_KORVET_STEPS_H_
#define REDOUBLE_TESTS_GOLDEN_KORVET_STEPS_H_

#include <string>
#include <vector>

#include "tests/golden/golden.h"

namespace redouble::golden {

// The steps of a korvet golden as operations of scenarios/operations/korvet_operations.h and raw
// ones. Each keeps the path of the step that it comes from.
std::vector<RecordedStep> KorvetSteps(const Golden& golden);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_KORVET_STEPS_H_
