// The effect of a command on its connection, beyond its reply.
//
// Coroutines that share one connection see their commands interleaved. A command that changes the
// state of the connection (MULTI, SELECT) would change it for all of them, and a blocking command
// would delay all of them. A few commands do not return exactly one reply; no client that matches
// replies to commands by their order can send those.
//
//   if (std::optional<absl::Status> refusal = Refusal(request, Sharing::kShared)) ...
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_COMMAND_EFFECT_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_COMMAND_EFFECT_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// How a connection is used.
enum class Sharing : uint8_t {
  kShared,     // By any number of coroutines at once.
  kDedicated,  // By one caller at a time, with MULTI by hand and blocking commands.
  kRouted,     // By a cluster client for requests that were accepted as kShared. ASKING, and MULTI
               // to EXEC, arrive complete in one pipeline.
  kPooled,     // By one request at a time, which may block but must not change the connection.
};

// Whether the connection carries many requests at once, whose deadlines grow in the order of
// submission.
constexpr bool IsMultiplexed(Sharing sharing) {
  return sharing == Sharing::kShared || sharing == Sharing::kRouted;
}

// What a command does to its connection beyond one reply.
enum class CommandEffect : uint8_t {
  kNone,
  kState,    // Changes the state of the connection: MULTI, WATCH, SELECT, AUTH...
  kBlocks,   // May block the connection: BLPOP, XREAD with BLOCK, WAIT...
  kReplies,  // Does not return one RESP2 reply: SUBSCRIBE, MONITOR, CLIENT REPLY, HELLO...
};

// O(1) for a command of the command table without effect.
CommandEffect EffectOf(const store::Command& command);

// Whether the request has a command that may block. No command blocks inside a transaction.
bool MayBlock(const store::Request& request);

// The sum of the timeouts of the blocking commands in the request. InfiniteDuration if one of them
// has no timeout; zero if none blocks, or if Redis will refuse the timeout.
absl::Duration BlockLimit(const store::Request& request);

// How long a request may take: `command_timeout`, or for a blocking request with timeouts of its
// own their sum and command_timeout, at most `blocking_timeout`.
absl::Duration TimeLimit(const store::Request& request, absl::Duration command_timeout,
                         absl::Duration blocking_timeout);

// Whether all commands of the request only read, so that it may run twice.
bool OnlyReads(const store::Request& request);

// Why the request must not be sent on a connection with this sharing: FailedPrecondition, of kind
// "not sent". nullopt if it may be sent. Blocking commands are allowed inside a transaction.
std::optional<absl::Status> Refusal(const store::Request& request, Sharing sharing);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_COMMAND_EFFECT_H_
