#include "redouble/core/store/pubsub/channel_reader.h"

#include <utility>
#include <vector>

#include "redouble/core/base/task/resume.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/pubsub/pubsub.h"

namespace redouble::inline v0_1::store {

// Waits for a payload.
class ChannelReader::PayloadAwaiter {
 public:
  explicit PayloadAwaiter(ChannelReader& reader) : reader_(reader) {}
  PayloadAwaiter(const PayloadAwaiter&) = delete;
  PayloadAwaiter& operator=(const PayloadAwaiter&) = delete;
  ~PayloadAwaiter() {
    if (waits_) reader_.awaiting_ = {};
  }
  bool await_ready() const { return !reader_.payloads_.empty() || reader_.has_gap_; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    reader_.awaiting_ = awaiting;
    waits_ = true;
  }
  void await_resume() { waits_ = false; }

 private:
  ChannelReader& reader_;
  bool waits_ = false;
};

ChannelReader::ChannelReader(MessageSource& subscription, base::Clock& clock, std::string channel)
    : ChannelReader(subscription, clock, Channel{std::move(channel), /*sharded=*/false}) {}

ChannelReader::ChannelReader(MessageSource& subscription, base::Clock& clock, Channel channel)
    : subscription_(subscription), clock_(clock), channel_(std::move(channel)) {
  subscription_.Listen(this);
}

ChannelReader::~ChannelReader() { subscription_.Listen(nullptr); }

void ChannelReader::OnPush(const Reply& push) {
  std::optional<Message> message = ReadMessage(push);
  if (!message || Channel{message->channel, message->sharded} != channel_) return;
  payloads_.push_back(std::move(message->payload));
  if (awaiting_) base::Resume(std::exchange(awaiting_, {}));
}

void ChannelReader::OnGap() {
  has_gap_ = true;
  if (awaiting_) base::Resume(std::exchange(awaiting_, {}));
}

base::Task<absl::Status> ChannelReader::Subscribe() {
  co_return co_await SubscribeTo(subscription_, channel_);
}

base::Task<void> ChannelReader::WaitForPayload() { co_await PayloadAwaiter(*this); }

base::Task<std::optional<std::string>> ChannelReader::Next(std::optional<absl::Duration> patience) {
  std::vector<base::Task<void>> first;
  first.push_back(WaitForPayload());
  if (patience) first.push_back(clock_.Sleep(*patience));
  co_await base::WhenAny(std::move(first));
  if (payloads_.empty()) co_return std::nullopt;
  std::string payload = std::move(payloads_.front());
  payloads_.pop_front();
  co_return payload;
}

}  // namespace redouble::inline v0_1::store
