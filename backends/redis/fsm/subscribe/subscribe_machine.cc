#include "redouble/backends/redis/fsm/subscribe/subscribe_machine.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/resp/command_writer.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;
using store::Request;

constexpr std::string_view kPong = "pong";

// How many names one command carries when the machine subscribes again.
constexpr size_t kNamesAtOnce = 1000;

bool IsPing(const Request& request) {
  return request.kind() == Request::Kind::kCommand && request.commands()[0].arguments().empty() &&
         absl::EqualsIgnoreCase(base::ToAbsl(request.commands()[0].name()), "ping");
}

std::string UpperName(const Request& request) {
  return absl::AsciiStrToUpper(base::ToAbsl(request.commands()[0].name()));
}

}  // namespace

SubscribeMachine::SubscribeMachine(SubscribeOptions options)
    : ConnectionMachine({.address = options.address,
                         .reconnects = options.reconnects,
                         .counters = options.counters}),
      options_(std::move(options)),
      pushes_(options_.push_queue) {}

SubscribeMachine::~SubscribeMachine() { Disconnect("the subscriber was destroyed", true); }

void SubscribeMachine::Submit(Request& request) {
  if (!Accept(request)) return;
  Entry entry{&request, {}, {}};
  if (const std::optional<TopicCommand> command = TopicCommandOf(request)) {
    const TopicWords& words = WordsOf(command->kind);
    entry.expected = command->subscribes ? words.subscribe : words.unsubscribe;
    entry.kind = static_cast<size_t>(command->kind);
    entry.missing = request.commands()[0].arguments().size();
  } else if (IsPing(request)) {
    entry.expected = kPong;
  }
  if (entry.expected.empty()) {
    return Fail(request, store::NotSentError("a connection for subscriptions carries SUBSCRIBE, "
                                             "UNSUBSCRIBE, their kin and PING only",
                                             absl::StatusCode::kFailedPrecondition));
  }
  if (std::optional<absl::Status> refusal =
          options_.queue.Refuse(entries_.size(), queued_bytes_, address())) {
    return Fail(request, *std::move(refusal));
  }
  AppendRequest(request, entry.bytes);
  queued_bytes_ += entry.bytes.size();
  entries_.push_back(std::move(entry));
  request.SetKeeper(this);
}

void SubscribeMachine::Ping() {
  Entry entry{nullptr, "*1\r\n$4\r\nPING\r\n", kPong};
  entry.is_own = true;
  ++counters().pings;
  entries_.push_back(std::move(entry));
}

// Reconnection.

void SubscribeMachine::OnConnected(const ConnectionEvent&) {
  for (size_t kind = 0; kind < kTopicKinds; ++kind) SubscribeAgain(kind);
}

// These commands precede the waiting ones, so that a waiting UNSUBSCRIBE takes effect after them.
void SubscribeMachine::SubscribeAgain(size_t kind) {
  auto name = subscribed_[kind].begin();
  while (name != subscribed_[kind].end()) {
    store::Command command = store::Command::Named(kTopicWords[kind].subscribe);
    Entry entry{nullptr, {}, kTopicWords[kind].subscribe, kind, 0, true};
    for (; name != subscribed_[kind].end() && entry.missing < kNamesAtOnce; ++name) {
      command.Add(*name);
      ++entry.missing;
    }
    AppendCommand(command, entry.bytes);
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(restoring_), std::move(entry));
    ++restoring_;
  }
}

void SubscribeMachine::OnLost() {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.request == nullptr) continue;
    const bool sent = i < encoded_ && entry.first_byte < bytes_written();
    FailLater(*entry.request, LostError(sent, UpperName(*entry.request)));
  }
  entries_.clear();
  queued_bytes_ = 0;
  encoded_ = 0;
  restoring_ = 0;
}

// Writing.

void SubscribeMachine::StampDeadlines(int64_t now_us) {
  for (Entry& entry : entries_) {
    if (entry.submitted_us != 0 || entry.is_own) continue;
    entry.submitted_us = now_us;
    if (options_.command_timeout_us < kNoTimeout - now_us) {
      entry.deadline_us = now_us + options_.command_timeout_us;
    }
  }
}

void SubscribeMachine::Encode(std::string& out) {
  for (; encoded_ < entries_.size(); ++encoded_) {
    Entry& entry = entries_[encoded_];
    entry.first_byte = bytes_encoded() + out.size();
    if (!entry.is_own) queued_bytes_ -= entry.bytes.size();
    out += std::exchange(entry.bytes, {});
    if (entry.request != nullptr && options_.on_sent) options_.on_sent(*entry.request);
  }
}

// Time.

// The caller of an abandoned request may rely on it, but it is not encoded after its time.
bool SubscribeMachine::Expires(size_t entry) const {
  return entries_[entry].request != nullptr || (entry >= encoded_ && !entries_[entry].is_own);
}

