// ChannelReader: the payloads of one channel in the order in which they were published, each waited
// for in its turn.
//
// Why it exists: whoever follows a channel from a coroutine needs a queue between the listener and
// itself. From the subscription on nothing is lost: what comes while nobody waits is kept.
//
//   store::ChannelReader reader(subscription, clock, "news");
//   if (!(co_await reader.Subscribe()).ok()) co_return;
//   std::optional<std::string> payload = co_await reader.Next(absl::Seconds(15));
//
// Thread-safety: as the store. The subscription is a connection of its own, and this is its
// listener until it is destroyed; subscription and clock outlive it.
#ifndef REDOUBLE_CORE_STORE_CHANNEL_READER_H_
#define REDOUBLE_CORE_STORE_CHANNEL_READER_H_

#include <coroutine>
#include <deque>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/task.h"
#include "core/store/message_source.h"

namespace redouble::store {

class ChannelReader final : public PushListener {
 public:
  ChannelReader(MessageSource& subscription, base::Clock& clock, std::string channel);
  ~ChannelReader() override;
  ChannelReader(const ChannelReader&) = delete;
  ChannelReader& operator=(const ChannelReader&) = delete;

  // SUBSCRIBE: one round trip. Errors: those of the store.
  base::Task<absl::Status> Subscribe();

  // The next payload; none when `patience` has passed without one. Without `patience` it waits for
  // ever. One call at a time; a task that is destroyed takes nothing.
  base::Task<std::optional<std::string>> Next(std::optional<absl::Duration> patience);

  void OnPush(const Reply& push) override;

 private:
  class PayloadAwaiter;

  base::Task<void> WaitForPayload();

  MessageSource& subscription_;
  base::Clock& clock_;
  const std::string channel_;
  std::deque<std::string> payloads_;
  std::coroutine_handle<> awaiting_;
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_CHANNEL_READER_H_
