#include "redouble/backends/redis/net/connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <coroutine>
#include <random>
#include <utility>
#include <variant>

#include "absl/time/time.h"
#include "redouble/core/base/task/resume.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr size_t kReadBytes = 64 * 1024;

// Several TLS records.
constexpr size_t kEncryptBytes = 64 * 1024;

bool MustWait(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

std::chrono::steady_clock::time_point TimePoint(int64_t time_us) {
  return std::chrono::steady_clock::time_point(std::chrono::microseconds(time_us));
}

uint64_t DrawSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

// Awaits a connector. Cancels it if the awaiting task is destroyed.
class ConnectorAwaiter {
 public:
  explicit ConnectorAwaiter(Connector& connector) : connector_(connector) {}
  ~ConnectorAwaiter() {
    if (!done_) connector_.Cancel();
  }
  ConnectorAwaiter(const ConnectorAwaiter&) = delete;
  ConnectorAwaiter& operator=(const ConnectorAwaiter&) = delete;

  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    connector_.Start([this, awaiting] {
      done_ = true;
      base::Resume(awaiting);
    });
  }
  void await_resume() {}

 private:
  Connector& connector_;
  bool done_ = false;
};

}  // namespace

int64_t SteadyMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

base::Rng RngOf(const ClientHooks& hooks) {
  return base::Rng(hooks.seed ? *hooks.seed : DrawSeed());
}

ClientContext::ClientContext(asio::any_io_executor client_executor, Options client_options,
                             ClientHooks client_hooks)
    : executor(std::move(client_executor)),
      options(std::move(client_options)),
      hooks(std::move(client_hooks)),
      address(options.AddressUri()),
      observer(RequestObserver::Make(hooks.command, NodeName(options), SteadyMicros)),
      rng(RngOf(hooks)) {}

Options ClientContext::NextTarget() {
  Options target = options;
  const size_t number = attempts++ % targets();
  if (number > 0) target.address = options.seeds[number - 1];
  if (const auto* tcp = std::get_if<TcpAddress>(&target.address)) {
    target.address = options.Mapped(*tcp);
  }
  return target;
}

Connection::Connection(std::shared_ptr<ClientContext> context,
                       std::unique_ptr<ConnectionMachine> machine, RunOptions run)
    : context_(std::move(context)),
      machine_(std::move(machine)),
      run_machine_(run, context_->rng.Fork()),
      command_timer_(context_->executor),
      run_timer_(context_->executor),
      read_buffer_(kReadBytes) {}

// The options of the next attempt to connect, without what the machine does not use.
Options Connection::NextTarget() {
  Options target = context_->NextTarget();
  if (!machine_->caches()) {
    target.cache_bytes = 0;
    target.cache_broadcast = false;
    target.cache_prefixes.clear();
  }
  if (!machine_->reads_resp3()) target.protocol = RespVersion::kResp2;
  if (context_->hooks.key_password && !target.tls.key_file.empty()) {
    target.tls.key_password = context_->hooks.key_password();
  }
  if (context_->hooks.credentials != nullptr) {
    FollowCredentials();
    const NumberedCredentials current = context_->hooks.credentials->current();
    credentials_number_ = current.number;
    target.user = current.credentials.user;
    target.password = current.credentials.password;
  }
  return target;
}

// The source may be used on another thread, so its news are a turn of the event loop.
void Connection::FollowCredentials() {
  if (std::exchange(follows_credentials_, true)) return;
  context_->hooks.credentials->Listen(weak_from_this(),
                                      [weak = weak_from_this(), executor = context_->executor] {
                                        asio::post(executor, [weak] {
                                          if (const auto self = weak.lock()) self->Authenticate();
                                        });
                                      });
}

// Authenticates again if the connection was made with other credentials than the present ones.
void Connection::Authenticate() {
  if (context_->hooks.credentials == nullptr || transport_ == nullptr) return;
  const NumberedCredentials current = context_->hooks.credentials->current();
  if (current.number == credentials_number_) return;
  credentials_number_ = current.number;
  const bool queued = machine_->Authenticate(
      current.credentials, [context = context_](const absl::StatusOr<store::Reply>& reply) {
        if (!reply.ok() || !reply->is_error()) return;
        const std::string_view text = reply->text();
        context->Log({LogEvent::Kind::kAuthenticationRefused, context->address,
                      text.substr(0, text.find(' '))});
      });
  if (!queued || turn_will_end_ || machine_->closed()) return;
  turn_will_end_ = true;
  EndTurn();
}

