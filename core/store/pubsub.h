// Typed commands of Redis pub/sub.
//
// Each function sends one command: one round trip. Subscribing changes what the connection is for:
// until its last subscription ends it may only subscribe, unsubscribe and ping. Messages come to
// the listener of the MessageSource that the store is, or wraps. Errors: those of the store
// (errors.h). Source:
// Redis 7.0, the command of the same name.
//
//   co_await store::PSubscribe(store, patterns);
//   absl::StatusOr<int64_t> receivers = co_await store::Publish(store, "run:7", "done");
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_PUBSUB_H_
#define REDOUBLE_CORE_STORE_PUBSUB_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::store {

// Subscribes to channels by name; at least one. A channel subscribed already stays so. Done when
// the first is confirmed; the other confirmations are pushes.
base::Task<absl::Status> Subscribe(Store& store, std::span<const std::string_view> channels);
// As Subscribe, to all channels that match one of the patterns. A message comes once for each
// pattern that matches.
base::Task<absl::Status> PSubscribe(Store& store, std::span<const std::string_view> patterns);
// As Subscribe, to shard channels, which only SPublish reaches.
base::Task<absl::Status> SSubscribe(Store& store, std::span<const std::string_view> channels);

// Ends subscriptions; all of the kind when none is named.
base::Task<absl::Status> Unsubscribe(Store& store, std::span<const std::string_view> channels = {});
base::Task<absl::Status> PUnsubscribe(Store& store,
                                      std::span<const std::string_view> patterns = {});
base::Task<absl::Status> SUnsubscribe(Store& store,
                                      std::span<const std::string_view> channels = {});

// Sends the payload to whoever listens; gives how many times it was sent: a connection counts once
// for the channel and once for each pattern.
base::Task<absl::StatusOr<int64_t>> Publish(Store& store, std::string_view channel,
                                            std::string_view payload);
base::Task<absl::StatusOr<int64_t>> SPublish(Store& store, std::string_view channel,
                                             std::string_view payload);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_PUBSUB_H_
