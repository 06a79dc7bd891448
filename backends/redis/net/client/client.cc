#include "redouble/backends/redis/net/client/client.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "redouble/backends/redis/fsm/exec_machine.h"
#include "redouble/backends/redis/net/blocking_pool.h"
#include "redouble/backends/redis/net/connection.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::redis {
namespace {

absl::Status Check(const Options& options) {
  if (options.cluster || !options.sentinel_master.empty()) {
    return absl::InvalidArgumentError(
        "Redis options: cluster=yes and sentinel_master are not for a client of one server");
  }
  return options.Validate();
}

std::shared_ptr<Connection> NewConnection(const std::shared_ptr<ClientContext>& context,
                                          Sharing sharing) {
  ExecOptions exec = ExecOptions::From(context->options, sharing);
  exec.connected = false;
  exec.is_idempotent = context->hooks.is_idempotent;
  exec.on_push = context->hooks.push;
  exec.counters = &context->counters;
  if (context->observer != nullptr) {
    exec.on_sent = [observer = context->observer](const store::Request& request) {
      observer->Sent(request);
    };
  }
  RunOptions run = RunOptions::From(context->options);
  if (sharing != Sharing::kShared) run.reconnect = false;
  // A PING would wait for a blocking command.
  if (sharing == Sharing::kDedicated) run.health_check_interval_us = RunOptions::kNever;
  return std::make_shared<Connection>(context, std::make_unique<ExecMachine>(std::move(exec)), run);
}

// Its commands wait as all others do while the connection is being made again.
std::shared_ptr<BlockingPool> NewPool(const std::shared_ptr<ClientContext>& context,
                                      const std::shared_ptr<Connection>& connection) {
  auto pool = std::make_shared<BlockingPool>(
      context, [connection] { return connection->connected() || connection->closed(); });
  connection->set_on_settled([weak = std::weak_ptr(pool)] {
    if (const auto held = weak.lock()) held->Continue();
  });
  return pool;
}

}  // namespace

base::Task<absl::StatusOr<std::unique_ptr<Client>>> Client::Connect(
    boost::asio::any_io_executor executor, Options options, Sharing sharing) {
  return Connect(std::move(executor), std::move(options), sharing, ClientHooks());
}

base::Task<absl::StatusOr<std::unique_ptr<Client>>> Client::Connect(
    boost::asio::any_io_executor executor, Options options, Sharing sharing, ClientHooks hooks) {
  REDOUBLE_CO_RETURN_IF_ERROR(Check(options));
  const auto context =
      std::make_shared<ClientContext>(std::move(executor), std::move(options), std::move(hooks));
  std::shared_ptr<Connection> connection = NewConnection(context, sharing);
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Connection::Connect(connection));
  co_return absl::WrapUnique(new Client(context, std::move(connection), sharing));
}

absl::StatusOr<std::unique_ptr<Client>> Client::Create(boost::asio::any_io_executor executor,
                                                       Options options, ClientHooks hooks) {
  REDOUBLE_RETURN_IF_ERROR(Check(options));
  const auto context =
      std::make_shared<ClientContext>(std::move(executor), std::move(options), std::move(hooks));
  std::shared_ptr<Connection> connection = NewConnection(context, Sharing::kShared);
  connection->Dial();
  return absl::WrapUnique(new Client(context, std::move(connection), Sharing::kShared));
}

Client::Client(std::shared_ptr<ClientContext> context, std::shared_ptr<Connection> connection,
               Sharing sharing)
    : context_(std::move(context)),
      connection_(std::move(connection)),
      pool_(sharing == Sharing::kShared ? NewPool(context_, connection_) : nullptr) {}

Client::~Client() { CloseAll("the client was destroyed"); }

void Client::Submit(store::Request& request) {
  if (context_->observer == nullptr) return Pass(request);
  context_->observer->Submit(request, [this](store::Request& observed) { Pass(observed); });
}

void Client::Pass(store::Request& request) {
  if (pool_ != nullptr && MayBlock(request)) {
    static_cast<ExecMachine&>(connection_->machine()).NoteElsewhere(request);
    return pool_->Submit(request);
  }
  connection_->Submit(request);
}

void Client::Close() { CloseAll("the client was closed"); }

void Client::CloseAll(std::string_view reason) {
  // A failing waiter may destroy the client.
  const auto pool = pool_;
  connection_->Close(reason);
  if (pool != nullptr) pool->Close(reason);
}

bool Client::connected() const { return connection_->connected(); }

bool Client::closed() const { return connection_->closed(); }

const Options& Client::options() const { return context_->options; }

const Counters& Client::counters() const { return context_->counters; }

}  // namespace redouble::inline v0_1::redis
