#include "redouble/core/relayna/event_stream.h"

#include <algorithm>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"
#include "redouble/core/python/text.h"
#include "redouble/core/relayna/tokens.h"

namespace redouble::inline v0_1::relayna {

using python::Value;

namespace {

absl::Status AttributeError(std::string_view message) {
  return python::Error(absl::StatusCode::kInvalidArgument, "AttributeError", message);
}

// Returns Python's dict(item). Errors: TypeError, ValueError. An array of pairs, of which Python
// makes a dict too, is refused.
absl::StatusOr<Value> DictOf(Value item) {
  if (item.object() != nullptr) return item;
  const bool is_sequence = item.array() != nullptr || item.text() != nullptr;
  if (is_sequence && !item.IsTruthy()) return Value(python::Object());
  if (item.text() != nullptr) return python::ValueError("an event is a text");
  return python::TypeError("an event is no object");
}

}  // namespace

std::string StreamFrame::Text() const {
  if (kind == Kind::kReady) return std::string(base::kReadyText);
  if (kind == Kind::kKeepAlive) return std::string(base::kKeepAliveText);
  // Formatting fails only for a lone surrogate, because the event was parsed from JSON.
  return base::FormatServerSentEvent({id, "status", python::PyJson(event).value_or("null")});
}

bool IsTerminal(const Value& event, const absl::btree_set<std::string>& statuses) {
  const Value* status = event.Find("status");
  if (status == nullptr || status->text() == nullptr || status->text()->empty()) return false;
  const std::string lower = python::Lower(*status->text());
  return std::any_of(statuses.begin(), statuses.end(),
                     [&](const std::string& one) { return python::Lower(one) == lower; });
}

bool IsTerminal(const Value& event) {
  static const absl::btree_set<std::string>& statuses =
      *new absl::btree_set<std::string>{"completed", "failed"};
  return IsTerminal(event, statuses);
}

EventStream::EventStream(store::MessageSource& subscription, StatusStore& statuses,
                         base::Clock& clock, StreamOptions options)
    : statuses_(statuses),
      options_(std::move(options)),
      messages_(subscription, clock, statuses.ChannelToFollow(options_.task_id)) {}

void EventStream::Fail(absl::Status failure) {
  ended_ = true;
  failure_ = std::move(failure);
}

void EventStream::Follow(const std::string& payload) {
  absl::StatusOr<Value> item = python::ParseJson(payload);
  if (!item.ok()) {
    if (python::ErrorType(item.status()) != "JSONDecodeError") Fail(item.status());
    return;
  }
  absl::StatusOr<Value> event = Adapted(*std::move(item));
  if (event.ok()) {
    const std::optional<std::string> id = UsableEventId(*event);
    if (id && seen_ids_.contains(*id)) return;
  }
  Enqueue(std::move(event));
}

absl::StatusOr<Value> EventStream::Adapted(Value item) const {
  REDOUBLE_ASSIGN_OR_RETURN(Value event, DictOf(std::move(item)));
  return options_.adapter ? options_.adapter(std::move(event)) : event;
}

void EventStream::Enqueue(absl::StatusOr<Value> event) {
  if (ended_) return;
  if (!event.ok()) return Fail(event.status());
  const Value* status = event->Find("status");
  if (status != nullptr && status->IsTruthy() && status->text() == nullptr) {
    Fail(AttributeError("the status is no text"));
  } else {
    ended_ = options_.terminal_statuses ? IsTerminal(*event, *options_.terminal_statuses)
                                        : IsTerminal(*event);
  }
  std::optional<std::string> id = UsableEventId(*event);
  if (id) seen_ids_.insert(*id);
  frames_.push_back({StreamFrame::Kind::kStatus, *std::move(event), std::move(id)});
}

void EventStream::Replay(std::vector<Value> newest_first, size_t count) {
  for (; count > 0; --count) Enqueue(Adapted(std::move(newest_first[count - 1])));
}

void EventStream::ReplayFromTheStart(std::vector<Value> newest_first) {
  size_t count = newest_first.size();
  if (options_.last_event_id) {
    const auto found =
        std::find_if(newest_first.rbegin(), newest_first.rend(), [this](const Value& item) {
          return item.object() == nullptr || UsableEventId(item) == options_.last_event_id;
        });
    if (found != newest_first.rend()) {
      if (found->object() == nullptr) return Fail(AttributeError("an item is no object"));
      count = static_cast<size_t>(newest_first.rend() - found) - 1;
    }
  }
  Replay(std::move(newest_first), count);
}

bool EventStream::WasSent(const Value& item) const {
  const absl::StatusOr<Value> event = Adapted(item);
  if (!event.ok()) return false;
  const std::optional<std::string> id = UsableEventId(*event);
  return id && seen_ids_.contains(*id);
}

base::Task<absl::Status> EventStream::Begin() {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await messages_.Subscribe());
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Value> history,
                               co_await statuses_.GetHistory(options_.task_id));
  ReplayFromTheStart(std::move(history));
  co_return absl::OkStatus();
}

base::Task<absl::Status> EventStream::CatchUp() {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Value> history,
                               co_await statuses_.GetHistory(options_.task_id));
  const auto newest_sent = std::find_if(history.begin(), history.end(),
                                        [this](const Value& item) { return WasSent(item); });
  if (newest_sent == history.end()) {
    ReplayFromTheStart(std::move(history));
  } else {
    const auto missed = static_cast<size_t>(newest_sent - history.begin());
    Replay(std::move(history), missed);
  }
  co_return absl::OkStatus();
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
  while (frames_.empty()) {
    if (!failure_.ok()) co_return std::exchange(failure_, absl::OkStatus());
    if (ended_) co_return std::nullopt;
    const std::optional<std::string> payload = co_await messages_.Next(options_.keep_alive);
    const bool has_gap = messages_.TakeGap();
    if (has_gap) {
      const absl::Status caught_up = co_await CatchUp();
      if (!caught_up.ok()) {
        ended_ = true;
        co_return caught_up;
      }
    } else if (!payload) {
      StreamFrame comment;
      comment.kind = StreamFrame::Kind::kKeepAlive;
      co_return comment;
    }
    if (payload) Follow(*payload);
  }
  StreamFrame frame = std::move(frames_.front());
  frames_.pop_front();
  co_return frame;
}

}  // namespace redouble::inline v0_1::relayna
