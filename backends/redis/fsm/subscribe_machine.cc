#include "backends/redis/fsm/subscribe_machine.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "backends/redis/protocol/command_writer.h"
#include "core/base/string_bridge.h"
#include "core/store/command.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

using store::Reply;
using store::Request;

struct KindRow {
  std::string_view subscribe;
  std::string_view unsubscribe;
};
constexpr std::array kTable = {
    KindRow{"subscribe", "unsubscribe"},
    KindRow{"psubscribe", "punsubscribe"},
    KindRow{"ssubscribe", "sunsubscribe"},
};

constexpr std::string_view kPong = "pong";

// Names in one command when all is subscribed to again.
constexpr size_t kNamesAtOnce = 1000;

bool SameWord(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(base::ToAbsl(a), base::ToAbsl(b));
}

std::string UpperName(const Request& request) {
  return absl::AsciiStrToUpper(base::ToAbsl(request.commands()[0].name()));
}

absl::Status Failed(bool sent, const std::string& message,
                    absl::StatusCode code = absl::StatusCode::kUnavailable) {
  const std::string_view text = message;
  return sent ? store::OutcomeUnknownError(text, code) : store::NotSentError(text, code);
}

// The word that says what a push is; empty for what is no push.
std::string_view WordOf(const Reply& reply) {
  if (!reply.is_array() || reply.elements().empty() || !reply.elements()[0].is_bulk()) return {};
  return reply.elements()[0].text();
}

bool IsMessage(std::string_view word) {
  return word == "message" || word == "pmessage" || word == "smessage";
}

}  // namespace

SubscribeMachine::SubscribeMachine(SubscribeOptions options)
    : options_(std::move(options)),
      counters_(options_.counters == nullptr ? unread_counters_ : *options_.counters) {
  static_assert(kTable.size() == kKinds);
}

SubscribeMachine::~SubscribeMachine() { Disconnect("the subscriber was destroyed", true); }

void SubscribeMachine::Submit(Request& request) {
  ++counters_.requests;
  ++counters_.commands;
  ++counters_.in_flight;
  if (closed_) {
    return Fail(request,
                Failed(false, absl::StrCat("not connected to ", options_.address, ": ", reason_)));
  }
  Entry entry{&request, {}, {}};
  const std::string_view name = request.commands()[0].name();
  const size_t arguments = request.commands()[0].arguments().size();
  if (request.kind() == Request::Kind::kCommand) {
    if (SameWord(name, "ping") && arguments == 0) entry.expected = kPong;
    for (size_t kind = 0; kind < kKinds; ++kind) {
      if (SameWord(name, kTable[kind].subscribe) && arguments > 0) {
        entry.expected = kTable[kind].subscribe;
      } else if (SameWord(name, kTable[kind].unsubscribe)) {
        entry.expected = kTable[kind].unsubscribe;
      } else {
        continue;
      }
      entry.kind = kind;
      entry.missing = arguments;
    }
  }
  if (entry.expected.empty()) {
    return Fail(request, store::NotSentError("a connection for subscriptions carries SUBSCRIBE, "
                                             "UNSUBSCRIBE, their kin and PING only",
                                             absl::StatusCode::kFailedPrecondition));
  }
  AppendRequest(request, entry.bytes);
  entries_.push_back(std::move(entry));
  request.SetKeeper(this);
}

void SubscribeMachine::Ping() {
  Entry entry{nullptr, "*1\r\n$4\r\nPING\r\n", kPong};
  entry.is_own = true;
  ++counters_.pings;
  entries_.push_back(std::move(entry));
}

LineAction SubscribeMachine::Resume(const LineEvent& event) {
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

LineAction SubscribeMachine::Connect(int64_t now_us) {
  connected_ = true;
  reader_.emplace();
  for (size_t kind = 0; kind < kKinds; ++kind) SubscribeAgain(kind);
  return EndTurn(now_us);
}

// In front of what waits, so that an UNSUBSCRIBE that waits has the last word.
void SubscribeMachine::SubscribeAgain(size_t kind) {
  auto name = subscribed_[kind].begin();
  while (name != subscribed_[kind].end()) {
    store::Command command = store::Command::Named(kTable[kind].subscribe);
    Entry entry{nullptr, {}, kTable[kind].subscribe, kind, 0, true};
    for (; name != subscribed_[kind].end() && entry.missing < kNamesAtOnce; ++name) {
      command.Add(*name);
      ++entry.missing;
    }
    AppendCommand(command, entry.bytes);
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(restoring_), std::move(entry));
    ++restoring_;
  }
}

