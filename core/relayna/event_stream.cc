#include "core/relayna/event_stream.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/resume.h"
#include "core/base/run.h"
#include "core/python/json.h"
#include "core/python/text.h"
#include "core/relayna/tokens.h"
#include "core/store/pubsub.h"

namespace redouble::relayna {

using python::Value;

std::string StreamFrame::Text() const {
  if (kind == Kind::kReady) return "event: ready\ndata: {}\n\n";
  if (kind == Kind::kKeepAlive) return ": keep-alive\n\n";
  std::string text;
  if (id) text = "id: " + *id + "\n";
  // What was read from JSON has no value that JSON does not have; a lone surrogate has no UTF-8.
  return text + "event: status\ndata: " + python::PyJson(event).value_or("null") + "\n\n";
}

bool IsTerminal(const Value& event) {
  const Value* status = event.Find("status");
  if (status == nullptr || status->text() == nullptr) return false;
  const std::string lower = python::Lower(*status->text());
  return lower == "completed" || lower == "failed";
}

// Waits until there is a frame or the stream has ended.
class EventStream::MessageAwaiter {
 public:
  explicit MessageAwaiter(EventStream& stream) : stream_(stream) {}
  MessageAwaiter(const MessageAwaiter&) = delete;
  MessageAwaiter& operator=(const MessageAwaiter&) = delete;
  ~MessageAwaiter() {
    if (waits_) stream_.awaiting_ = {};
  }
  bool await_ready() const { return !stream_.frames_.empty() || stream_.ended_; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    stream_.awaiting_ = awaiting;
    waits_ = true;
  }
  void await_resume() { waits_ = false; }

 private:
  EventStream& stream_;
  bool waits_ = false;
};

EventStream::EventStream(store::MessageSource& subscription, StatusStore& statuses,
                         base::Clock& clock, StreamOptions options)
    : subscription_(subscription),
      statuses_(statuses),
      clock_(clock),
      options_(std::move(options)),
      channel_(statuses.ChannelOf(options_.task_id)) {
  subscription_.Listen(this);
}

EventStream::~EventStream() { subscription_.Listen(nullptr); }

void EventStream::OnPush(const store::Reply& push) {
  const std::optional<store::Message> message = store::ReadMessage(push);
  if (!message || message->channel != channel_ || ended_) return;
  if (!replayed_) {
    early_payloads_.push_back(message->payload);
    return;
  }
  OnPayload(message->payload);
  if (!frames_.empty() && awaiting_) base::Resume(std::exchange(awaiting_, {}));
}

void EventStream::OnPayload(const std::string& payload) {
  absl::StatusOr<Value> event = python::ParseJson(payload);
  if (!event.ok() || event->object() == nullptr) return;
  const std::optional<std::string> id = UsableEventId(*event);
  if (id && seen_ids_.contains(*id)) return;
  Enqueue(*std::move(event));
}

void EventStream::Enqueue(Value event) {
  if (ended_) return;
  ended_ = IsTerminal(event);
  std::optional<std::string> id = UsableEventId(event);
  if (id) seen_ids_.insert(*id);
  frames_.push_back({StreamFrame::Kind::kStatus, std::move(event), std::move(id)});
}

void EventStream::Replay(std::vector<Value> newest_first) {
  auto begin = newest_first.rbegin();
  if (options_.last_event_id) {
    const auto found = std::find_if(
        newest_first.rbegin(), newest_first.rend(),
        [this](const Value& event) { return UsableEventId(event) == options_.last_event_id; });
    if (found != newest_first.rend()) {
      for (; begin != found + 1; ++begin) {
        if (const auto id = UsableEventId(*begin)) seen_ids_.insert(*id);
      }
    }
  }
  for (; begin != newest_first.rend(); ++begin) Enqueue(std::move(*begin));
}

base::Task<absl::Status> EventStream::Begin() {
  const std::string_view channels[] = {channel_};
  const absl::Status subscribed = co_await store::Subscribe(subscription_, channels);
  if (!subscribed.ok()) co_return subscribed;
  absl::StatusOr<std::vector<Value>> history = co_await statuses_.GetHistory(options_.task_id);
  if (!history.ok()) co_return history.status();
  Replay(*std::move(history));
  replayed_ = true;
  for (const std::string& payload : std::exchange(early_payloads_, {})) OnPayload(payload);
  co_return absl::OkStatus();
}

base::Task<void> EventStream::WaitForMessage() { co_await MessageAwaiter(*this); }

// False when it was the time for a comment that came first.
base::Task<bool> EventStream::WaitForFrame() {
  if (!options_.keep_alive) {
    co_await WaitForMessage();
    co_return true;
  }
  std::vector<base::Task<void>> first;
  first.push_back(WaitForMessage());
  first.push_back(clock_.Sleep(*options_.keep_alive));
  co_return co_await base::WhenAny(std::move(first)) == 0;
}

base::Task<absl::StatusOr<std::optional<StreamFrame>>> EventStream::Next() {
  if (state_ == State::kNew) {
    state_ = State::kReady;
    co_return StreamFrame{};
  }
  if (state_ == State::kReady) {
    const absl::Status begun = co_await Begin();
    state_ = State::kFollowing;
    if (!begun.ok()) {
      ended_ = true;
      co_return begun;
    }
  }
  if (!co_await WaitForFrame()) {
    StreamFrame comment;
    comment.kind = StreamFrame::Kind::kKeepAlive;
    co_return comment;
  }
  if (frames_.empty()) co_return std::nullopt;
  StreamFrame frame = std::move(frames_.front());
  frames_.pop_front();
  co_return frame;
}

}  // namespace redouble::relayna
