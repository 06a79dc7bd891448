#include "redouble/backends/redis/fsm/connection_machine.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

// The reader copies each piece; pieces of this size stay in the cache.
constexpr size_t kFeedBytes = 16 * 1024;

// The memory of one huge write is released once it has been written.
constexpr size_t kMaxIdleBytes = 4 * 1024 * 1024;

}  // namespace

ConnectionMachine::ConnectionMachine(ConnectionSettings settings)
    : settings_(std::move(settings)),
      counters_(settings_.counters == nullptr ? unread_counters_ : *settings_.counters),
      reader_(std::in_place, settings_.max_reply_bytes),
      connected_(settings_.connected) {}

ConnectionAction ConnectionMachine::Resume(const ConnectionEvent& event) {
  if (closed_) return ConnectionAction{.close = true};
  switch (event.kind) {
    case ConnectionEvent::Kind::kTurnEnded:
      return EndTurn(event.now_us);
    case ConnectionEvent::Kind::kWritten:
      return TakeWritten(event.size);
    case ConnectionEvent::Kind::kReceived:
      return Receive(event.text, event.now_us);
    case ConnectionEvent::Kind::kTimer:
      return Expire(event.now_us);
    case ConnectionEvent::Kind::kConnected:
      return Connect(event);
    case ConnectionEvent::Kind::kLost:
      return Disconnect(event.text, !settings_.reconnects);
    case ConnectionEvent::Kind::kClosed:
      return Disconnect(event.text, true);
  }
  return {};
}

// The connection.

ConnectionAction ConnectionMachine::Connect(const ConnectionEvent& event) {
  connected_ = true;
  reader_.emplace(settings_.max_reply_bytes, event.protocol);
  OnConnected(event);
  return EndTurn(event.now_us);
}

ConnectionAction ConnectionMachine::Disconnect(std::string_view reason, bool for_good) {
  const bool was_connected = std::exchange(connected_, false);
  if (!closed_) {
    closed_ = for_good;
    reason_ = std::string(reason);
    // A failed attempt to connect changes nothing for requests that wait for a connection.
    if (was_connected || closed_) {
      OnLost();
      out_.clear();
      out_written_ = 0;
      bytes_encoded_ = bytes_written_;
    }
  }
  DeliverFailures();
  return {.close = true};
}

absl::Status ConnectionMachine::LostError(bool sent, std::string_view description) const {
  return RequestError(
      sent, std::string_view(absl::StrCat("the connection to ", settings_.address, " was lost (",
                                          reason_, ") before ", base::ToAbsl(description),
                                          sent ? " was answered" : " was sent")));
}

absl::Status ConnectionMachine::RequestError(bool sent, std::string_view message,
                                             absl::StatusCode code) {
  return sent ? store::OutcomeUnknownError(message, code) : store::NotSentError(message, code);
}

// Writing.

ConnectionAction ConnectionMachine::EndTurn(int64_t now_us) {
  StampDeadlines(now_us);
  const bool writing = out_written_ < out_.size();
  return {.write = writing ? std::string_view() : WriteMore(), .wake_at_us = ArmTimer()};
}

ConnectionAction ConnectionMachine::TakeWritten(size_t size) {
  out_written_ += size;
  bytes_written_ += size;
  if (out_written_ < out_.size()) {
    return {.write = std::string_view(out_).substr(out_written_), .wake_at_us = {}};
  }
  return {.write = WriteMore(), .wake_at_us = {}};
}

// Requests are encoded as late as possible, so that a request that times out while an earlier write
// is stalled can still be taken back.
std::string_view ConnectionMachine::WriteMore() {
  out_.clear();
  out_written_ = 0;
  if (out_.capacity() > kMaxIdleBytes) out_.shrink_to_fit();
  if (!connected_) return out_;
  Encode(out_);
  bytes_encoded_ += out_.size();
  return out_;
}

// Reading.

ConnectionAction ConnectionMachine::Receive(std::string_view bytes, int64_t now_us) {
  store::Reply reply;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kFeedBytes);
    bytes.remove_prefix(piece.size());
    reader_->Feed(piece);
    store::ReplyReader::Outcome outcome = reader_->Next(reply);
    for (; outcome == store::ReplyReader::Outcome::kReply; outcome = reader_->Next(reply)) {
      if (reply.shape() == store::Reply::Shape::kPush) {
        ++counters_.pushes;
        OnPush(reply);
        continue;
      }
      if (TakeReply(std::move(reply), now_us)) continue;
      if (!connected_) return {.close = true};
      return FailProtocol(store::ProtocolError("Redis sent a reply that nothing had asked for"));
    }
    if (outcome == store::ReplyReader::Outcome::kFailed) return FailProtocol(reader_->status());
  }
  return {};
}

ConnectionAction ConnectionMachine::FailProtocol(const absl::Status& status) {
  OnProtocolError(status);
  return Disconnect(base::ToStd(status.message()), !settings_.reconnects);
}

// Time.

ConnectionAction ConnectionMachine::Expire(int64_t now_us) {
  armed_us_ = kNoTimeout;
  const bool was_connected = connected_;
  ExpireRequests(now_us);
  if (closed_ || was_connected != connected_) return {.close = true};
  return {.write = {}, .wake_at_us = ArmTimer()};
}

std::optional<int64_t> ConnectionMachine::ArmTimer() {
  const int64_t next_us = NextDeadline();
  if (next_us >= armed_us_) return std::nullopt;
  armed_us_ = next_us;
  return next_us;
}

// Requests.

bool ConnectionMachine::Accept(store::Request& request) {
  ++counters_.requests;
  counters_.commands += request.commands().size();
  ++counters_.in_flight;
  if (!closed_) return true;
  Fail(request, RequestError(false, std::string_view(absl::StrCat(
                                        "not connected to ", settings_.address, ": ", reason_))));
  return false;
}

void ConnectionMachine::Fail(store::Request& request, absl::Status status) {
  --counters_.in_flight;
  const std::optional<store::ErrorKind> kind = store::ErrorKindOf(status);
  if (kind == store::ErrorKind::kNotSent) ++counters_.not_sent;
  if (kind == store::ErrorKind::kOutcomeUnknown) ++counters_.outcome_unknown;
  if (status.code() == absl::StatusCode::kDeadlineExceeded) ++counters_.timeouts;
  request.Complete(std::move(status));
}

void ConnectionMachine::FailLater(store::Request& request, absl::Status status) {
  failures_.push_back({&request, std::move(status)});
}

void ConnectionMachine::DeliverFailures() {
  while (!failures_.empty()) {
    Failure failure = std::move(failures_.front());
    failures_.pop_front();
    if (failure.request != nullptr) Fail(*failure.request, std::move(failure.status));
  }
}

void ConnectionMachine::ForgetAbandoned(store::Request& request) {
  ++counters_.abandoned;
  --counters_.in_flight;
  for (Failure& failure : failures_) {
    if (failure.request == &request) failure.request = nullptr;
  }
}

}  // namespace redouble::inline v0_1::redis