LineAction SubscribeMachine::EndTurn(int64_t now_us) {
  for (Entry& entry : entries_) {
    if (entry.submitted_us != 0 || entry.is_own) continue;
    entry.submitted_us = now_us;
    if (options_.command_timeout_us < SubscribeOptions::kNoTimeout - now_us) {
      entry.deadline_us = now_us + options_.command_timeout_us;
    }
  }
  const bool writing = out_written_ < out_.size();
  return {.write = writing ? std::string_view() : WriteMore(), .wake_at_us = ArmTimer()};
}

LineAction SubscribeMachine::TakeWritten(size_t size) {
  out_written_ += size;
  bytes_written_ += size;
  if (out_written_ < out_.size()) {
    return {.write = std::string_view(out_).substr(out_written_), .wake_at_us = {}};
  }
  return {.write = WriteMore(), .wake_at_us = {}};
}

std::string_view SubscribeMachine::WriteMore() {
  out_.clear();
  out_written_ = 0;
  if (!connected_) return out_;
  for (; handed_over_ < entries_.size(); ++handed_over_) {
    Entry& entry = entries_[handed_over_];
    entry.first_byte = bytes_encoded_ + out_.size();
    out_ += std::exchange(entry.bytes, {});
  }
  bytes_encoded_ += out_.size();
  return out_;
}

std::optional<int64_t> SubscribeMachine::ArmTimer() {
  int64_t next_us = SubscribeOptions::kNoTimeout;
  for (const Entry& entry : entries_) {
    if (entry.request != nullptr) next_us = std::min(next_us, entry.deadline_us);
  }
  if (next_us >= armed_us_) return std::nullopt;
  armed_us_ = next_us;
  return next_us;
}

LineAction SubscribeMachine::Expire(int64_t now_us) {
  armed_us_ = SubscribeOptions::kNoTimeout;
  for (size_t i = 0; i < entries_.size();) {
    Entry& entry = entries_[i];
    if (entry.request == nullptr || entry.deadline_us > now_us) {
      ++i;
      continue;
    }
    Request& request = *std::exchange(entry.request, nullptr);
    const bool sent = i < handed_over_;
    const std::string limit =
        absl::FormatDuration(absl::Microseconds(entry.deadline_us - entry.submitted_us));
    // What was not sent is taken back; what was will be confirmed to nobody.
    if (!sent) entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
    failures_.push_back(
        {&request, Failed(sent,
                          sent ? absl::StrCat(options_.address, " did not answer ",
                                              UpperName(request), " within ", limit)
                               : absl::StrCat(UpperName(request), " could not be sent to ",
                                              options_.address, " within ", limit),
                          absl::StatusCode::kDeadlineExceeded)});
  }
  Deliver();
  if (closed_) return {.close = true};
  return {.write = {}, .wake_at_us = ArmTimer()};
}

LineAction SubscribeMachine::Receive(std::string_view bytes, int64_t now_us) {
  reader_->Feed(bytes);
  Reply reply;
  ReplyReader::Outcome outcome = reader_->Next(reply);
  for (; outcome == ReplyReader::Outcome::kReply; outcome = reader_->Next(reply)) {
    if (!Take(std::move(reply), now_us)) {
      return connected_ ? FailProtocol("Redis sent a reply that nothing had asked for")
                        : LineAction{.close = true};
    }
  }
  if (outcome == ReplyReader::Outcome::kFailed) {
    return FailProtocol(base::ToStd(reader_->status().message()));
  }
  return {};
}

// False when the connection is of no more use.
bool SubscribeMachine::Take(Reply reply, int64_t now_us) {
  const std::string_view word = WordOf(reply);
  if (IsMessage(word)) {
    Push({std::move(reply)});
    return true;
  }
  const bool is_pong = word == kPong || reply == Reply::Status("PONG");
  const std::string_view answers = is_pong ? kPong : word;
  if (handed_over_ > 0 && (reply.is_error() || entries_.front().expected == answers)) {
    return reply.is_error() ? TakeError(std::move(reply)) : TakeAnswer(std::move(reply), now_us);
  }
  // A cluster ends subscriptions to shard channels by itself when their slot moves.
  if (word != kTable[2].unsubscribe) return false;
  Remember(reply);
  Push({std::move(reply)});
  return true;
}

// A confirmation of the first entry.
bool SubscribeMachine::TakeAnswer(Reply reply, int64_t now_us) {
  Entry& entry = entries_.front();
  if (entry.missing == 0) entry.missing = std::max<size_t>(1, subscribed_[entry.kind].size());
  if (entry.kind < kKinds) Remember(reply);
  Request* const request = std::exchange(entry.request, nullptr);
  const int64_t submitted_us = entry.submitted_us;
  const bool is_own = entry.is_own;
  // The answer of a request that gave up is a push to nobody.
  const bool is_push = request == nullptr && !is_own && entry.kind < kKinds;
  if (--entry.missing == 0) {
    const bool restores = is_own && entry.kind < kKinds;
    entries_.pop_front();
    --handed_over_;
    if (restores && --restoring_ == 0) Push({});
  }
  if (is_push) Push({std::move(reply)});
  if (request == nullptr) return true;
  ++counters_.answered;
  --counters_.in_flight;
  counters_.latency.Record(now_us - submitted_us);
  request->Complete(std::move(reply));
  return connected_;
}

