// Recognizes the operations of Korvet in a recording.
//
// Korvet's recorder chose the names of its steps freely ("g", "mk", "fetch_past_hwm"), recorded
// several operations as one step or one operation as two ("create_topic", "create_topic(cont)"),
// and wrote most arguments only into the commands. An operation is therefore recognized by the form
// of its commands, and its arguments are read from them. Commands that Korvet does not send (XREAD,
// XADD without a timestamp, XGROUP CREATE without MKSTREAM...) are sent as raw commands, and their
// replies are compared.
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
//   |   timestamp, or with a name that implies one            |                                  |
//   | XGROUP CREATE ... MKSTREAM                              | create_group                     |
//   | XREADGROUP ... COUNT ... >                              | poll                             |
//   | XPENDING range, XACK                                    | commit                           |
//   | XACK                                                    | acknowledge                      |
//   | XPENDING, XINFO GROUPS                                  | committed, lag                   |
//   | XAUTOCLAIM from 0-0; XGROUP DELCONSUMER, SETID, DESTROY | claim, remove_member, seek,      |
//   |                                                         | delete_group                     |
//
// If the recorder noted no result, the replies are the result: the ids that were read, the number
// of entries that were acknowledged.
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_TESTS_GOLDEN_KORVET_KORVET_STEPS_H_
#define REDOUBLE_TESTS_GOLDEN_KORVET_KORVET_STEPS_H_

#include <string>
#include <vector>

#include "redouble/tests/golden/replay/golden.h"

namespace redouble::inline v0_1::golden {

// Returns the steps of a korvet golden as operations of sim/operations/korvet/korvet_operations.h
// and raw commands. Each has the path of the recorded step.
std::vector<RecordedStep> KorvetSteps(const Golden& golden);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_KORVET_KORVET_STEPS_H_
