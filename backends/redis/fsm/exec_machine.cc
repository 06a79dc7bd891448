#include "backends/redis/fsm/exec_machine.h"

#include <algorithm>
#include <span>
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

class ExecMachine::PingRequest final : public Request {
 public:
  PingRequest() : Request(Kind::kCommand, std::span(&Command(), 1)) {}

 private:
  static const store::Command& Command() {
    static const store::Command ping = store::Command::Named("PING");
    return ping;
  }
  // Whatever comes is a sign of life, and nothing that comes does not end the connection by itself.
  void OnComplete(absl::StatusOr<Reply>&&) override {}
};

ExecOptions ExecOptions::From(const Options& options, Sharing sharing) {
  ExecOptions exec;
  exec.address = options.AddressUri();
  exec.sharing = sharing;
  if (options.command_timeout != absl::InfiniteDuration()) {
    exec.command_timeout_us = absl::ToInt64Microseconds(options.command_timeout);
  }
  if (options.blocking_timeout != absl::InfiniteDuration()) {
    exec.blocking_timeout_us = absl::ToInt64Microseconds(options.blocking_timeout);
  }
  exec.reconnects = options.reconnect && sharing == Sharing::kShared;
  exec.retry = options.retry;
  exec.attempts = options.attempts;
  exec.queue_limit = static_cast<size_t>(options.queue_limit);
  return exec;
}

ExecMachine::ExecMachine(ExecOptions options)
    : options_(std::move(options)),
      counters_(options_.counters == nullptr ? unread_counters_ : *options_.counters),
      reader_(std::in_place, options_.max_reply_bytes),
      queue_(kInitialQueue),
      connected_(options_.connected),
      reason_("there was no connection yet") {}

ExecMachine::~ExecMachine() { Disconnect("the client was destroyed", true); }

void ExecMachine::Submit(Request& request) {
  ++counters_.requests;
  counters_.commands += request.commands().size();
  ++counters_.in_flight;
  if (closed_) {
    return Fail(request,
                NotSent(absl::StrCat("not connected to ", options_.address, ": ", reason_)));
  }
  if (std::optional<absl::Status> refusal = Refusal(request, options_.sharing)) {
    return Fail(request, *std::move(refusal));
  }
  if (queue_.size() >= options_.queue_limit) {
    return Fail(request, NotSent(absl::StrCat(queue_.size(), " requests wait for ",
                                              options_.address, " already"),
                                 absl::StatusCode::kResourceExhausted));
  }
  if (queue_.full()) queue_.set_capacity(2 * queue_.capacity());
  queue_.push_back(Entry{&request, request.kind(), ReplyCount(request)});
  request.SetKeeper(this);
}

void ExecMachine::Ping() {
  if (ping_ != nullptr && !ping_->completed()) return;
  ++counters_.pings;
  ping_ = std::make_unique<PingRequest>();
  Submit(*ping_);
}

// Counts the failure and tells the waiter.
void ExecMachine::Fail(Request& request, absl::Status status) {
  --counters_.in_flight;
  const std::optional<store::ErrorKind> kind = store::ErrorKindOf(status);
  if (kind == store::ErrorKind::kNotSent) ++counters_.not_sent;
  if (kind == store::ErrorKind::kOutcomeUnknown) ++counters_.outcome_unknown;
  if (status.code() == absl::StatusCode::kDeadlineExceeded) ++counters_.timeouts;
  request.Complete(std::move(status));
}

LineAction ExecMachine::Resume(const LineEvent& event) {
  if (closed_) return LineAction{.close = true};
  switch (event.kind) {
    case LineEvent::Kind::kTurnEnded:
      return EndTurn(event.now_us);
    case LineEvent::Kind::kWritten:
      return TakeWritten(event.size);
    case LineEvent::Kind::kReceived:
      return Receive(event.text, event.now_us);
    case LineEvent::Kind::kTimer:
      return Expire(event.now_us);
    case LineEvent::Kind::kConnected:
      return Connect(event.now_us);
    case LineEvent::Kind::kLost:
      return Disconnect(event.text, !options_.reconnects);
    case LineEvent::Kind::kClosed:
      return Disconnect(event.text, true);
  }
  return {};
}

LineAction ExecMachine::Connect(int64_t now_us) {
  connected_ = true;
  reader_.emplace(options_.max_reply_bytes);
  return EndTurn(now_us);
}

LineAction ExecMachine::EndTurn(int64_t now_us) {
  for (; stamped_ < queue_.size(); ++stamped_) {
    Entry& entry = queue_[stamped_];
    const int64_t timeout_us = TimeoutOf(entry.request);
    entry.submitted_us = now_us;
    if (timeout_us < ExecOptions::kNoTimeout - now_us) entry.deadline_us = now_us + timeout_us;
  }
  if (abandoned_waiting_ > kInitialQueue && abandoned_waiting_ > queue_.size() / 2) {
    DropAbandonedWaiting();
  }
  const bool writing = out_written_ < out_.size();
  return {.write = writing ? std::string_view() : WriteMore(), .wake_at_us = ArmTimer()};
}

