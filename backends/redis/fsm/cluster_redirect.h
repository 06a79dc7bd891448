// Redirections: the error replies by which a node of a Redis Cluster says that it did not run a
// command, and what to do instead.
//
//   if (std::optional<Redirect> redirect = ReadRedirect(reply, asked)) ...
//
// Every reply that is read as a redirection means that the command was certainly not executed, so
// that sending it again is not sending it twice.
//
// Thread-safety: free functions on values.
//
// Source: Redis Cluster specification, "Redirection and resharding"; getNodeByQuery of Redis 7.0.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_REDIRECT_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_REDIRECT_H_

#include <cstdint>
#include <optional>

#include "backends/redis/options.h"
#include "core/store/reply.h"

namespace redouble::redis {

struct Redirect {
  enum class Kind : uint8_t {
    kMoved,     // MOVED: `node` serves the slot, now and for further commands.
    kAsk,       // ASK: `node` has this command's key already; it wants ASKING first, this once.
    kTryAgain,  // TRYAGAIN: the command's keys are just being moved, some are here, some there.
    kDown,      // CLUSTERDOWN, LOADING or MASTERDOWN: nobody serves the slot at the moment.
  };

  Kind kind;
  int slot = 0;          // kMoved and kAsk.
  TcpAddress node = {};  // kMoved and kAsk.

  friend bool operator==(const Redirect&, const Redirect&) = default;
};

// The redirection that the reply is; none when it is another reply, or a MOVED or ASK that cannot
// be read. An address without a host stands for the host of `asked`, the node that replied. IPv6
// addresses are written without brackets: the last colon ends the host.
std::optional<Redirect> ReadRedirect(const store::Reply& reply, const TcpAddress& asked);

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_REDIRECT_H_
