// Comparing a reply with the recorded one.
//
// Recorded replies are JSON: null is nil, a number an integer, an array an array, {"error": TEXT}
// an error, and a text a bulk string or a status: the recorders did not tell those two apart.
// Everything is compared exactly, but for what a recording cannot fix; these rules are the whole
// list:
//
//   | what                                            | how                                       |
//   | ----------------------------------------------- | ----------------------------------------- |
//   | TTL, PTTL above 0                               | within one second: the server's clock ran |
//   | idle times: third column of XPENDING's rows,    | any number that is not negative;          |
//   |   "idle" of XINFO CONSUMERS                     |   "<idle-ms>" stands for one              |
//   | radix-tree-* of XINFO STREAM                    | any number that is not negative           |
//   | replies that Redis leaves unordered: sets, KEYS | as sets                                   |
//   | orchestrator: errors of scripts                 | up to " script:", as its README says      |
//
// Pure; safe to call from any thread.
#ifndef REDOUBLE_TESTS_GOLDEN_REPLY_CHECK_H_
#define REDOUBLE_TESTS_GOLDEN_REPLY_CHECK_H_

#include <optional>
#include <string_view>

#include "core/store/reply.h"
#include "tests/golden/difference.h"
#include "tests/golden/golden.h"

namespace redouble::golden {

// The reply as a golden records it, without any of the rules.
Json ReplyToRecorded(const store::Reply& reply);

// A recorded JSON value whose texts are bytes, with its texts as sim writes bytes (bytes.h), so
// that the two can be compared.
Json EncodeRecorded(const Json& recorded);

// Compares the reply to `command`, whose recorded one must be there, by the rules above. Paths
// are below the reply's.
std::optional<Difference> CompareReply(const RecordedCommand& command, const store::Reply& reply,
                                       System system);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_REPLY_CHECK_H_
