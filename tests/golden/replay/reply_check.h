// Compares a reply with the recorded one.
//
// Recorded replies are JSON: null is nil, a number an integer, an array an array, {"error": TEXT}
// an error, and a text a bulk string or a status: the recorders did not distinguish the two.
// Replies must be equal, except for what differs from run to run on a real server. These rules are
// the whole list:
//
//   | what                                            | how                                       |
//   | ----------------------------------------------- | ----------------------------------------- |
//   | TTL, PTTL above 0                               | within one second: the server's clock ran |
//   | idle times: third column of XPENDING's rows,    | any number that is not negative;          |
//   |   "idle" of XINFO CONSUMERS                     |   "<idle-ms>" matches one                 |
//   | radix-tree-* of XINFO STREAM                    | any number that is not negative           |
//   | replies that Redis leaves unordered: sets, KEYS | as sets                                   |
//   | orchestrator: errors of scripts                 | up to " script:", as its README says      |
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_TESTS_GOLDEN_REPLAY_REPLY_CHECK_H_
#define REDOUBLE_TESTS_GOLDEN_REPLAY_REPLY_CHECK_H_

#include <optional>
#include <string_view>

#include "redouble/core/store/reply.h"
#include "redouble/tests/golden/replay/difference.h"
#include "redouble/tests/golden/replay/golden.h"

namespace redouble::inline v0_1::golden {

// Returns the reply as a golden records it, without any of the rules.
Json ReplyToRecorded(const store::Reply& reply);

// Returns a recorded value with its texts in the format of sim/json/bytes.h, so that it can be
// compared with sim's JSON.
Json EncodeRecorded(const Json& recorded);

// Compares the reply to `command`, which must have a recorded reply, by the rules above. Paths
// begin with the path of the recorded reply.
std::optional<Difference> CompareReply(const RecordedCommand& command, const store::Reply& reply,
                                       System system);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_REPLAY_REPLY_CHECK_H_
