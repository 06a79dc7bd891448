#include "redouble/core/studio/events/event_stream.h"

#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::studio {
namespace {

absl::Status Gap() {
  return absl::UnavailableError("the connection was lost and came back: events may be missing");
}

}  // namespace

std::string StreamFrame::Text() const {
  if (kind == Kind::kReady) return std::string(base::kReadyText);
  if (kind == Kind::kKeepAlive) return std::string(base::kKeepAliveText);
  // Formatting fails only for a lone surrogate, because the event was parsed from JSON.
  return base::FormatServerSentEvent(
      {event.dedupe_key, "event", python::PydanticJson(ToValue(event)).value_or("null")});
}

EventStream::EventStream(store::MessageSource& subscription, base::Clock& clock,
                         store::Channel channel, std::optional<absl::Duration> keep_alive)
    : messages_(subscription, clock, std::move(channel)), keep_alive_(keep_alive) {}

base::Task<absl::StatusOr<StreamFrame>> EventStream::Next() {
  StreamFrame frame;
  if (state_ == State::kNew) {
    state_ = State::kReady;
    co_return frame;
  }
  if (state_ == State::kReady) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await messages_.Subscribe());
    state_ = State::kFollowing;
  }
  while (true) {
    if (messages_.TakeGap()) co_return Gap();
    const std::optional<std::string> payload = co_await messages_.Next(keep_alive_);
    if (!payload && messages_.TakeGap()) co_return Gap();
    if (!payload) {
      frame.kind = StreamFrame::Kind::kKeepAlive;
      co_return frame;
    }
    absl::StatusOr<ControlPlaneEvent> event = ParseControlPlaneEvent(*payload);
    if (!event.ok()) continue;
    frame.kind = StreamFrame::Kind::kEvent;
    frame.event = *std::move(event);
    co_return frame;
  }
}

}  // namespace redouble::inline v0_1::studio
