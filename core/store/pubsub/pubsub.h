// Typed commands of Redis Pub/Sub.
//
//   co_await store::PSubscribe(store, patterns);
//   absl::StatusOr<int64_t> receivers = co_await store::Publish(store, "run:7", "done");
//
// Each function sends one command: one round trip. Arguments are views that must outlive the task.
// Until its last subscription ends, a connection may only subscribe, unsubscribe and ping. Messages
// go to the listener of the MessageSource (message_source.h) that the store is or wraps. Errors:
// those of the store (errors.h).
// Source: Redis 7.0, the command of the same name.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_PUBSUB_PUBSUB_H_
#define REDOUBLE_CORE_STORE_PUBSUB_PUBSUB_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/pubsub/channel.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::store {

// Subscribes to channels by name; `channels` must not be empty. Finishes when the first
// subscription is confirmed; the other confirmations are pushes. Subscribing to a channel again has
// no effect.
base::Task<absl::Status> Subscribe(Store& store, std::span<const std::string_view> channels);
// As Subscribe, for all channels that match a pattern. A message is delivered once per matching
// pattern.
base::Task<absl::Status> PSubscribe(Store& store, std::span<const std::string_view> patterns);
// As Subscribe, for shard channels, to which SPublish publishes.
base::Task<absl::Status> SSubscribe(Store& store, std::span<const std::string_view> channels);
// Subscribe or SSubscribe to one channel, which must outlive the task.
base::Task<absl::Status> SubscribeTo(Store& store, const Channel& channel);

// End subscriptions; all of the kind if the list is empty.
base::Task<absl::Status> Unsubscribe(Store& store, std::span<const std::string_view> channels = {});
base::Task<absl::Status> PUnsubscribe(Store& store,
                                      std::span<const std::string_view> patterns = {});
base::Task<absl::Status> SUnsubscribe(Store& store,
                                      std::span<const std::string_view> channels = {});

// Publish a message and return how many times it was delivered: a connection counts once for the
// channel and once for each matching pattern.
base::Task<absl::StatusOr<int64_t>> Publish(Store& store, std::string_view channel,
                                            std::string_view payload);
base::Task<absl::StatusOr<int64_t>> SPublish(Store& store, std::string_view channel,
                                             std::string_view payload);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_PUBSUB_PUBSUB_H_
