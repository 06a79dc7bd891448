// ChannelReader: reads the payloads of one channel, in order, from a coroutine.
//
// It queues the messages between the listener of a subscription and a coroutine, so that no message
// after the subscription is lost while the coroutine does something else.
//
//   store::ChannelReader reader(subscription, clock, "news");
//   if (!(co_await reader.Subscribe()).ok()) co_return;
//   std::optional<std::string> payload = co_await reader.Next(absl::Seconds(15));
//
// The subscription must be a connection of its own; the reader is its listener until it is
// destroyed. Subscription and clock must outlive the reader.
//
// Thread-safety: as the subscription.
#ifndef REDOUBLE_CORE_STORE_PUBSUB_CHANNEL_READER_H_
#define REDOUBLE_CORE_STORE_PUBSUB_CHANNEL_READER_H_

#include <coroutine>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/channel.h"

namespace redouble::inline v0_1::store {

class ChannelReader final : public PushListener {
 public:
  // Reads the channel of this name.
  ChannelReader(MessageSource& subscription, base::Clock& clock, std::string channel);
  // Reads a channel that may be sharded. In a cluster the subscription must then be one that
  // follows slots.
  ChannelReader(MessageSource& subscription, base::Clock& clock, Channel channel);
  ~ChannelReader() override;
  ChannelReader(const ChannelReader&) = delete;
  ChannelReader& operator=(const ChannelReader&) = delete;

  // Subscribes to the channel, with SSUBSCRIBE if it is sharded. One round trip. Errors: those of
  // the store.
  base::Task<absl::Status> Subscribe();

  // Returns the next payload, or nullopt if none arrives within `patience`, or if there is a gap;
  // waits without a timeout if `patience` is nullopt. One call at a time. Destroying the task does
  // not lose a payload.
  base::Task<std::optional<std::string>> Next(std::optional<absl::Duration> patience);

  // Returns true if there was a gap since the last call: the connection was lost, and messages may
  // be missing before the payloads that Next has not returned yet. Ask after each Next.
  bool TakeGap() { return std::exchange(has_gap_, false); }

  void OnPush(const Reply& push) override;
  void OnGap() override;

 private:
  class PayloadAwaiter;

  base::Task<void> WaitForPayload();

  MessageSource& subscription_;
  base::Clock& clock_;
  const Channel channel_;
  std::deque<std::string> payloads_;
  bool has_gap_ = false;
  std::coroutine_handle<> awaiting_;
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_PUBSUB_CHANNEL_READER_H_
