#include "redouble/backends/redis/net/blocking_pool.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/backends/redis/fsm/exec_machine.h"
#include "redouble/backends/redis/fsm/queue_limits.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

std::shared_ptr<Connection> NewConnection(const std::shared_ptr<ClientContext>& context) {
  ExecOptions exec = ExecOptions::From(context->options, Sharing::kPooled);
  exec.connected = false;
  exec.retry = RetryPolicy::kNever;
  exec.counters = &context->counters;
  RunOptions run = RunOptions::From(context->options);
  run.reconnect = false;
  // A PING would wait for the blocking command; TCP keep-alive watches the connection instead.
  run.health_check_interval_us = RunOptions::kNever;
  auto connection =
      std::make_shared<Connection>(context, std::make_unique<ExecMachine>(std::move(exec)), run);
  connection->Dial();
  return connection;
}

}  // namespace

// Represents the request of a coroutine on a connection of the pool.
class BlockingPool::Relay final : public store::Request {
 public:
  Relay(BlockingPool& pool, Slots::iterator slot, const store::Request& request)
      : Request(request.kind(), request.commands()), pool_(pool), slot_(slot) {}

 private:
  void OnComplete(absl::StatusOr<store::Reply>&& result) override {
    pool_.OnDone(slot_, std::move(result));
  }

  BlockingPool& pool_;
  const Slots::iterator slot_;
};

BlockingPool::BlockingPool(std::shared_ptr<ClientContext> context,
                           std::function<bool()> may_connect)
    : context_(std::move(context)),
      may_connect_(std::move(may_connect)),
      replica_exit_(ReplicaExit::IntervalUs(context_->options)) {}

BlockingPool::~BlockingPool() = default;

absl::Status BlockingPool::ClosedError() const {
  return store::NotSentError(
      std::string_view(absl::StrCat("not connected to ", context_->address, ": ", closed_reason_)));
}

// Fails a request that no machine has counted.
void BlockingPool::Fail(store::Request& request, absl::Status status) {
  Counters& counters = context_->counters;
  ++counters.requests;
  counters.commands += request.commands().size();
  ++counters.not_sent;
  if (status.code() == absl::StatusCode::kDeadlineExceeded) ++counters.timeouts;
  request.Complete(std::move(status));
}

void BlockingPool::Submit(store::Request& request) {
  if (!closed_reason_.empty()) return Fail(request, ClosedError());
  if (std::optional<absl::Status> refusal = Refusal(request, Sharing::kPooled)) {
    return Fail(request, *std::move(refusal));
  }
  if (HasRoom()) return Dispatch(request);
  const Options& options = context_->options;
  if (std::optional<absl::Status> refusal =
          QueueLimits::From(options).Refuse(waiting_.size(), waiting_bytes_, context_->address)) {
    return Fail(request, *std::move(refusal));
  }
  request.SetKeeper(this);
  ++context_->counters.in_flight;
  const size_t bytes = BytesOf(request);
  waiting_bytes_ += bytes;
  waiting_.push_back({&request, bytes, boost::asio::steady_timer(context_->executor)});
  const absl::Duration limit =
      TimeLimit(request, options.command_timeout, options.blocking_timeout);
  if (limit == absl::InfiniteDuration()) return;
  waiting_.back().timer.expires_after(absl::ToChronoMicroseconds(limit));
  waiting_.back().timer.async_wait(
      [self = shared_from_this(), waiter = &request](const boost::system::error_code& error) {
        if (!error) self->OnWaitedTooLong(waiter);
      });
}

store::Request& BlockingPool::TakeWaiting(std::list<Waiter>::iterator waiter) {
  --context_->counters.in_flight;
  store::Request& request = *waiter->request;
  waiting_bytes_ -= waiter->bytes;
  waiting_.erase(waiter);
  return request;
}