int64_t SubscribeMachine::NextDeadline() const {
  int64_t next_us = kNoTimeout;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (Expires(i)) next_us = std::min(next_us, entries_[i].deadline_us);
  }
  return next_us;
}

void SubscribeMachine::ExpireRequests(int64_t now_us) {
  for (size_t i = 0; i < entries_.size();) {
    Entry& entry = entries_[i];
    if (!Expires(i) || entry.deadline_us > now_us) {
      ++i;
      continue;
    }
    Request* const request = std::exchange(entry.request, nullptr);
    const bool sent = i < encoded_;
    const std::string limit =
        absl::FormatDuration(absl::Microseconds(entry.deadline_us - entry.submitted_us));
    // A request that was not encoded is removed. The confirmations of an encoded one become pushes.
    if (!sent) {
      queued_bytes_ -= entry.bytes.size();
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (request == nullptr) continue;
    const std::string text =
        sent ? absl::StrCat(address(), " did not answer ", UpperName(*request), " within ", limit)
             : absl::StrCat(UpperName(*request), " could not be sent to ", address(), " within ",
                            limit);
    FailLater(*request, RequestError(sent, text, absl::StatusCode::kDeadlineExceeded));
  }
  DeliverFailures();
}

// Reading.

bool SubscribeMachine::TakeReply(Reply reply, int64_t now_us) {
  if (IsMessage(reply)) {
    pushes_.Add({std::move(reply)}, counters());
    return true;
  }
  const std::string_view word = WordOfPush(reply);
  const bool is_pong = word == kPong || reply == Reply::Status("PONG");
  const std::string_view answers = is_pong ? kPong : word;
  if (encoded_ > 0 && (reply.is_error() || entries_.front().expected == answers)) {
    return reply.is_error() ? TakeError(std::move(reply)) : TakeAnswer(std::move(reply), now_us);
  }
  // A cluster ends subscriptions to shard channels on its own when their slot moves.
  if (word != WordsOf(TopicKind::kShardChannel).unsubscribe) return false;
  Remember(reply);
  pushes_.Add({std::move(reply)}, counters());
  return true;
}

// Takes a confirmation of the first entry.
bool SubscribeMachine::TakeAnswer(Reply reply, int64_t now_us) {
  Entry& entry = entries_.front();
  if (entry.missing == 0) entry.missing = std::max<size_t>(1, subscribed_[entry.kind].size());
  if (entry.kind < kTopicKinds) Remember(reply);
  Request* const request = std::exchange(entry.request, nullptr);
  const int64_t submitted_us = entry.submitted_us;
  const bool is_own = entry.is_own;
  // The confirmation of a request that was abandoned or timed out is a push.
  const bool is_push = request == nullptr && !is_own && entry.kind < kTopicKinds;
  if (--entry.missing == 0) {
    const bool restores = is_own && entry.kind < kTopicKinds;
    entries_.pop_front();
    --encoded_;
    if (restores && --restoring_ == 0) pushes_.AddGap();
  }
  if (is_push) pushes_.Add({std::move(reply)}, counters());
  if (request == nullptr) return true;
  ++counters().answered;
  --counters().in_flight;
  counters().latency.Record(now_us - submitted_us);
  request->Complete(std::move(reply));
  return connected();
}

bool SubscribeMachine::TakeError(Reply reply) {
  const Entry entry = std::move(entries_.front());
  entries_.pop_front();
  --encoded_;
  if (entry.is_own && entry.kind < kTopicKinds) {
    // Redis now refuses a subscription that it had granted. The connection is given up; the next
    // one tries again.
    return false;
  }
  if (entry.request == nullptr) return true;
  ++counters().answered;
  --counters().in_flight;
  entry.request->Complete(std::move(reply));
  return connected();
}

void SubscribeMachine::Remember(const Reply& push) {
  const std::optional<Topic> topic = TopicOf(push);
  if (!topic) return;
  std::set<std::string, std::less<>>& names = subscribed_[static_cast<size_t>(topic->kind)];
  if (WordOfPush(push) == WordsOf(topic->kind).subscribe) names.insert(topic->name);
  if (WordOfPush(push) == WordsOf(topic->kind).unsubscribe) names.erase(topic->name);
}

// A request that is not encoded yet is still sent: the caller may rely on the subscription although
// it does not wait for the confirmation.
void SubscribeMachine::Abandon(Request& request) {
  ForgetAbandoned(request);
  for (Entry& entry : entries_) {
    if (entry.request == &request) entry.request = nullptr;
  }
}

size_t SubscribeMachine::subscriptions() const {
  return subscribed_[0].size() + subscribed_[1].size() + subscribed_[2].size();
}

}  // namespace redouble::inline v0_1::redis
