// BlockingPool: connections for commands that block on purpose.
//
// Internal to Client. A command that blocks (BLPOP, XREAD with BLOCK, WAIT...) holds its connection
// up, so each gets one to itself: one that is idle, or a new one, up to
// Options::blocking_connections; further ones wait in the order in which they came. A connection
// whose command was answered goes back, and Options::idle_connections of them stay open.
//
// A command that failed, or whose waiter went away, has its connection closed, which takes the
// blocked command back at the server. What Redis popped just before that is lost with the
// connection, as with any client that goes away: use BLMOVE or a consumer group where that matters.
//
// Counting: what ends here without a connection is counted here, the rest by the machine of its
// connection.
//
// Time: a request may wait as long as it asks for and Options::command_timeout, and no longer than
// Options::blocking_timeout; so long for its turn, and as long again from then on.
//
// Thread-safety: one thread or strand at a time, that of the context's executor.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_POOL_H_
#define REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_POOL_H_

#include <boost/asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/redis/net/connection.h"
#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::redis {

class BlockingPool final : public store::RequestKeeper,
                           public std::enable_shared_from_this<BlockingPool> {
 public:
  explicit BlockingPool(std::shared_ptr<ClientContext> context);
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  void Submit(store::Request& request);
  void Abandon(store::Request& request) override;

  // Closes all connections; what is under way fails with `reason`, later requests as not sent.
  void Close(std::string_view reason);

  // Connections that carry a command, and requests that wait for one.
  size_t busy() const { return busy_.size(); }
  size_t waiting() const { return waiting_.size(); }

 private:
  class Relay;
  struct Slot {
    std::shared_ptr<Connection> connection;
    std::unique_ptr<Relay> relay;
    store::Request* request = nullptr;
  };
  struct Waiter {
    store::Request* request;
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
  void DispatchWaiting();
  void OnWaitedTooLong(store::Request* request);

  const std::shared_ptr<ClientContext> context_;
  Slots busy_;
  Slots idle_;
  std::list<Waiter> waiting_;
  std::string closed_reason_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_POOL_H_