void BlockingPool::OnWaitedTooLong(store::Request* request) {
  const auto waiter = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiter& candidate) {
    return candidate.request == request;
  });
  // The timer had already fired when the request was dispatched or abandoned.
  if (waiter == waiting_.end()) return;
  const std::string why = may_connect_ != nullptr && !may_connect_()
                              ? absl::StrCat("not connected to ", context_->address, " in time")
                              : absl::StrCat("all ", context_->options.blocking_connections,
                                             " connections for blocking commands to ",
                                             context_->address, " were busy for too long");
  Fail(TakeWaiting(waiter),
       store::NotSentError(std::string_view(why), absl::StatusCode::kDeadlineExceeded));
}

bool BlockingPool::HasRoom() const {
  return busy_.size() < static_cast<size_t>(context_->options.blocking_connections) &&
         (may_connect_ == nullptr || may_connect_());
}

void BlockingPool::Dispatch(store::Request& request) {
  const Slots::iterator slot = TakeSlot();
  slot->request = &request;
  slot->relay = std::make_unique<Relay>(*this, slot, request);
  request.SetKeeper(this);
  if (context_->observer != nullptr) context_->observer->Sent(request);
  slot->connection->Submit(*slot->relay);
}

// Moves an open idle connection, or a new one, to the busy ones.
BlockingPool::Slots::iterator BlockingPool::TakeSlot() {
  while (!idle_.empty() && idle_.back().connection->closed()) idle_.pop_back();
  if (idle_.empty()) {
    busy_.push_back({NewConnection(context_), nullptr});
  } else {
    busy_.splice(busy_.end(), idle_, std::prev(idle_.end()));
  }
  return std::prev(busy_.end());
}

void BlockingPool::OnDone(Slots::iterator slot, absl::StatusOr<store::Reply>&& result) {
  const auto self = shared_from_this();
  // This runs inside the relay, which must live until the end of this function.
  const std::unique_ptr<Relay> relay = std::move(slot->relay);
  store::Request* const request = std::exchange(slot->request, nullptr);
  if (result.ok() && IsReadOnly(*result) && replica_exit_.Take(SteadyMicros())) LeaveReplica();
  Free(slot, result.ok() && !slot->at_replica && !slot->connection->closed());
  Continue();
  request->Complete(std::move(result));
}

void BlockingPool::Free(Slots::iterator slot, bool usable) {
  const auto limit = static_cast<size_t>(context_->options.idle_connections);
  if (usable && closed_reason_.empty() && (idle_.size() < limit || !waiting_.empty())) {
    idle_.splice(idle_.end(), busy_, slot);
    return;
  }
  const std::shared_ptr<Connection> connection = std::move(slot->connection);
  busy_.erase(slot);
  connection->Close("its blocking command has ended");
}

void BlockingPool::LeaveReplica() {
  for (Slot& slot : busy_) slot.at_replica = true;
  for (Slot& slot : idle_) slot.connection->Close("the server became a read-only replica");
  idle_.clear();
}

void BlockingPool::Continue() {
  while (!waiting_.empty() && HasRoom()) Dispatch(TakeWaiting(waiting_.begin()));
}

void BlockingPool::Abandon(store::Request& request) {
  const auto waiter = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiter& candidate) {
    return candidate.request == &request;
  });
  if (waiter != waiting_.end()) {
    TakeWaiting(waiter);
    ++context_->counters.requests;
    context_->counters.commands += request.commands().size();
    ++context_->counters.abandoned;
    return;
  }
  const auto slot = std::find_if(busy_.begin(), busy_.end(), [&](const Slot& candidate) {
    return candidate.request == &request;
  });
  if (slot == busy_.end()) return;
  slot->request = nullptr;
  slot->relay = nullptr;
  Free(slot, false);
  Continue();
}

void BlockingPool::Close(std::string_view reason) {
  const auto self = shared_from_this();
  if (!closed_reason_.empty()) return;
  closed_reason_ = std::string(reason);
  while (!waiting_.empty()) Fail(TakeWaiting(waiting_.begin()), ClosedError());
  for (Slot& slot : idle_) slot.connection->Close(reason);
  idle_.clear();
  // Closing a connection fails its command, which frees the slot.
  while (!busy_.empty()) {
    const std::shared_ptr<Connection> connection = busy_.front().connection;
    connection->Close(reason);
  }
}

}  // namespace redouble::inline v0_1::redis
