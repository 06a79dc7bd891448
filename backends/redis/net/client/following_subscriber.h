// FollowingSubscriber: subscriptions that follow a master's failovers and a cluster's moves.
//
// It is used as a Subscriber, with the options of a SentinelClient or of a ClusterClient:
//
//   auto options = redis::Options::Parse("redis://node1:7000?cluster=yes&seeds=node2:7000");
//   auto subscriber = co_await redis::FollowingSubscriber::Connect(executor, *options);
//   if (!subscriber.ok()) co_return;
//   co_await store::SSubscribe(**subscriber, channels);
//   while (true) {
//     absl::StatusOr<redis::PushEvent> event = co_await (*subscriber)->Next();
//     if (!event.ok()) break;                               // Closed.
//     if (event->is_gap()) Resynchronize();                 // Messages are missing here.
//     else if (auto message = store::ReadMessage(*event->push)) Use(*message);
//   }
//
// Sentinels: all subscriptions are at the master. Cluster: shard channels are at the master of
// their slot, all others at one of the masters. There is one connection to each server with
// subscriptions, and those that find the servers. When a master fails or a slot moves, the
// subscriptions are made again at the new server, and then a gap is reported: messages published in
// between are missing. No message is delivered twice, and those of a topic arrive in their order;
// messages of topics on different servers have no common order. follow_machine.h has the table of
// what happens in each case.
//
// Overflow: as in Subscriber.
//
// Lifetime: destroy subscribers before the execution context, or run the context until their tasks
// have ended.
//
// Thread-safety: only on the executor, one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_FOLLOWING_SUBSCRIBER_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_FOLLOWING_SUBSCRIBER_H_

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/fsm/subscribe/push_queue.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/message_source.h"

namespace redouble::inline v0_1::redis {

class FollowingSubscriber final : public store::MessageSource {
 public:
  // Finds the servers. Round trips: as SentinelClient::Connect or ClusterClient::Connect; the
  // connections for subscriptions are made with the first of them. Errors: as there;
  // InvalidArgument for options with neither `cluster` nor sentinel_master.
  static base::Task<absl::StatusOr<std::unique_ptr<FollowingSubscriber>>> Connect(
      boost::asio::any_io_executor executor, Options options);
  static base::Task<absl::StatusOr<std::unique_ptr<FollowingSubscriber>>> Connect(
      boost::asio::any_io_executor executor, Options options, ClientHooks hooks);

  // Closes the connections; requests under way fail.
  ~FollowingSubscriber() override;

  // Sends SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE and the corresponding UNSUBSCRIBE commands. Other
  // commands fail with FailedPrecondition. Requests wait for a server within command_timeout.
  void Submit(store::Request& request) override;

  // As Subscriber::Listen and Subscriber::Next.
  void Listen(store::PushListener* listener) override;
  base::Task<absl::StatusOr<PushEvent>> Next();

  // Closes the connections now; Next() returns Unavailable.
  void Close();

  // The number of subscriptions that are confirmed at their server now. O(subscriptions).
  size_t confirmed() const;
  // Requests and pushes; the figures of connections are those of the clients' hooks.
  const Counters& counters() const;

 private:
  class Core;

  explicit FollowingSubscriber(std::shared_ptr<Core> core);

  const std::shared_ptr<Core> core_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_FOLLOWING_SUBSCRIBER_H_
