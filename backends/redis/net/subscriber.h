// Subscriber: live Redis as a MessageSource, on a Boost.Asio executor.
//
// One connection kept for subscriptions. Messages come in the order of the wire, to a listener or
// to whoever asks for the next one:
//
//   auto subscriber = co_await redis::Subscriber::Connect(executor, options);
//   if (!subscriber.ok()) co_return;
//   co_await store::Subscribe(**subscriber, channels);      // pubsub.h
//   while (true) {
//     absl::StatusOr<redis::PushEvent> event = co_await (*subscriber)->Next();
//     if (!event.ok()) break;                               // Closed.
//     if (event->is_gap()) Resynchronize();                 // Messages are missing here.
//     else if (auto message = store::ReadMessage(*event->push)) Use(*message);
//   }
//
// Overflow: at most Options::push_queue pushes wait. One more drops the oldest, and a gap stands in
// its place: a slow reader sees the newest messages and knows that it missed some. The server never
// waits for a slow reader, and memory stays bounded by the messages themselves.
//
// Losing the connection: a new one is made, with backoff; all that Redis had confirmed is
// subscribed to again, and then a gap is told. A SUBSCRIBE under way at the loss fails, as a
// Client's command does. Options::reconnect=no ends the subscriber at the first loss.
//
// On a cluster (Options::cluster) every node hands on every message of a channel or pattern, so the
// subscriber listens at one, the first of address and seeds that it reaches, and at the next one
// when that is lost. A shard channel has its messages at the master of its slot only: subscribe
// there, with the options that ClusterClient::OptionsOfMaster gives; elsewhere SSUBSCRIBE is
// answered MOVED. When the slot moves away Redis ends the subscription, which comes as a push
// "sunsubscribe", and when the master is lost the subscriber is closed: then ask for the master
// anew.
//
// Thread-safety: one thread or strand at a time, the one of the executor.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_SUBSCRIBER_H_
#define REDOUBLE_BACKENDS_REDIS_NET_SUBSCRIBER_H_

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "absl/status/statusor.h"
#include "backends/redis/fsm/counters.h"
#include "backends/redis/fsm/subscribe_machine.h"
#include "backends/redis/net/client_hooks.h"
#include "backends/redis/options.h"
#include "core/base/task.h"
#include "core/store/message_source.h"

namespace redouble::redis {

class Subscriber final : public store::MessageSource {
 public:
  // Connects and logs in. Errors: as Client::Connect; InvalidArgument for options of a master that
  // sentinels watch.
  static base::Task<absl::StatusOr<std::unique_ptr<Subscriber>>> Connect(
      boost::asio::any_io_executor executor, Options options);
  static base::Task<absl::StatusOr<std::unique_ptr<Subscriber>>> Connect(
      boost::asio::any_io_executor executor, Options options, ClientHooks hooks);

  // Closes the connection; requests under way fail.
  ~Subscriber() override;

  // Takes SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE, their opposites and PING; refuses the rest with
  // FailedPrecondition.
  void Submit(store::Request& request) override;

  // Hands what waits, and all that comes, to `listener`, in the executor's turns; it may destroy
  // the subscriber. Null: pushes wait for Next() again.
  void Listen(store::PushListener* listener) override;

  // The next push or gap, in their order. One waiter at a time, and none beside a listener.
  // Errors: Unavailable once the subscriber is closed and nothing waits any more.
  base::Task<absl::StatusOr<PushEvent>> Next();

  // Closes the connection now: Next() ends.
  void Close();

  // Whether there is a connection now.
  bool connected() const;
  const Counters& counters() const;

 private:
  struct State;

  explicit Subscriber(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_SUBSCRIBER_H_
