#include "tests/support/backends.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "backends/redis/net/blocking_client.h"
#include "backends/redis/options.h"

namespace redouble::tests {
namespace {

// A reply that is due comes within microseconds, but for a server that has stopped answering or a
// machine that is very busy.
constexpr absl::Duration kPatience = absl::Seconds(20);

void DieUnless(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "the live backend failed: %s\n", status.ToString().c_str());
  std::abort();
}

}  // namespace

absl::Status MemoryBackend::Start(absl::Time start) {
  clock_ = std::make_unique<base::VirtualClock>(start);
  engine_ = std::make_unique<memory::Engine>(*clock_);
  return absl::OkStatus();
}

std::unique_ptr<store::Store> MemoryBackend::Connect() { return engine_->Connect(); }

absl::Time MemoryBackend::Now() const { return clock_->Now(); }

void MemoryBackend::AdvanceTo(absl::Time time) { clock_->AdvanceTo(time); }

absl::Status LiveBackend::Start(absl::Time start) {
  redis::SpawnedServerOptions options;
  options.held_time = start;
  absl::StatusOr<std::unique_ptr<redis::SpawnedServer>> server =
      redis::SpawnedServer::Start(options);
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return absl::OkStatus();
}

std::unique_ptr<store::Store> LiveBackend::Connect() {
  redis::Options options;
  options.address = redis::UnixAddress{server_->unix_socket()};
  options.connect_timeout = kPatience;
  options.command_timeout = kPatience;
  absl::StatusOr<std::unique_ptr<redis::BlockingClient>> client =
      redis::BlockingClient::Connect(options);
  DieUnless(client.status());
  return *std::move(client);
}

absl::Time LiveBackend::Now() const { return *server_->held_time(); }

void LiveBackend::AdvanceTo(absl::Time time) {
  if (time <= Now()) return;
  DieUnless(server_->SetTime(time));
  DieUnless(server_->Settle());
}

}  // namespace redouble::tests
