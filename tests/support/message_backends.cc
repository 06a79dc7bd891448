#include "tests/support/message_backends.h"

#include <optional>
#include <utility>

#include "backends/memory/session.h"
#include "backends/redis/net/blocking_client.h"
#include "backends/redis/options.h"

namespace redouble::tests {

absl::Status MemoryMessages::Start() {
  engine_ = std::make_unique<memory::Engine>(clock_);
  session_ = engine_->Connect();
  subscription_ = engine_->Connect();
  return absl::OkStatus();
}

absl::Status LiveMessages::Start() {
  redis::SpawnedServerOptions options;
  options.held_time = clock_.Now();
  absl::StatusOr<std::unique_ptr<redis::SpawnedServer>> server =
      redis::SpawnedServer::Start(options);
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  redis::Options client_options;
  client_options.address = redis::UnixAddress{server_->unix_socket()};
  client_options.command_timeout = RawConnection::kPatience;
  absl::StatusOr<std::unique_ptr<redis::BlockingClient>> client =
      redis::BlockingClient::Connect(client_options);
  if (!client.ok()) return client.status();
  client_ = *std::move(client);
  absl::StatusOr<std::unique_ptr<RawConnection>> control =
      RawConnection::ConnectUnix(server_->unix_socket());
  if (!control.ok()) return control.status();
  control_ = *std::move(control);
  absl::StatusOr<std::unique_ptr<RawConnection>> wire =
      RawConnection::ConnectUnix(server_->unix_socket());
  if (!wire.ok()) return wire.status();
  subscription_.Open(*std::move(wire));
  return absl::OkStatus();
}

void LiveMessages::Deliver() {
  EXPECT_TRUE(control_->Synchronize().ok());
  subscription_.Deliver();
}

void LiveMessages::Subscription::Submit(store::Request& request) {
  absl::StatusOr<store::Reply> reply = wire_->Call(request.commands()[0]);
  // Messages may come in front of the reply.
  while (reply.ok() && store::ReadMessage(*reply)) {
    Push(*reply);
    reply = wire_->Receive();
  }
  request.Complete(std::move(reply));
}

void LiveMessages::Subscription::Deliver() {
  while (true) {
    const absl::StatusOr<std::optional<store::Reply>> reply = wire_->TryReceive();
    if (!reply.ok() || !*reply) return;
    Push(**reply);
  }
}

void LiveMessages::Subscription::Push(const store::Reply& reply) {
  if (listener_ != nullptr) listener_->OnPush(reply);
}

}  // namespace redouble::tests
