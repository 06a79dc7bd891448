// BlockingPool: connections for blocking commands.
//
// Internal to Client. A blocking command (BLPOP, XREAD with BLOCK, WAIT...) occupies its
// connection, so each one gets its own: an idle one or a new one, up to
// Options::blocking_connections. Further commands wait in the order of their submission. A
// connection becomes idle when its command is answered; Options::idle_connections of them stay
// open.
//
// While the client has no connection to the server and may get one, the commands wait, too: each of
// them would dial a server that is down.
//
// The connection of a command that failed, or whose waiter was destroyed, is closed, which cancels
// the blocked command at the server. Elements that Redis popped just before that are lost with the
// connection, as with any client that disconnects: use BLMOVE or a consumer group where that
// matters.
//
// Bounds: no more than Options::queue_limit requests and Options::queue_bytes bytes wait; a further
// one fails with ResourceExhausted, as "not sent".
//
// Time limits: a request may wait for its turn for its own timeout plus Options::command_timeout,
// and no longer than Options::blocking_timeout. The same limit applies again once it has a
// connection.
//
// A server with a name that answers READONLY is left by all connections (replica_exit.h).
//
// Counters: requests that end without a connection are counted here, all others by the machine of
// their connection.
//
// Thread-safety: only on the context's executor, one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_POOL_H_
#define REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_POOL_H_

#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/replica_exit.h"
#include "redouble/backends/redis/net/connection.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

class BlockingPool final : public store::RequestKeeper,
                           public std::enable_shared_from_this<BlockingPool> {
 public:
  // `may_connect` tells whether the server is known to be there, or there is nothing to wait for;
  // null: always. Call Continue() when it has become true.
  explicit BlockingPool(std::shared_ptr<ClientContext> context,
                        std::function<bool()> may_connect = nullptr);
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  void Submit(store::Request& request);
  void Abandon(store::Request& request) override;

  // Sends the requests that wait, as far as there are connections for them.
  void Continue();

  // Closes all connections. Requests under way fail with `reason`, later requests as "not sent".
  void Close(std::string_view reason);

  // The number of connections that carry a command, and of requests that wait for a connection.
  size_t busy() const { return busy_.size(); }
  size_t waiting() const { return waiting_.size(); }

 private:
  class Relay;
  struct Slot {
    std::shared_ptr<Connection> connection;
    std::unique_ptr<Relay> relay;
    store::Request* request = nullptr;
    bool at_replica = false;  // The server became a replica while the command was under way.
  };
  struct Waiter {
    store::Request* request;
    size_t bytes;
    boost::asio::steady_timer timer;
  };
  using Slots = std::list<Slot>;

  void Dispatch(store::Request& request);
  store::Request& TakeWaiting(std::list<Waiter>::iterator waiter);
  void Fail(store::Request& request, absl::Status status);
  absl::Status ClosedError() const;
  Slots::iterator TakeSlot();
  void OnDone(Slots::iterator slot, absl::StatusOr<store::Reply>&& result);
  void Free(Slots::iterator slot, bool usable);
  void LeaveReplica();
  bool HasRoom() const;
  void OnWaitedTooLong(store::Request* request);

  const std::shared_ptr<ClientContext> context_;
  const std::function<bool()> may_connect_;
  Slots busy_;
  Slots idle_;
  std::list<Waiter> waiting_;
  size_t waiting_bytes_ = 0;
  ReplicaExit replica_exit_;
  std::string closed_reason_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_POOL_H_