bool SubscribeMachine::TakeError(Reply reply) {
  const Entry entry = std::move(entries_.front());
  entries_.pop_front();
  --handed_over_;
  if (entry.is_own && entry.kind < kKinds) {
    // What was granted before is refused now: the connection is given up, and tried again later.
    reason_ = reply.text();
    return false;
  }
  if (entry.request == nullptr) return true;
  ++counters_.answered;
  --counters_.in_flight;
  entry.request->Complete(std::move(reply));
  return connected_;
}

void SubscribeMachine::Remember(const Reply& push) {
  const std::vector<Reply>& parts = push.elements();
  if (parts.size() < 2 || !parts[1].is_bulk()) return;
  for (size_t kind = 0; kind < kKinds; ++kind) {
    if (parts[0].text() == kTable[kind].subscribe) subscribed_[kind].insert(parts[1].text());
    if (parts[0].text() == kTable[kind].unsubscribe) subscribed_[kind].erase(parts[1].text());
  }
}

void SubscribeMachine::Push(PushEvent event) {
  if (event.is_gap()) {
    if (pushes_.empty() || !pushes_.back().is_gap()) pushes_.push_back(std::move(event));
    return;
  }
  ++counters_.pushes;
  const bool has_gap = !pushes_.empty() && pushes_.front().is_gap();
  if (pushes_.size() - (has_gap ? 1 : 0) >= options_.push_queue) {
    ++counters_.pushes_dropped;
    // The oldest push goes, and a gap stands in front.
    if (has_gap) pushes_.pop_front();
    pushes_.pop_front();
    if (pushes_.empty() || !pushes_.front().is_gap()) pushes_.push_front({});
  }
  pushes_.push_back(std::move(event));
}

std::optional<PushEvent> SubscribeMachine::TakePush() {
  if (pushes_.empty()) return std::nullopt;
  PushEvent event = std::move(pushes_.front());
  pushes_.pop_front();
  return event;
}

LineAction SubscribeMachine::FailProtocol(std::string_view reason) {
  return Disconnect(reason, !options_.reconnects);
}

LineAction SubscribeMachine::Disconnect(std::string_view reason, bool for_good) {
  const bool was_connected = std::exchange(connected_, false);
  if (!closed_) {
    closed_ = for_good;
    reason_ = std::string(reason);
    if (was_connected || closed_) FailEntries();
  }
  Deliver();
  return {.close = true};
}

void SubscribeMachine::FailEntries() {
  const std::string lost_text =
      absl::StrCat("the connection to ", options_.address, " was lost (", reason_, ") before ");
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.request == nullptr) continue;
    const bool sent = i < handed_over_ && entry.first_byte < bytes_written_;
    failures_.push_back(
        {entry.request, Failed(sent, absl::StrCat(lost_text, UpperName(*entry.request),
                                                  sent ? " was answered" : " was sent"))});
  }
  entries_.clear();
  handed_over_ = 0;
  restoring_ = 0;
  out_.clear();
  out_written_ = 0;
  bytes_encoded_ = bytes_written_;
}

void SubscribeMachine::Deliver() {
  while (!failures_.empty()) {
    Failure failure = std::move(failures_.front());
    failures_.pop_front();
    if (failure.request != nullptr) Fail(*failure.request, std::move(failure.status));
  }
}

void SubscribeMachine::Fail(Request& request, absl::Status status) {
  --counters_.in_flight;
  const std::optional<store::ErrorKind> kind = store::ErrorKindOf(status);
  if (kind == store::ErrorKind::kNotSent) ++counters_.not_sent;
  if (kind == store::ErrorKind::kOutcomeUnknown) ++counters_.outcome_unknown;
  if (status.code() == absl::StatusCode::kDeadlineExceeded) ++counters_.timeouts;
  request.Complete(std::move(status));
}

// What is on its way is confirmed to nobody; what was not sent is still sent, since the caller may
// count on the subscription that it did not wait for.
void SubscribeMachine::Abandon(Request& request) {
  ++counters_.abandoned;
  --counters_.in_flight;
  for (Entry& entry : entries_) {
    if (entry.request == &request) entry.request = nullptr;
  }
  for (Failure& failure : failures_) {
    if (failure.request == &request) failure.request = nullptr;
  }
}

size_t SubscribeMachine::subscriptions() const {
  return subscribed_[0].size() + subscribed_[1].size() + subscribed_[2].size();
}

}  // namespace redouble::redis
