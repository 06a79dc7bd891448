#include "backends/redis/fsm/exec_machine.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "backends/redis/protocol/command_writer.h"
#include "core/base/string_bridge.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

using store::Reply;
using store::Request;

constexpr size_t kInitialQueue = 64;

// hiredis moves what is left of a piece after each KiB it consumed, so pieces stay small.
constexpr size_t kFeedBytes = 16 * 1024;

// A buffer that one huge value has blown up is given back.
constexpr size_t kMaxIdleBytes = 4 * 1024 * 1024;

// "GET", "a pipeline of 3 commands": never an argument, which may be secret.
std::string Describe(const Request& request) {
  switch (request.kind()) {
    case Request::Kind::kCommand:
      return absl::AsciiStrToUpper(base::ToAbsl(request.commands()[0].name()));
    case Request::Kind::kPipeline:
      return absl::StrCat("a pipeline of ", request.commands().size(), " commands");
    case Request::Kind::kTransaction:
      return absl::StrCat("a transaction of ", request.commands().size(), " commands");
  }
  return "a request";
}

absl::Status NotSent(const std::string& message,
                     absl::StatusCode code = absl::StatusCode::kUnavailable) {
  return store::NotSentError(std::string_view(message), code);
}

absl::Status OutcomeUnknown(const std::string& message,
                            absl::StatusCode code = absl::StatusCode::kUnavailable) {
  return store::OutcomeUnknownError(std::string_view(message), code);
}

}  // namespace

ExecMachine::ExecMachine(ExecOptions options)
    : options_(std::move(options)), reader_(options_.max_reply_bytes), queue_(kInitialQueue) {}

ExecMachine::~ExecMachine() { Lose("the client was destroyed"); }

void ExecMachine::Submit(Request& request) {
  if (lost_) {
    return request.Complete(
        NotSent(absl::StrCat("not connected to ", options_.address, ": ", *lost_)));
  }
  if (std::optional<absl::Status> refusal = Refusal(request, options_.sharing)) {
    return request.Complete(*std::move(refusal));
  }
  if (queue_.full()) queue_.set_capacity(2 * queue_.capacity());
  queue_.push_back(Entry{&request, request.kind(), ReplyCount(request)});
  request.SetKeeper(this);
}

ExecAction ExecMachine::Resume(const ExecEvent& event) {
  if (lost_) return ExecAction{.close = true};
  switch (event.kind) {
    case ExecEvent::Kind::kTurnEnded:
      return EndTurn(event.now_us);
    case ExecEvent::Kind::kWritten:
      return TakeWritten(event.size);
    case ExecEvent::Kind::kReceived:
      return Receive(event.text);
    case ExecEvent::Kind::kTimer:
      return Expire(event.now_us);
    case ExecEvent::Kind::kLost:
      return Lose(event.text);
  }
  return {};
}

ExecAction ExecMachine::EndTurn(int64_t now_us) {
  if (options_.command_timeout_us != ExecOptions::kNoTimeout) {
    const int64_t deadline_us = now_us + options_.command_timeout_us;
    for (; stamped_ < queue_.size(); ++stamped_) queue_[stamped_].deadline_us = deadline_us;
  }
  if (abandoned_waiting_ > kInitialQueue && abandoned_waiting_ > queue_.size() / 2) {
    DropAbandonedWaiting();
  }
  const bool writing = out_written_ < out_.size();
  return {.write = writing ? std::string_view() : WriteMore(), .wake_at_us = ArmTimer()};
}

ExecAction ExecMachine::TakeWritten(size_t size) {
  out_written_ += size;
  bytes_written_ += size;
  if (out_written_ < out_.size()) return {.write = std::string_view(out_).substr(out_written_)};
  return {.write = WriteMore()};
}

// Encodes what waits, up to the limit of one write. Encoding late lets a request that times out
// behind a stalled connection be taken back.
std::string_view ExecMachine::WriteMore() {
  out_.clear();
  out_written_ = 0;
  if (out_.capacity() > kMaxIdleBytes) out_.shrink_to_fit();
  if (abandoned_waiting_ > 0) DropAbandonedWaiting();
  for (; handed_over_ < queue_.size() && out_.size() < options_.max_write_bytes; ++handed_over_) {
    Entry& entry = queue_[handed_over_];
    entry.first_byte = bytes_encoded_ + out_.size();
    AppendRequest(*entry.request, out_);
  }
  bytes_encoded_ += out_.size();
  return out_;
}

void ExecMachine::DropAbandonedWaiting() {
  const auto waiting = queue_.begin() + static_cast<std::ptrdiff_t>(handed_over_);
  const auto stamped =
      queue_.begin() + static_cast<std::ptrdiff_t>(std::max(stamped_, handed_over_));
  const auto is_abandoned = [](const Entry& entry) { return entry.request == nullptr; };
  const auto dropped_stamped = std::count_if(waiting, stamped, is_abandoned);
  queue_.erase(std::remove_if(waiting, queue_.end(), is_abandoned), queue_.end());
  stamped_ -= static_cast<size_t>(dropped_stamped);
  abandoned_waiting_ = 0;
}