LineAction ExecMachine::TakeWritten(size_t size) {
  out_written_ += size;
  bytes_written_ += size;
  if (out_written_ < out_.size()) {
    return {.write = std::string_view(out_).substr(out_written_), .wake_at_us = {}};
  }
  return {.write = WriteMore(), .wake_at_us = {}};
}

// Encodes what waits, up to the limit of one write. Encoding late lets a request that times out
// behind a stalled connection be taken back.
std::string_view ExecMachine::WriteMore() {
  out_.clear();
  out_written_ = 0;
  if (out_.capacity() > kMaxIdleBytes) out_.shrink_to_fit();
  if (!connected_) return out_;
  if (abandoned_waiting_ > 0) DropAbandonedWaiting();
  for (; handed_over_ < queue_.size() && out_.size() < options_.max_write_bytes; ++handed_over_) {
    Entry& entry = queue_[handed_over_];
    entry.first_byte = bytes_encoded_ + out_.size();
    ++entry.attempts;
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

int64_t ExecMachine::TimeoutOf(const Request* request) const {
  if (IsMultiplexed(options_.sharing) || request == nullptr) {
    return options_.command_timeout_us;
  }
  const absl::Duration limit = BlockLimit(*request);
  if (limit == absl::ZeroDuration()) return options_.command_timeout_us;
  const absl::Duration whole = limit + absl::Microseconds(options_.command_timeout_us);
  return std::min(options_.blocking_timeout_us, absl::ToInt64Microseconds(whole));
}

// Deadlines grow along the queue of a shared connection, so one timer for the first is enough. It
// is not moved when that request is done before, which makes a timer cost nothing per command.
// Elsewhere the queue is short.
int64_t ExecMachine::NextDeadline() const {
  int64_t next_us = ExecOptions::kNoTimeout;
  for (size_t i = 0; i < stamped_; ++i) {
    if (queue_[i].request == nullptr) continue;
    next_us = std::min(next_us, queue_[i].deadline_us);
    if (IsMultiplexed(options_.sharing)) break;
  }
  return next_us;
}

std::optional<int64_t> ExecMachine::ArmTimer() {
  if (IsMultiplexed(options_.sharing) && armed_us_ != ExecOptions::kNoTimeout) {
    return std::nullopt;
  }
  const int64_t next_us = NextDeadline();
  if (next_us >= armed_us_) return std::nullopt;
  armed_us_ = next_us;
  return next_us;
}

LineAction ExecMachine::Receive(std::string_view bytes, int64_t now_us) {
  Reply reply;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kFeedBytes);
    bytes.remove_prefix(piece.size());
    reader_->Feed(piece);
    ReplyReader::Outcome outcome = reader_->Next(reply);
    while (outcome == ReplyReader::Outcome::kReply) {
      if (!TakeReply(std::move(reply), now_us)) return {.close = true};
      outcome = reader_->Next(reply);
    }
    if (outcome == ReplyReader::Outcome::kFailed) return FailProtocol(reader_->status());
  }
  return {};
}

// False when the connection is lost by it.
bool ExecMachine::TakeReply(Reply reply, int64_t now_us) {
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
  ++counters_.answered;
  --counters_.in_flight;
  if (done.submitted_us != 0) counters_.latency.Record(now_us - done.submitted_us);
  done.request->Complete(collects ? Reply::Array(std::move(done.replies)) : std::move(reply));
  return connected_;
}

ExecMachine::Entry ExecMachine::PopFront() {
  Entry entry = std::move(queue_.front());
  queue_.pop_front();
  if (handed_over_ > 0) --handed_over_;
  if (stamped_ > 0) --stamped_;
  if (search_hint_ > 0) --search_hint_;
  return entry;
}

LineAction ExecMachine::Expire(int64_t now_us) {
  armed_us_ = ExecOptions::kNoTimeout;
  const bool was_connected = connected_;
  // A waiter may change the queue behind the entry it was called for, or lose the connection.
  const bool in_order = IsMultiplexed(options_.sharing);
  for (size_t i = 0; i < stamped_; ++i) {
    if (queue_[i].deadline_us > now_us) {
      if (in_order) break;
    } else if (queue_[i].request != nullptr) {
      TimeOut(i);
    }
  }
  if (closed_ || was_connected != connected_) return {.close = true};
  return {.write = {}, .wake_at_us = ArmTimer()};
}

