#include "redouble/backends/redis/fsm/exec_machine.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/resp/command_writer.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;
using store::Request;

constexpr size_t kInitialQueue = 64;

// "GET", "a pipeline of 3 commands". Never an argument, which may be secret.
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

}  // namespace

// The health check: a request without a waiter.
class ExecMachine::PingRequest final : public Request {
 public:
  PingRequest() : Request(Kind::kCommand, std::span(&Command(), 1)) {}

 private:
  static const store::Command& Command() {
    static const store::Command ping = store::Command::Named("PING");
    return ping;
  }
  // Any reply proves liveness; silence is handled by the health timeout.
  void OnComplete(absl::StatusOr<Reply>&&) override {}
};

// AUTH on an open connection. Holds the words that its command refers to.
class ExecMachine::AuthRequest final : private Credentials, private store::Command, public Request {
 public:
  using Done = std::function<void(const absl::StatusOr<Reply>&)>;

  AuthRequest(const Credentials& credentials, Done done)
      : Credentials(credentials),
        store::Command(store::Command::Named("AUTH")),
        Request(Kind::kCommand, std::span(static_cast<const store::Command*>(this), 1)),
        done_(std::move(done)) {
    if (!user.empty()) Add(user);
    Add(*password);
  }

 private:
  void OnComplete(absl::StatusOr<Reply>&& result) override { done_(result); }

  const Done done_;
};

ExecOptions ExecOptions::From(const Options& options, Sharing sharing) {
  ExecOptions exec;
  exec.address = options.AddressUri();
  exec.sharing = sharing;
  exec.command_timeout_us = DurationMicros(options.command_timeout);
  exec.blocking_timeout_us = DurationMicros(options.blocking_timeout);
  exec.reconnects = options.reconnect && sharing == Sharing::kShared;
  exec.retry = options.retry;
  exec.attempts = options.attempts;
  exec.queue = QueueLimits::From(options);
  if (options.cache_bytes > 0 && IsMultiplexed(sharing)) {
    exec.cache = TrackingCache::Limits::From(options);
  }
  if (exec.reconnects) exec.leave_replica_after_us = ReplicaExit::IntervalUs(options);
  return exec;
}

ExecMachine::ExecMachine(ExecOptions options)
    : ConnectionMachine({.address = options.address,
                         .connected = options.connected,
                         .reconnects = options.reconnects,
                         .max_reply_bytes = options.max_reply_bytes,
                         .counters = options.counters}),
      options_(std::move(options)),
      queue_(kInitialQueue),
      replica_exit_(options_.leave_replica_after_us) {
  if (options_.cache) cache_.emplace(*options_.cache);
}

ExecMachine::~ExecMachine() { Disconnect("the client was destroyed", true); }

void ExecMachine::Submit(Request& request) {
  if (!Accept(request)) return;
  if (std::optional<absl::Status> refusal = Refusal(request, options_.sharing)) {
    return Fail(request, *std::move(refusal));
  }
  if (cache_ && CompleteFromCache(request)) return;
  if (std::optional<absl::Status> refusal =
          options_.queue.Refuse(queue_.size(), queued_bytes_, address())) {
    return Fail(request, *std::move(refusal));
  }
  Enqueue(request);
}

void ExecMachine::Enqueue(Request& request) {
  if (queue_.full()) queue_.set_capacity(2 * queue_.capacity());
  queue_.push_back(Entry{&request, request.kind(), ReplyCount(request)});
  queue_.back().bytes = BytesOf(request);
  queued_bytes_ += queue_.back().bytes;
  if (cache_) queue_.back().ticket = NoteInCache(request);
  request.SetKeeper(this);
}

void ExecMachine::Ping() {
  if (ping_ != nullptr && !ping_->completed()) return;
  ++counters().pings;
  ping_ = std::make_unique<PingRequest>();
  Submit(*ping_);
}