// Deadlines grow along the queue, so one timer for the first is enough; it is not moved when that
// request is done before, which makes a timer cost nothing per command.
std::optional<int64_t> ExecMachine::ArmTimer() {
  if (timer_armed_) return std::nullopt;
  for (size_t i = 0; i < stamped_; ++i) {
    if (queue_[i].request == nullptr) continue;
    timer_armed_ = true;
    return queue_[i].deadline_us;
  }
  return std::nullopt;
}

ExecAction ExecMachine::Receive(std::string_view bytes) {
  Reply reply;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kFeedBytes);
    bytes.remove_prefix(piece.size());
    reader_.Feed(piece);
    ReplyReader::Outcome outcome = reader_.Next(reply);
    while (outcome == ReplyReader::Outcome::kReply) {
      if (!TakeReply(std::move(reply))) return {.close = true};
      outcome = reader_.Next(reply);
    }
    if (outcome == ReplyReader::Outcome::kFailed) {
      FailProtocol(reader_.status());
      return {.close = true};
    }
  }
  return {};
}

// False when the connection is lost by it.
bool ExecMachine::TakeReply(Reply reply) {
  if (handed_over_ == 0) {
    FailProtocol(store::ProtocolError("Redis sent a reply that nothing had asked for"));
    return false;
  }
  Entry& front = queue_.front();
  const bool collects = front.kind == Request::Kind::kPipeline && front.request != nullptr;
  if (collects) {
    if (front.replies.empty()) front.replies.reserve(front.missing_replies);
    front.replies.push_back(std::move(reply));
  }
  if (--front.missing_replies > 0) return true;
  Entry done = PopFront();
  if (done.request == nullptr) return true;
  done.request->Complete(collects ? Reply::Array(std::move(done.replies)) : std::move(reply));
  return !lost_;
}

ExecMachine::Entry ExecMachine::PopFront() {
  Entry entry = std::move(queue_.front());
  queue_.pop_front();
  if (handed_over_ > 0) --handed_over_;
  if (stamped_ > 0) --stamped_;
  if (search_hint_ > 0) --search_hint_;
  return entry;
}

ExecAction ExecMachine::Expire(int64_t now_us) {
  timer_armed_ = false;
  // A waiter may change the queue behind the entry it was called for, or lose the connection.
  for (size_t i = 0; !lost_ && i < stamped_ && queue_[i].deadline_us <= now_us; ++i) {
    if (queue_[i].request != nullptr) TimeOut(i);
  }
  if (lost_) return {.close = true};
  return {.wake_at_us = ArmTimer()};
}

void ExecMachine::TimeOut(size_t index) {
  Request& request = *std::exchange(queue_[index].request, nullptr);
  queue_[index].replies = {};
  const std::string limit = absl::FormatDuration(absl::Microseconds(options_.command_timeout_us));
  constexpr absl::StatusCode kCode = absl::StatusCode::kDeadlineExceeded;
  if (index < handed_over_) {
    request.Complete(OutcomeUnknown(
        absl::StrCat(options_.address, " did not answer ", Describe(request), " within ", limit),
        kCode));
  } else {
    ++abandoned_waiting_;
    request.Complete(NotSent(absl::StrCat(Describe(request), " could not be sent to ",
                                          options_.address, " within ", limit),
                             kCode));
  }
}

void ExecMachine::FailProtocol(absl::Status status) {
  lost_ = std::string(status.message());
  // The unreadable answer belongs to the first request.
  if (handed_over_ > 0) {
    const Entry first = PopFront();
    if (first.request != nullptr) first.request->Complete(std::move(status));
  }
  FailAll();
}

ExecAction ExecMachine::Lose(std::string_view reason) {
  if (!lost_) {
    lost_ = std::string(reason);
    FailAll();
  }
  return {.close = true};
}

void ExecMachine::FailAll() {
  const std::string lost_text =
      absl::StrCat("the connection to ", options_.address, " was lost (", *lost_, ") before ");
  while (!queue_.empty()) {
    const bool sent = handed_over_ > 0 && queue_.front().first_byte < bytes_written_;
    const Entry entry = PopFront();
    if (entry.request == nullptr) continue;
    const std::string text = absl::StrCat(lost_text, Describe(*entry.request));
    entry.request->Complete(sent ? OutcomeUnknown(absl::StrCat(text, " was answered"))
                                 : NotSent(absl::StrCat(text, " was sent")));
  }
}

void ExecMachine::Abandon(Request& request) {
  const size_t index = FindEntry(request);
  if (index == queue_.size()) return;
  queue_[index].request = nullptr;
  queue_[index].replies = {};
  if (index >= handed_over_) ++abandoned_waiting_;
  search_hint_ = index + 1;
}

size_t ExecMachine::FindEntry(const Request& request) const {
  const size_t size = queue_.size();
  const size_t start = search_hint_ < size ? search_hint_ : 0;
  for (size_t i = 0; i < size; ++i) {
    const size_t index = start + i < size ? start + i : start + i - size;
    if (queue_[index].request == &request) return index;
  }
  return size;
}

}  // namespace redouble::redis
