// What a command does to the connection that carries it, beyond its reply.
//
// Coroutines that share one connection see their commands interleaved. A command that changes the
// connection (MULTI, SELECT) would change it for all of them, and one that blocks would hold all
// of them up. A few commands do not get exactly one reply each; no client that matches replies to
// commands by order can carry those.
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
#include "core/store/command.h"
#include "core/store/store.h"

namespace redouble::redis {

// How a connection is used.
enum class Sharing : uint8_t {
  kShared,     // By any number of coroutines at once.
  kDedicated,  // By one line of control that may use transactions by hand and blocking commands.
  kRouted,     // By a cluster client for any number of coroutines, each of whose requests has
               // passed as kShared: ASKING, and MULTI to EXEC, come whole in one pipeline.
  kPooled,     // By one request at a time that may block, but leaves nothing behind.
};

// Whether many requests are under way at once, whose deadlines grow in the order of submission.
constexpr bool IsMultiplexed(Sharing sharing) {
  return sharing == Sharing::kShared || sharing == Sharing::kRouted;
}

enum class CommandEffect : uint8_t {
  kNone,
  kState,    // Changes what later commands of the connection mean: MULTI, WATCH, SELECT, AUTH...
  kBlocks,   // May keep the connection waiting on purpose: BLPOP, XREAD with BLOCK, WAIT...
  kReplies,  // Is not answered by one RESP2 reply: SUBSCRIBE, MONITOR, CLIENT REPLY, HELLO...
};

// O(1) for a command of the table without effect.
CommandEffect EffectOf(const store::Command& command);

// True when the request has a command that may block the connection; inside a transaction nothing
// does.
bool MayBlock(const store::Request& request);

// How long a request's blocking commands ask to be kept waiting, all together: InfiniteDuration
// when one of them waits for ever, zero when none blocks or when Redis will refuse the time-out.
absl::Duration BlockLimit(const store::Request& request);

// Why the request must not be sent on a connection used so: FailedPrecondition, not sent; none
// when it may. Inside a transaction nothing blocks, so blocking commands may be there.
std::optional<absl::Status> Refusal(const store::Request& request, Sharing sharing);

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_COMMAND_EFFECT_H_
