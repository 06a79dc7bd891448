#include "redouble/backends/redis/net/subscriber.h"

#include <boost/asio/post.hpp>
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
#include "redouble/backends/redis/net/push_delivery.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::redis {

// Outlives the subscriber while a call of its listener is on the stack.
struct Subscriber::State : std::enable_shared_from_this<State> {
  void Dispatch();
  void Close(std::string_view reason);

  std::shared_ptr<ClientContext> context;
  std::shared_ptr<Connection> connection;
  SubscribeMachine* machine = nullptr;  // The connection's.
  std::optional<PushDelivery<SubscribeMachine>> delivery;
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
  delivery->Dispatch();
}

void Subscriber::State::Close(std::string_view reason) {
  const auto self = shared_from_this();
  connection->Close(reason);
  delivery->Dispatch();
}

namespace {

absl::Status Check(const Options& options) {
  if (!options.sentinel_master.empty()) {
    return absl::InvalidArgumentError(
        "Redis options: sentinel_master is not for a Subscriber, which needs the address of the "
        "master; a FollowingSubscriber finds it");
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
  if (context.observer != nullptr) {
    subscribe.on_sent = [observer = context.observer](const store::Request& request) {
      observer->Sent(request);
    };
  }
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
  state->delivery.emplace(*machine);
  state->connection = std::make_shared<Connection>(state->context, std::move(machine),
                                                   RunOptions::From(state->context->options));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Connection::Connect(state->connection));
  // Close() breaks this reference cycle.
  state->connection->set_on_change([state] { state->Dispatch(); });
  co_return absl::WrapUnique(new Subscriber(std::move(state)));
}

Subscriber::Subscriber(std::shared_ptr<State> state) : state_(std::move(state)) {}

Subscriber::~Subscriber() {
  state_->delivery->set_listener(nullptr);
  state_->Close("the subscriber was destroyed");
}

void Subscriber::Submit(store::Request& request) {
  Connection& connection = *state_->connection;
  if (state_->context->observer == nullptr) return connection.Submit(request);
  state_->context->observer->Submit(request,
                                    [&](store::Request& observed) { connection.Submit(observed); });
}

void Subscriber::Listen(store::PushListener* listener) {
  state_->delivery->set_listener(listener);
  if (listener == nullptr || !state_->machine->has_push()) return;
  boost::asio::post(state_->context->executor, [state = state_] { state->Dispatch(); });
}

base::Task<absl::StatusOr<PushEvent>> Subscriber::Next() { return state_->delivery->Next(state_); }

void Subscriber::Close() { state_->Close("the subscriber was closed"); }

bool Subscriber::connected() const { return state_->connection->connected(); }

const Counters& Subscriber::counters() const { return state_->context->counters; }

}  // namespace redouble::inline v0_1::redis
