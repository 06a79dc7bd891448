// Subscriber: live Redis as a MessageSource, on a Boost.Asio executor.
//
// It is one connection for subscriptions. Messages arrive in the order in which Redis sent them,
// either at a listener or through Next():
//
//   auto subscriber = co_await redis::Subscriber::Connect(executor, options);
//   if (!subscriber.ok()) co_return;
//   co_await store::Subscribe(**subscriber, channels);      // core/store/pubsub/pubsub.h
//   while (true) {
//     absl::StatusOr<redis::PushEvent> event = co_await (*subscriber)->Next();
//     if (!event.ok()) break;                               // Closed.
//     if (event->is_gap()) Resynchronize();                 // Messages are missing here.
//     else if (auto message = store::ReadMessage(*event->push)) Use(*message);
//   }
//
// Overflow: at most Options::push_queue pushes wait. One more drops the oldest, and a gap takes its
// place: a slow reader sees the newest messages and knows that it missed some. The server never
// waits for a slow reader.
//
// Reconnection: after a loss a new connection is made, with backoff. All confirmed subscriptions
// are made again, and then a gap is reported. A SUBSCRIBE under way fails as a command of Client
// does. With Options::reconnect=no the first loss closes the subscriber.
//
// Cluster (Options::cluster): every node forwards every message of a channel or pattern, so the
// subscriber uses the first node of address and seeds that it reaches, and the next one after a
// loss. Messages of a shard channel exist at the master of its slot only: subscribe there, with the
// options from ClusterClient::OptionsOfMaster; other nodes reply MOVED to SSUBSCRIBE. When the slot
// moves, Redis ends the subscription with a push "sunsubscribe"; when the master is lost, the
// subscriber is closed. FollowingSubscriber (client/following_subscriber.h) does all of this, and
// follows the master that sentinels watch.
//
// Thread-safety: only on the executor, one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_SUBSCRIBER_H_
#define REDOUBLE_BACKENDS_REDIS_NET_SUBSCRIBER_H_

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/fsm/subscribe/subscribe_machine.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/message_source.h"

namespace redouble::inline v0_1::redis {

class Subscriber final : public store::MessageSource {
 public:
  // Connects and authenticates. Round trips: as Client::Connect. Errors: as Client::Connect;
  // InvalidArgument for options with sentinel_master.
  static base::Task<absl::StatusOr<std::unique_ptr<Subscriber>>> Connect(
      boost::asio::any_io_executor executor, Options options);
  static base::Task<absl::StatusOr<std::unique_ptr<Subscriber>>> Connect(
      boost::asio::any_io_executor executor, Options options, ClientHooks hooks);

  // Closes the connection; requests under way fail.
  ~Subscriber() override;

  // Sends SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE, the corresponding UNSUBSCRIBE commands and PING. Other
  // commands fail with FailedPrecondition.
  void Submit(store::Request& request) override;

  // Delivers waiting and future pushes to `listener`, on the executor; the listener may destroy the
  // subscriber. Null: pushes wait for Next() again. The listener must outlive its registration.
  void Listen(store::PushListener* listener) override;

  // Returns the next push or gap, in order. At most one waiter at a time, and only without a
  // listener. Errors: Unavailable once the subscriber is closed and no push waits.
  base::Task<absl::StatusOr<PushEvent>> Next();

  // Closes the connection now; Next() returns Unavailable.
  void Close();

  // Whether there is a connection now.
  bool connected() const;
  const Counters& counters() const;

 private:
  struct State;

  explicit Subscriber(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_SUBSCRIBER_H_