bool ExecMachine::Authenticate(const Credentials& credentials, AuthRequest::Done done) {
  if (options_.sharing == Sharing::kDedicated || !credentials.password) return false;
  std::erase_if(auths_, [](const auto& auth) { return auth->completed(); });
  AuthRequest& auth =
      *auths_.emplace_back(std::make_unique<AuthRequest>(credentials, std::move(done)));
  if (!Accept(auth)) return true;
  ++counters().reauthentications;
  Enqueue(auth);
  return true;
}

// Writing.

void ExecMachine::StampDeadlines(int64_t now_us) {
  for (; stamped_ < queue_.size(); ++stamped_) {
    Entry& entry = queue_[stamped_];
    const int64_t timeout_us = TimeoutOf(entry.request);
    entry.submitted_us = now_us;
    if (timeout_us < kNoTimeout - now_us) entry.deadline_us = now_us + timeout_us;
  }
  if (abandoned_waiting_ > kInitialQueue && abandoned_waiting_ > queue_.size() / 2) {
    DropAbandonedWaiting();
  }
}

void ExecMachine::Encode(std::string& out) {
  if (abandoned_waiting_ > 0) DropAbandonedWaiting();
  if (leaving_) return;
  for (; encoded_ < queue_.size() && out.size() < options_.max_write_bytes; ++encoded_) {
    Entry& entry = queue_[encoded_];
    entry.first_byte = bytes_encoded() + out.size();
    ++entry.attempts;
    if (options_.on_sent) options_.on_sent(*entry.request);
    AppendRequest(*entry.request, out);
  }
}

void ExecMachine::DropAbandonedWaiting() {
  for (size_t i = encoded_; i < queue_.size(); ++i) {
    if (queue_[i].request == nullptr) EndInCache(queue_[i].ticket, nullptr);
  }
  const auto waiting = queue_.begin() + static_cast<std::ptrdiff_t>(encoded_);
  const auto stamped = queue_.begin() + static_cast<std::ptrdiff_t>(std::max(stamped_, encoded_));
  const auto is_abandoned = [](const Entry& entry) { return entry.request == nullptr; };
  const auto dropped_stamped = std::count_if(waiting, stamped, is_abandoned);
  queue_.erase(std::remove_if(waiting, queue_.end(), is_abandoned), queue_.end());
  stamped_ -= static_cast<size_t>(dropped_stamped);
  abandoned_waiting_ = 0;
}

// Time.

int64_t ExecMachine::TimeoutOf(const Request* request) const {
  if (IsMultiplexed(options_.sharing) || request == nullptr) {
    return options_.command_timeout_us;
  }
  const auto duration = [](int64_t us) {
    return us == kNoTimeout ? absl::InfiniteDuration() : absl::Microseconds(us);
  };
  return DurationMicros(TimeLimit(*request, duration(options_.command_timeout_us),
                                  duration(options_.blocking_timeout_us)));
}

// On a multiplexed connection deadlines grow along the queue, so one timer for the first entry is
// enough. The timer is not moved when that request completes early, so it costs nothing per
// command. The queue of other connections is short.
int64_t ExecMachine::NextDeadline() const {
  const bool multiplexed = IsMultiplexed(options_.sharing);
  int64_t next_us = kNoTimeout;
  if (multiplexed && timer_is_armed()) return next_us;
  for (size_t i = 0; i < stamped_; ++i) {
    if (queue_[i].request == nullptr) continue;
    next_us = std::min(next_us, queue_[i].deadline_us);
    if (multiplexed) break;
  }
  return next_us;
}

void ExecMachine::ExpireRequests(int64_t now_us) {
  // A waiter may change the queue after its own entry, or lose the connection.
  const bool in_order = IsMultiplexed(options_.sharing);
  for (size_t i = 0; i < stamped_; ++i) {
    if (queue_[i].deadline_us > now_us) {
      if (in_order) break;
    } else if (queue_[i].request != nullptr) {
      TimeOut(i);
    }
  }
}

