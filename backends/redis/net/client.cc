#include "backends/redis/net/client.h"

#include <coroutine>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "backends/redis/net/connection.h"
#include "backends/redis/net/connector.h"
#include "core/base/resume.h"

namespace redouble::redis {
namespace {

// Awaits a connector; going away before it is done gives up.
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

ExecOptions MakeExecOptions(const Options& options, Sharing sharing) {
  ExecOptions exec;
  exec.address = options.AddressUri();
  exec.sharing = sharing;
  if (options.command_timeout != absl::InfiniteDuration()) {
    exec.command_timeout_us = absl::ToInt64Microseconds(options.command_timeout);
  }
  return exec;
}

}  // namespace

base::Task<absl::StatusOr<std::unique_ptr<Client>>> Client::Connect(
    boost::asio::any_io_executor executor, Options options, Sharing sharing) {
  if (absl::Status status = options.Validate(); !status.ok()) co_return status;
  if (options.tls.enabled) co_return absl::UnimplementedError("TLS is not built yet");
  if (options.cluster || !options.sentinel_master.empty()) {
    co_return absl::InvalidArgumentError(
        "Redis options: cluster=yes and sentinel_master are not for a client of one server");
  }
  const auto connector = std::make_shared<Connector>(executor, options);
  co_await ConnectorAwaiter(*connector);
  if (!connector->status().ok()) co_return connector->status();
  auto connection =
      std::make_shared<Connection>(connector->TakeSocket(), MakeExecOptions(options, sharing));
  connection->Start();
  co_return absl::WrapUnique(new Client(std::move(options), std::move(connection)));
}

Client::Client(Options options, std::shared_ptr<Connection> connection)
    : options_(std::move(options)), connection_(std::move(connection)) {}

Client::~Client() { connection_->Close("the client was destroyed"); }

void Client::Submit(store::Request& request) { connection_->Submit(request); }

void Client::Close() { connection_->Close("the client was closed"); }

bool Client::connected() const { return connection_->connected(); }

const Counters& Client::counters() const { return connection_->counters(); }

}  // namespace redouble::redis
