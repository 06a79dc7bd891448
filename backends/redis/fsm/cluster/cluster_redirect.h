// Redirections: error replies of a Redis Cluster node that did not run a command.
//
// A redirection names the next step: another node, a retry, or waiting until the slot is served.
// A node that replies with a redirection has not executed the command, so the command can safely be
// sent again.
//
//   if (std::optional<Redirect> redirect = ReadRedirect(reply, asked)) ...
//
// Thread-safety: free functions on values.
//
// Source: Redis Cluster specification, "Redirection and resharding"; getNodeByQuery of Redis 7.0.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_CLUSTER_REDIRECT_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_CLUSTER_REDIRECT_H_

#include <cstdint>
#include <optional>

#include "redouble/backends/redis/options.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::redis {

struct Redirect {
  enum class Kind : uint8_t {
    kMoved,     // MOVED: `node` serves the slot from now on.
    kAsk,       // ASK: `node` already has the key; send ASKING and this command there, once.
    kTryAgain,  // TRYAGAIN: the command's keys are being migrated and are on two nodes.
    kDown,      // CLUSTERDOWN, LOADING or MASTERDOWN: the slot is not served at present.
  };

  Kind kind;
  int slot = 0;          // kMoved and kAsk.
  TcpAddress node = {};  // kMoved and kAsk.

  friend bool operator==(const Redirect&, const Redirect&) = default;
};

// Parses a reply as a redirection. Returns nullopt for another reply, and for a MOVED or ASK that
// cannot be parsed. An address without a host means the host of `asked`, the node that replied.
// IPv6 addresses have no brackets: the last colon ends the host.
std::optional<Redirect> ReadRedirect(const store::Reply& reply, const TcpAddress& asked);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_CLUSTER_REDIRECT_H_
