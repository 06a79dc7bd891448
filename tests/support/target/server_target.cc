#include "redouble/tests/support/target/server_target.h"

#include <stdexcept>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

void Require(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

template <typename T>
T Require(absl::StatusOr<T> result) {
  Require(result.status());
  return *std::move(result);
}

redis::SpawnedServerOptions Options(std::vector<std::string> config, std::string executable) {
  redis::SpawnedServerOptions options;
  options.executable = std::move(executable);
  options.held_time = absl::FromUnixSeconds(1'700'000'000);
  options.config = std::move(config);
  return options;
}

}  // namespace

ServerTarget::ServerTarget(std::vector<std::string> config, bool resp3, std::string executable)
    : resp3_(resp3),
      server_(
          Require(redis::SpawnedServer::Start(Options(std::move(config), std::move(executable))))),
      control_(Connect()) {}

std::unique_ptr<RawConnection> ServerTarget::Connect() const {
  return Require(RawConnection::ConnectUnix(server_->unix_socket()));
}

void ServerTarget::Reset(absl::Time now) {
  bool hung_up = false;
  for (auto& [number, connection] : connections_) {
    connection.stale = true;
    // A blocked or subscribed connection is closed; nothing else reliably ends its state.
    if (connection.unanswered == 0 && !connection.subscribed) continue;
    connection = Connection();
    hung_up = true;
  }
  if (hung_up) Sync();
  Require(control_->Call(Words{"FLUSHALL"}));
  Require(server_->SetTime(now));
}

void ServerTarget::SetTime(absl::Time now) { Require(server_->SetTime(now)); }

void ServerTarget::Settle() { Require(server_->Settle()); }

void ServerTarget::Sync() { Require(control_->Synchronize()); }

std::vector<Reply> ServerTarget::RunAll(int number, std::span<const Words> commands) {
  Connection& connection = At(number);
  if (connection.unanswered > 0) throw std::logic_error("the connection is blocked");
  for (const Words& command : commands) connection.wire->Append(command);
  Require(connection.wire->Flush());
  std::vector<Reply> replies;
  replies.reserve(commands.size());
  for (size_t i = 0; i < commands.size(); ++i) {
    replies.push_back(Require(connection.wire->Receive()));
  }
  return replies;
}

std::optional<Reply> ServerTarget::Run(int number, const Words& command) {
  Connection& connection = At(number);
  Require(connection.wire->Send(command));
  const std::string name = absl::AsciiStrToLower(command[0]);
  connection.subscribed = connection.subscribed || absl::EndsWith(name, "subscribe");
  Sync();
  return connection.unanswered++ > 0 ? std::nullopt : Poll(number);
}

std::optional<Reply> ServerTarget::Poll(int number) {
  Connection& connection = At(number);
  std::optional<Reply> reply = Require(connection.wire->TryReceive());
  if (reply && connection.unanswered > 0) --connection.unanswered;
  return reply;
}

ServerTarget::Connection& ServerTarget::At(int number) {
  Connection& connection = connections_[number];
  const bool is_new = connection.wire == nullptr;
  if (is_new) connection.wire = Connect();
  const bool was_stale = std::exchange(connection.stale, false);
  if (was_stale) {
    // Pushes arrive before the reply of RESET: FLUSHALL notifies all clients that track keys.
    Require(connection.wire->Send(Words{"RESET"}));
    while (Require(connection.wire->Receive()).shape() == Reply::Shape::kPush) {
    }
  }
  if (resp3_ && (is_new || was_stale)) {
    connection.wire->ReadResp3();
    Require(connection.wire->Call(Words{"HELLO", "3"}));
  }
  return connection;
}

}  // namespace redouble::inline v0_1::tests