void ExecMachine::TimeOut(size_t index) {
  Request& request = *TakeRequest(queue_[index]);
  const std::string limit = absl::FormatDuration(
      absl::Microseconds(queue_[index].deadline_us - queue_[index].submitted_us));
  if (index >= encoded_) ++abandoned_waiting_;
  // An earlier connection may have carried a request that now waits again.
  const bool sent = index < encoded_ || queue_[index].was_sent;
  const std::string text =
      sent ? absl::StrCat(address(), " did not answer ", Describe(request), " within ", limit)
           : absl::StrCat(Describe(request), " could not be sent to ", address(), " within ", limit,
                          connected() ? "" : absl::StrCat(" (not connected: ", reason(), ")"));
  Fail(request, RequestError(sent, text, absl::StatusCode::kDeadlineExceeded));
}

// Detaches the request of an entry, whose replies are dropped from now on.
Request* ExecMachine::TakeRequest(Entry& entry) {
  queued_bytes_ -= std::exchange(entry.bytes, 0);
  entry.replies = {};
  return std::exchange(entry.request, nullptr);
}

// Reading.

bool ExecMachine::TakeReply(Reply reply, int64_t now_us) {
  if (encoded_ == 0) return false;
  Entry& front = queue_.front();
  if (resp2_form_) ApplyResp2Form(front, reply);
  if (reply.is_error()) NoteReadOnly(reply, now_us);
  const bool collects = front.kind == Request::Kind::kPipeline && front.request != nullptr;
  if (collects) {
    if (front.replies.empty()) front.replies.reserve(front.missing_replies);
    front.replies.push_back(std::move(reply));
  }
  if (--front.missing_replies > 0) return true;
  Entry done = PopFront();
  if (done.ticket != TrackingCache::kNone) EndInCache(done.ticket, &reply);
  if (done.request == nullptr) return !HasLeft();
  ++counters().answered;
  --counters().in_flight;
  if (done.submitted_us != 0) counters().latency.Record(now_us - done.submitted_us);
  done.request->Complete(collects ? Reply::Array(std::move(done.replies)) : std::move(reply));
  return connected() && !HasLeft();
}

void ExecMachine::NoteReadOnly(const Reply& reply, int64_t now_us) {
  if (!IsReadOnly(reply)) return;
  ++counters().read_only;
  leaving_ |= replica_exit_.Take(now_us);
}

// Ends the connection once it has answered everything. Returns whether it has ended.
bool ExecMachine::HasLeft() {
  if (!leaving_ || encoded_ > 0 || !connected()) return false;
  Disconnect("the server became a read-only replica", false);
  return true;
}

ExecMachine::Entry ExecMachine::PopFront() {
  Entry entry = std::move(queue_.front());
  queue_.pop_front();
  queued_bytes_ -= entry.bytes;
  if (encoded_ > 0) --encoded_;
  if (stamped_ > 0) --stamped_;
  if (search_hint_ > 0) --search_hint_;
  return entry;
}

// The unreadable bytes belong to the reply of the first request.
void ExecMachine::OnProtocolError(const absl::Status& status) {
  if (encoded_ == 0) return;
  const Entry first = PopFront();
  if (first.request != nullptr) FailLater(*first.request, status);
}

// RESP3 and the cache.

// The command to which a reply belongs follows from the number of replies that are missing.
void ExecMachine::ApplyResp2Form(const Entry& entry, Reply& reply) {
  store::CommandId command = store::CommandId::kUnknown;
  if (entry.kind == Request::Kind::kTransaction) {
    const size_t total = entry.request == nullptr ? 0 : ReplyCount(*entry.request);
    if (entry.missing_replies == 1) {
      command = store::CommandId::kExec;
    } else if (entry.missing_replies == total) {
      command = store::CommandId::kMulti;
    } else if (total > 0) {
      command = entry.request->commands()[total - entry.missing_replies - 1].id();
    }
  } else if (entry.request != nullptr) {
    const auto commands = entry.request->commands();
    command = commands[commands.size() - entry.missing_replies].id();
  }
  resp2_form_->Apply(command, reply);
}