base::Task<absl::Status> Connection::Connect(std::shared_ptr<Connection> connection) {
  const std::shared_ptr<ClientContext> context = connection->context_;
  absl::Status status;
  for (size_t i = 0; i < context->targets(); ++i) {
    const Options target = connection->NextTarget();
    const auto connector = std::make_shared<Connector>(context->executor, target);
    co_await ConnectorAwaiter(*connector);
    status = connector->status();
    if (!status.ok()) continue;
    connection->OnConnected(*connector);
    break;
  }
  co_return status;
}

void Connection::Dial() { Run(run_machine_.Resume(RunEvent::Started(SteadyMicros()))); }

void Connection::Submit(store::Request& request) {
  machine_->Submit(request);
  if (turn_will_end_ || machine_->closed() || machine_->queued() == 0) return;
  turn_will_end_ = true;
  asio::post(context_->executor, [self = shared_from_this()] { self->EndTurn(); });
}

void Connection::EndTurn() {
  turn_will_end_ = false;
  Perform(machine_->Resume(ConnectionEvent::TurnEnded(SteadyMicros())));
}

// The life of the connection.

void Connection::Run(RunAction action) {
  switch (action.kind) {
    case RunAction::Kind::kNone:
      return;
    case RunAction::Kind::kConnect: {
      // The connector refers to the options, so its callback keeps them alive.
      const auto target = std::make_shared<const Options>(NextTarget());
      connector_ = std::make_shared<Connector>(context_->executor, *target);
      return connector_->Start([self = shared_from_this(), target] { self->OnConnectorDone(); });
    }
    case RunAction::Kind::kPing:
      turn_will_end_ = true;
      machine_->Ping();
      EndTurn();
      return SetRunTimer(action.wake_at_us);
    case RunAction::Kind::kWait:
      return SetRunTimer(action.wake_at_us);
    case RunAction::Kind::kDrop:
      context_->Log({LogEvent::Kind::kUnhealthy, context_->address});
      return Lose("it did not answer the health check");
    case RunAction::Kind::kFinish:
      return;
  }
}

void Connection::OnConnectorDone() {
  const std::shared_ptr<Connector> connector = std::move(connector_);
  if (machine_->closed()) return;
  if (connector->status().ok()) return OnConnected(*connector);
  ++context_->counters.connect_failures;
  const std::string_view why = base::ToStd(connector->status().message());
  context_->Log({LogEvent::Kind::kConnectFailed, context_->address, why});
  machine_->Resume(ConnectionEvent::Lost(why));
  Resume(RunEvent::Failed(SteadyMicros()));
}

void Connection::OnConnected(Connector& connector) {
  context_->Log(
      {LogEvent::Kind::kConnected, context_->address, connector.machine().server_version()});
  ++context_->counters.connects;
  transport_ = connector.TakeTransport();
  if (transport_->resumed()) ++context_->counters.tls_resumptions;
  encrypting_ = false;
  rest_ = {};
  error_code error;
  transport_->socket().non_blocking(true, error);
  if (error) return Lose(error.message());
  const int64_t now_us = SteadyMicros();
  Run(run_machine_.Resume(RunEvent::Connected(now_us)));
  Read();
  const ConnectMachine& handshake = connector.machine();
  Perform(machine_->Resume(
      ConnectionEvent::Connected(now_us, handshake.protocol(), handshake.tracks())));
  // The credentials may have changed during the handshake.
  Authenticate();
  Notify(on_settled_);
}

void Connection::Lose(std::string_view reason) {
  // A failing waiter may destroy the client, which is the last owner of this object.
  const auto self = shared_from_this();
  if (machine_->closed()) return;
  CloseTransport();
  ++context_->counters.losses;
  context_->Log({LogEvent::Kind::kLost, context_->address, reason});
  machine_->Resume(ConnectionEvent::Lost(reason));
  Resume(RunEvent::Lost(SteadyMicros()));
}

// After a loss: connects again, at once or later, or gives up.
void Connection::Resume(RunEvent event) {
  if (machine_->closed()) {
    CloseTransport();
    Notify(on_change_);
    Notify(on_settled_);
    return;
  }
  const RunAction action = run_machine_.Resume(event);
  if (action.kind == RunAction::Kind::kWait) {
    context_->Log({LogEvent::Kind::kWaiting,
                   context_->address,
                   {},
                   absl::Microseconds(action.wake_at_us - event.now_us)});
  }
  Run(action);
}

void Connection::Notify(const std::function<void()>& callback) {
  if (!callback) return;
  // The callback may close the connection, which removes the callback.
  const std::function<void()> copy = callback;
  copy();
}

void Connection::SetRunTimer(int64_t wake_at_us) {
  if (wake_at_us == RunOptions::kNever) return;
  run_timer_.expires_at(TimePoint(wake_at_us));
  run_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (error || self->machine_->closed()) return;
    self->Run(self->run_machine_.Resume(RunEvent::Timer(SteadyMicros())));
  });
}