void ExecMachine::TimeOut(size_t index) {
  Request& request = *std::exchange(queue_[index].request, nullptr);
  queue_[index].replies = {};
  const std::string limit = absl::FormatDuration(
      absl::Microseconds(queue_[index].deadline_us - queue_[index].submitted_us));
  constexpr absl::StatusCode kCode = absl::StatusCode::kDeadlineExceeded;
  // What an earlier connection may have carried is no more known to be unsent.
  if (index < handed_over_ || queue_[index].was_sent) {
    if (index >= handed_over_) ++abandoned_waiting_;
    return Fail(request, OutcomeUnknown(absl::StrCat(options_.address, " did not answer ",
                                                     Describe(request), " within ", limit),
                                        kCode));
  }
  ++abandoned_waiting_;
  Fail(request,
       NotSent(
           absl::StrCat(Describe(request), " could not be sent to ", options_.address, " within ",
                        limit, connected_ ? "" : absl::StrCat(" (not connected: ", reason_, ")")),
           kCode));
}

LineAction ExecMachine::FailProtocol(absl::Status status) {
  // The unreadable answer belongs to the first request.
  if (handed_over_ > 0) {
    const Entry first = PopFront();
    if (first.request != nullptr) failures_.push_back({first.request, status});
  }
  return Disconnect(base::ToStd(status.message()), !options_.reconnects);
}

LineAction ExecMachine::Disconnect(std::string_view reason, bool for_good) {
  const bool was_connected = std::exchange(connected_, false);
  if (!closed_) {
    closed_ = for_good;
    reason_ = std::string(reason);
    // What waits already for the next connection goes on waiting when an attempt fails.
    if (was_connected || closed_) SortOut();
  }
  Deliver();
  return {.close = true};
}

// Parts what waits for the next connection from what fails with this one. Nobody is told yet: a
// waiter may submit, abandon, or close.
void ExecMachine::SortOut() {
  const std::string lost_text =
      absl::StrCat("the connection to ", options_.address, " was lost (", reason_, ") before ");
  const size_t stamped = stamped_;
  size_t kept_stamped = 0;
  boost::circular_buffer<Entry> kept(queue_.capacity());
  for (size_t i = 0; !queue_.empty(); ++i) {
    const bool handed_over = handed_over_ > 0;
    Entry entry = PopFront();
    const bool sent_now = handed_over && entry.first_byte < bytes_written_;
    if (handed_over && !sent_now) --entry.attempts;
    const bool sent = entry.was_sent || sent_now;
    if (entry.request == nullptr) continue;
    if (MayWriteAgain(entry, sent)) {
      if (handed_over) ++counters_.retries;
      entry.missing_replies = ReplyCount(*entry.request);
      entry.replies.clear();
      entry.was_sent = sent;
      if (i < stamped) ++kept_stamped;
      kept.push_back(std::move(entry));
      continue;
    }
    const std::string text = absl::StrCat(lost_text, Describe(*entry.request));
    failures_.push_back({entry.request, sent ? OutcomeUnknown(absl::StrCat(text, " was answered"))
                                             : NotSent(absl::StrCat(text, " was sent"))});
  }
  queue_ = std::move(kept);
  stamped_ = kept_stamped;
  handed_over_ = 0;
  abandoned_waiting_ = 0;
  search_hint_ = 0;
  out_.clear();
  out_written_ = 0;
  bytes_encoded_ = bytes_written_;
}

bool ExecMachine::MayWriteAgain(const Entry& entry, bool sent) const {
  if (closed_ || options_.retry == RetryPolicy::kNever) return false;
  if (entry.attempts >= options_.attempts) return false;
  return !sent || (options_.retry == RetryPolicy::kIdempotent && IsIdempotent(*entry.request));
}

bool ExecMachine::IsIdempotent(const Request& request) const {
  const auto only_reads = [](const store::Command& command) {
    return command.id() != store::CommandId::kUnknown &&
           store::SpecOf(command.id()).Has(store::command_flag::kReadOnly);
  };
  const auto commands = request.commands();
  if (std::all_of(commands.begin(), commands.end(), only_reads)) return true;
  return options_.is_idempotent && options_.is_idempotent(request);
}

void ExecMachine::Deliver() {
  while (!failures_.empty()) {
    Failure failure = std::move(failures_.front());
    failures_.pop_front();
    if (failure.request != nullptr) Fail(*failure.request, std::move(failure.status));
  }
}

void ExecMachine::Abandon(Request& request) {
  ++counters_.abandoned;
  --counters_.in_flight;
  const size_t index = FindEntry(request);
  if (index == queue_.size()) {
    for (Failure& failure : failures_) {
      if (failure.request == &request) failure.request = nullptr;
    }
    return;
  }
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