void ExecMachine::OnPush(const Reply& push) {
  if (cache_) counters().cache_invalidations += cache_->Invalidate(push);
  if (options_.on_push) options_.on_push(push);
}

bool ExecMachine::CompleteFromCache(Request& request) {
  if (request.kind() != Request::Kind::kCommand) return false;
  const store::Command& command = request.commands()[0];
  if (!TrackingCache::IsCacheable(command)) return false;
  const Reply* const hit = cache_->Find(command);
  if (hit == nullptr) {
    ++counters().cache_misses;
    return false;
  }
  ++counters().cache_hits;
  ++counters().answered;
  --counters().in_flight;
  request.Complete(Reply(*hit));
  return true;
}

// What a request that is queued means for the cache.
TrackingCache::Ticket ExecMachine::NoteInCache(const Request& request) {
  cache_->Note(request);
  if (request.kind() != Request::Kind::kCommand) return TrackingCache::kNone;
  const store::Command& command = request.commands()[0];
  return TrackingCache::IsCacheable(command) ? cache_->Begin(command) : TrackingCache::kNone;
}

void ExecMachine::EndInCache(TrackingCache::Ticket ticket, const Reply* reply) {
  if (!cache_ || ticket == TrackingCache::kNone) return;
  cache_->End(ticket, reply);
  counters().cache_evictions += cache_->TakeEvictions();
}

// Loss of the connection.

void ExecMachine::OnConnected(const ConnectionEvent& event) {
  const bool is_resp3 = event.protocol == store::Protocol::kResp3;
  resp2_form_ = is_resp3 ? std::make_optional<store::Resp2Form>() : std::nullopt;
  if (cache_ && event.tracks) cache_->Start();
}

void ExecMachine::OnLost() {
  if (cache_) cache_->Stop();
  const size_t stamped = stamped_;
  size_t kept_stamped = 0;
  boost::circular_buffer<Entry> kept(queue_.capacity());
  for (size_t i = 0; !queue_.empty(); ++i) {
    const bool encoded = encoded_ > 0;
    Entry entry = PopFront();
    const bool sent_now = encoded && entry.first_byte < bytes_written();
    if (encoded && !sent_now) --entry.attempts;
    const bool sent = entry.was_sent || sent_now;
    if (entry.request == nullptr) continue;
    const bool kept_anyway = leaving_ && !closed() && !encoded && !entry.was_sent;
    if (!kept_anyway && !MayWriteAgain(entry, sent)) {
      FailLater(*entry.request, LostError(sent, Describe(*entry.request)));
      continue;
    }
    if (encoded) ++counters().retries;
    entry.missing_replies = ReplyCount(*entry.request);
    entry.replies.clear();
    entry.ticket = TrackingCache::kNone;
    entry.was_sent = sent;
    if (i < stamped) ++kept_stamped;
    queued_bytes_ += entry.bytes;
    kept.push_back(std::move(entry));
  }
  queue_ = std::move(kept);
  stamped_ = kept_stamped;
  encoded_ = 0;
  abandoned_waiting_ = 0;
  search_hint_ = 0;
  leaving_ = false;
}

bool ExecMachine::MayWriteAgain(const Entry& entry, bool sent) const {
  if (closed() || options_.retry == RetryPolicy::kNever) return false;
  if (entry.attempts >= options_.attempts) return false;
  return !sent || (options_.retry == RetryPolicy::kIdempotent && IsIdempotent(*entry.request));
}

bool ExecMachine::IsIdempotent(const Request& request) const {
  if (OnlyReads(request)) return true;
  return options_.is_idempotent && options_.is_idempotent(request);
}

// Abandoned requests.

void ExecMachine::Abandon(Request& request) {
  ForgetAbandoned(request);
  const size_t index = FindEntry(request);
  if (index == queue_.size()) return;
  TakeRequest(queue_[index]);
  if (index >= encoded_) ++abandoned_waiting_;
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

}  // namespace redouble::inline v0_1::redis