void Connection::Close(std::string_view reason) {
  const auto self = shared_from_this();
  if (connector_ != nullptr) connector_->Cancel();
  connector_ = nullptr;
  CloseTransport();
  run_timer_.cancel();
  command_timer_.cancel();
  on_change_ = nullptr;
  on_settled_ = nullptr;
  machine_->Resume(ConnectionEvent::Closed(reason));
}

void Connection::CloseTransport() {
  if (transport_ != nullptr) transport_->Close();
  transport_ = nullptr;
  if (machine_->closed()) {
    run_timer_.cancel();
    command_timer_.cancel();
  }
}

// Reading and writing.

void Connection::Perform(ConnectionAction action) {
  if (action.wake_at_us) SetCommandTimer(*action.wake_at_us);
  while (!action.close && !action.write.empty()) {
    if (!Write(action)) return;
  }
  // The machine cannot use the connection any more. If there is no transport, Lose() has closed it.
  if (!action.close || transport_ == nullptr) return;
  CloseTransport();
  ++context_->counters.losses;
  context_->Log({LogEvent::Kind::kLost, context_->address, "it could not be used any more"});
  Resume(RunEvent::Lost(SteadyMicros()));
}

// Writes a part and replaces `action` by the next one. Returns false if the socket must become
// writable first.
bool Connection::Write(ConnectionAction& action) {
  if (transport_->encrypted()) return Encrypt(action);
  error_code error;
  const size_t size = transport_->socket().write_some(
      asio::buffer(action.write.data(), action.write.size()), error);
  if (MustWait(error)) {
    WaitUntilWritable(action.write);
    return false;
  }
  if (error) {
    Lose(error.message());
    action = {};
    return true;
  }
  CountWritten(size);
  action = machine_->Resume(ConnectionEvent::Written(size));
  return true;
}

void Connection::CountWritten(size_t size) {
  ++context_->counters.writes;
  context_->counters.bytes_written += size;
}

// Bytes passed to TLS count as written at once, like bytes passed to a socket: a failed write does
// not report how many of its records have left.
bool Connection::Encrypt(ConnectionAction& action) {
  if (encrypting_) {
    rest_ = action.write;
    return false;
  }
  encrypting_ = true;
  plain_.assign(action.write.substr(0, kEncryptBytes));
  SendEncrypted(0);
  CountWritten(plain_.size());
  action = machine_->Resume(ConnectionEvent::Written(plain_.size()));
  return true;
}

void Connection::SendEncrypted(size_t sent) {
  transport_->AsyncWriteSome(
      asio::buffer(plain_.data() + sent, plain_.size() - sent),
      [self = shared_from_this(), transport = transport_, sent](const error_code& error,
                                                                size_t size) {
        if (transport != self->transport_) return;
        if (error) return self->Lose(error.message());
        if (sent + size < self->plain_.size()) return self->SendEncrypted(sent + size);
        self->encrypting_ = false;
        self->Perform(ConnectionAction{.write = std::exchange(self->rest_, {}), .wake_at_us = {}});
      });
}

void Connection::WaitUntilWritable(std::string_view rest) {
  transport_->socket().async_wait(
      Transport::Socket::wait_write,
      [self = shared_from_this(), transport = transport_, rest](const error_code& error) {
        // With another transport, the socket was closed and `rest` is no longer valid.
        if (error || transport != self->transport_) return;
        self->Perform(ConnectionAction{.write = rest, .wake_at_us = {}});
      });
}

void Connection::Read() {
  transport_->AsyncReadSome(
      asio::buffer(read_buffer_),
      [self = shared_from_this(), transport = transport_](const error_code& error, size_t size) {
        self->OnRead(transport, error, size);
      });
}

void Connection::OnRead(const TransportHandle& transport, const error_code& error, size_t size) {
  if (transport != transport_) return;
  if (error) {
    return Lose(error == asio::error::eof ? "the server closed it" : error.message());
  }
  ++context_->counters.reads;
  context_->counters.bytes_read += size;
  const int64_t now_us = SteadyMicros();
  Run(run_machine_.Resume(RunEvent::Received(now_us)));
  turn_will_end_ = true;
  Perform(machine_->Resume(
      ConnectionEvent::Received(std::string_view(read_buffer_.data(), size), now_us)));
  Notify(on_change_);
  EndTurn();
  if (transport == transport_) Read();
}

void Connection::SetCommandTimer(int64_t wake_at_us) {
  command_timer_.expires_at(TimePoint(wake_at_us));
  command_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error) self->OnCommandTimer();
  });
}

void Connection::OnCommandTimer() {
  if (machine_->closed()) return;
  turn_will_end_ = true;
  Perform(machine_->Resume(ConnectionEvent::Timer(SteadyMicros())));
  EndTurn();
}

}  // namespace redouble::inline v0_1::redis
