#include "sim/cli/live_backend.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/redis/net/blocking_store.h"
#include "core/base/run.h"
#include "core/base/string_bridge.h"
#include "core/store/keys.h"

namespace redouble::sim {
namespace {

using Connection = absl::StatusOr<std::unique_ptr<store::Store>>;

absl::Status RealTime(std::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat(base::ToAbsl(what),
                   " a server that is not ours cannot be done: --redis runs in real "
                   "time; use --spawn-redis"));
}

// Within the rounding of PTTL, which counts whole milliseconds.
constexpr absl::Duration kTtlRounding = absl::Milliseconds(1);

}  // namespace

SpawnedBackend::SpawnedBackend(std::unique_ptr<redis::SpawnedServer> server)
    : server_(std::move(server)) {}

absl::StatusOr<std::unique_ptr<SpawnedBackend>> SpawnedBackend::Start() {
  redis::SpawnedServerOptions options;
  options.held_time = absl::UnixEpoch();
  absl::StatusOr<std::unique_ptr<redis::SpawnedServer>> server =
      redis::SpawnedServer::Start(options);
  if (!server.ok()) return server.status();
  return std::unique_ptr<SpawnedBackend>(new SpawnedBackend(*std::move(server)));
}

absl::Status SpawnedBackend::Begin(absl::Time start, uint64_t) {
  clock_.emplace(start);
  if (absl::Status status = server_->SetTime(start); !status.ok()) return status;
  return Restart();
}

Connection SpawnedBackend::Connect() { return redis::BlockingStore::Connect(server_->uri()); }

absl::Status SpawnedBackend::AdvanceTo(absl::Time time) {
  // Timers of the clients fire with the server's clock at their moment.
  for (auto next = clock_->NextDeadline(); next && *next <= time; next = clock_->NextDeadline()) {
    if (absl::Status status = server_->SetTime(std::max(*next, clock_->Now())); !status.ok()) {
      return status;
    }
    clock_->AdvanceToNext();
  }
  if (absl::Status status = server_->SetTime(time); !status.ok()) return status;
  clock_->AdvanceTo(time);
  return absl::OkStatus();
}

absl::Status SpawnedBackend::Flush() {
  const Connection connection = Connect();
  if (!connection.ok()) return connection.status();
  return base::Run(store::FlushAll(**connection));
}

absl::Status SpawnedBackend::Restart() {
  server_->Kill();
  return server_->Restart();
}

UriBackend::UriBackend(redis::Options options) : options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<UriBackend>> UriBackend::Open(std::string_view uri, OnKeys on_keys) {
  absl::StatusOr<redis::Options> options = redis::Options::Parse(uri);
  if (!options.ok()) return options.status();
  const Connection connection = redis::BlockingStore::Connect(*options);
  if (!connection.ok()) return connection.status();
  const absl::StatusOr<int64_t> keys = base::Run(store::DbSize(**connection));
  if (!keys.ok()) return keys.status();
  if (*keys > 0 && on_keys == OnKeys::kRefuse) {
    return absl::FailedPreconditionError(
        absl::StrCat(options->ToUri(), " holds ", *keys,
                     " keys; a replay needs an empty database: name another, or delete them with "
                     "--flush"));
  }
  return std::unique_ptr<UriBackend>(new UriBackend(*std::move(options)));
}

UriBackend::~UriBackend() {
  // A server that has gone meanwhile has nothing to clean.
  static_cast<void>(Flush());
}

Connection UriBackend::Connect() { return redis::BlockingStore::Connect(options_); }

absl::Status UriBackend::Begin(absl::Time start, uint64_t) {
  if (absl::Status status = Flush(); !status.ok()) return status;
  clock_.emplace(start);
  begun_ = std::chrono::steady_clock::now();
  return absl::OkStatus();
}

absl::Status UriBackend::AdvanceTo(absl::Time) { return RealTime("moving the time of"); }

absl::Status UriBackend::Flush() {
  const Connection connection = Connect();
  if (!connection.ok()) return connection.status();
  return base::Run(store::FlushDb(**connection));
}

absl::Status UriBackend::Restart() { return RealTime("restarting"); }

absl::Duration UriBackend::Drift() const {
  return absl::FromChrono(std::chrono::steady_clock::now() - begun_) + kTtlRounding;
}

}  // namespace redouble::sim
