#include "redouble/backends/redis/net/subscriber.h"

#include <boost/asio/post.hpp>
#include <coroutine>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/backends/redis/fsm/queue_limits.h"
#include "redouble/backends/redis/fsm/run_machine.h"
#include "redouble/backends/redis/net/connection.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/resume.h"

namespace redouble::redis {

// Outlives the subscriber while a call of its listener is on the stack.
struct Subscriber::State : std::enable_shared_from_this<State> {
  void Dispatch();
  void Close(std::string_view reason);

  std::shared_ptr<ClientContext> context;
  std::shared_ptr<Connection> connection;
  SubscribeMachine* machine = nullptr;  // The connection's.
  store::PushListener* listener = nullptr;
  std::coroutine_handle<> waiter;
  uint64_t logged_drops = 0;
};

void Subscriber::State::Dispatch() {
  const auto self = shared_from_this();
  const uint64_t dropped = context->counters.pushes_dropped - logged_drops;
  if (dropped > 0) {
    logged_drops += dropped;
    context->Log({LogEvent::Kind::kPushesDropped,
                  context->address,
                  {},
                  absl::ZeroDuration(),
                  static_cast<int64_t>(dropped)});
  }
  while (listener != nullptr && machine->has_push()) {
    const std::optional<PushEvent> event = machine->TakePush();
    if (event->is_gap()) {
      listener->OnGap();
    } else {
      listener->OnPush(*event->push);
    }
  }
  if (waiter && (machine->has_push() || machine->closed())) {
    base::Resume(std::exchange(waiter, {}));
  }
}

void Subscriber::State::Close(std::string_view reason) {
  const auto self = shared_from_this();
  connection->Close(reason);
  if (waiter) base::Resume(std::exchange(waiter, {}));
}

namespace {

// Awaits a push or the closing of the subscriber.
class PushAwaiter {
 public:
  PushAwaiter(const SubscribeMachine& machine, std::coroutine_handle<>& waiter)
      : machine_(machine), waiter_(waiter) {}
  ~PushAwaiter() {
    if (waiting_) waiter_ = {};
  }
  PushAwaiter(const PushAwaiter&) = delete;
  PushAwaiter& operator=(const PushAwaiter&) = delete;

  bool await_ready() const { return machine_.has_push() || machine_.closed(); }
  void await_suspend(std::coroutine_handle<> awaiting) {
    waiting_ = true;
    waiter_ = awaiting;
  }
  void await_resume() { waiting_ = false; }

 private:
  const SubscribeMachine& machine_;
  std::coroutine_handle<>& waiter_;
  bool waiting_ = false;
};

absl::Status Check(const Options& options) {
  if (!options.sentinel_master.empty()) {
    return absl::InvalidArgumentError(
        "Redis options: sentinel_master is not for a subscriber, which needs the address of the "
        "master: SentinelClient::master()");
  }
  return options.Validate();
}

SubscribeOptions MachineOptions(ClientContext& context) {
  const Options& options = context.options;
  SubscribeOptions subscribe;
  subscribe.address = context.address;
  subscribe.command_timeout_us = DurationMicros(options.command_timeout);
  subscribe.queue = QueueLimits::From(options);
  subscribe.push_queue = static_cast<size_t>(options.push_queue);
  subscribe.reconnects = options.reconnect;
  subscribe.counters = &context.counters;
  return subscribe;
}

}  // namespace

base::Task<absl::StatusOr<std::unique_ptr<Subscriber>>> Subscriber::Connect(
    boost::asio::any_io_executor executor, Options options) {
  return Connect(std::move(executor), std::move(options), ClientHooks());
}

base::Task<absl::StatusOr<std::unique_ptr<Subscriber>>> Subscriber::Connect(
    boost::asio::any_io_executor executor, Options options, ClientHooks hooks) {
  REDOUBLE_CO_RETURN_IF_ERROR(Check(options));
  auto state = std::make_shared<State>();
  state->context =
      std::make_shared<ClientContext>(std::move(executor), std::move(options), std::move(hooks));
  auto machine = std::make_unique<SubscribeMachine>(MachineOptions(*state->context));
  state->machine = machine.get();
  state->connection = std::make_shared<Connection>(state->context, std::move(machine),
                                                   RunOptions::From(state->context->options));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Connection::Connect(state->connection));
  // Close() breaks this reference cycle.
  state->connection->set_on_change([state] { state->Dispatch(); });
  co_return absl::WrapUnique(new Subscriber(std::move(state)));
}

Subscriber::Subscriber(std::shared_ptr<State> state) : state_(std::move(state)) {}

Subscriber::~Subscriber() {
  state_->listener = nullptr;
  state_->Close("the subscriber was destroyed");
}

void Subscriber::Submit(store::Request& request) { state_->connection->Submit(request); }

void Subscriber::Listen(store::PushListener* listener) {
  state_->listener = listener;
  if (listener == nullptr || !state_->machine->has_push()) return;
  boost::asio::post(state_->context->executor, [state = state_] { state->Dispatch(); });
}

base::Task<absl::StatusOr<PushEvent>> Subscriber::Next() {
  // The subscriber may be destroyed while this task waits.
  const std::shared_ptr<State> state = state_;
  co_await PushAwaiter(*state->machine, state->waiter);
  std::optional<PushEvent> event = state->machine->TakePush();
  if (!event) co_return absl::UnavailableError("the subscriber is closed");
  co_return *std::move(event);
}

void Subscriber::Close() { state_->Close("the subscriber was closed"); }

bool Subscriber::connected() const { return state_->connection->connected(); }

const Counters& Subscriber::counters() const { return state_->context->counters; }

}  // namespace redouble::redis
