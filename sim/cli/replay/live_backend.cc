#include "redouble/sim/cli/replay/live_backend.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/redis/net/client/sync_store.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/table/version.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::inline v0_1::sim {
namespace {

using Connection = absl::StatusOr<std::unique_ptr<store::Store>>;

absl::Status RealTime(std::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat(base::ToAbsl(what),
                   " a server that is not ours cannot be done: --redis runs in real "
                   "time; use --spawn-redis"));
}

// PTTL rounds to whole milliseconds.
constexpr absl::Duration kTtlRounding = absl::Milliseconds(1);

// The value of a line of INFO, "redis_version:7.0.15"; empty if there is none.
std::string ValueOf(const std::string& info, std::string_view name) {
  for (const absl::string_view line : absl::StrSplit(info, "\r\n")) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (base::ToStd(parts.first) == name) return std::string(parts.second);
  }
  return "";
}

// "7.0" of "7.0.15".
absl::string_view MajorAndMinor(absl::string_view version) {
  return version.substr(0, version.rfind('.'));
}

// Returns FailedPrecondition if the server has another version than the scenario needs. Patch
// versions may differ.
absl::Status CheckVersion(const ServerNeeds& needs, const Connection& connection) {
  if (!needs.version) return absl::OkStatus();
  REDOUBLE_RETURN_IF_ERROR(connection.status());
  const store::Command info(store::CommandId::kInfo, {"server"});
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text,
                            store::DecodeString(base::Run((*connection)->Execute(info))));
  const std::string valkey = ValueOf(text, "valkey_version");
  const store::Product product = valkey.empty() ? store::Product::kRedis : store::Product::kValkey;
  const std::string version = valkey.empty() ? ValueOf(text, "redis_version") : valkey;
  const store::VersionSpec& spec = store::SpecOf(*needs.version);
  if (product == spec.product &&
      MajorAndMinor(version) == MajorAndMinor(base::ToAbsl(spec.version))) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the scenario needs ", base::ToAbsl(spec.name), ", and the server is ",
                   valkey.empty() ? "Redis " : "Valkey ", version));
}

}  // namespace

SpawnedBackend::SpawnedBackend(std::unique_ptr<redis::SpawnedServer> server)
    : server_(std::move(server)) {}

absl::StatusOr<std::unique_ptr<SpawnedBackend>> SpawnedBackend::Start() {
  redis::SpawnedServerOptions options;
  options.held_time = absl::UnixEpoch();
  REDOUBLE_ASSIGN_OR_RETURN(std::unique_ptr<redis::SpawnedServer> server,
                            redis::SpawnedServer::Start(options));
  return std::unique_ptr<SpawnedBackend>(new SpawnedBackend(std::move(server)));
}

absl::Status SpawnedBackend::Begin(const ServerNeeds& needs) {
  clock_.emplace(needs.start);
  REDOUBLE_RETURN_IF_ERROR(server_->SetTime(needs.start));
  REDOUBLE_RETURN_IF_ERROR(Restart());
  return CheckVersion(needs, Connect());
}

Connection SpawnedBackend::Connect() {
  return redis::SyncStore::Connect(server_->uri(), redis::Sharing::kDedicated);
}

absl::Status SpawnedBackend::AdvanceTo(absl::Time time) {
  // Timers of the clients fire at their deadlines, after the clock of the server has been set.
  for (auto next = clock_->NextDeadline(); next && *next <= time; next = clock_->NextDeadline()) {
    REDOUBLE_RETURN_IF_ERROR(server_->SetTime(std::max(*next, clock_->Now())));
    clock_->AdvanceToNext();
  }
  REDOUBLE_RETURN_IF_ERROR(server_->SetTime(time));
  clock_->AdvanceTo(time);
  return absl::OkStatus();
}

absl::Status SpawnedBackend::Flush() {
  const Connection connection = Connect();
  REDOUBLE_RETURN_IF_ERROR(connection.status());
  return base::Run(store::FlushAll(**connection));
}

absl::Status SpawnedBackend::Restart() {
  server_->Kill();
  return server_->Restart();
}

UriBackend::UriBackend(redis::Options options) : options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<UriBackend>> UriBackend::Open(std::string_view uri, OnKeys on_keys) {
  REDOUBLE_ASSIGN_OR_RETURN(redis::Options options, redis::Options::Parse(uri));
  const Connection connection = redis::SyncStore::Connect(options, redis::Sharing::kDedicated);
  REDOUBLE_RETURN_IF_ERROR(connection.status());
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t keys, base::Run(store::DbSize(**connection)));
  if (keys > 0 && on_keys == OnKeys::kRefuse) {
    return absl::FailedPreconditionError(
        absl::StrCat(options.ToUri(), " holds ", keys,
                     " keys; a replay needs an empty database: name another, or delete them with "
                     "--flush"));
  }
  return std::unique_ptr<UriBackend>(new UriBackend(std::move(options)));
}

UriBackend::~UriBackend() {
  // A server that has ended needs no cleaning.
  static_cast<void>(Flush());
}

Connection UriBackend::Connect() {
  return redis::SyncStore::Connect(options_, redis::Sharing::kDedicated);
}

absl::Status UriBackend::Begin(const ServerNeeds& needs) {
  REDOUBLE_RETURN_IF_ERROR(CheckVersion(needs, Connect()));
  REDOUBLE_RETURN_IF_ERROR(Flush());
  clock_.emplace(needs.start);
  begun_ = std::chrono::steady_clock::now();
  return absl::OkStatus();
}

absl::Status UriBackend::AdvanceTo(absl::Time) { return RealTime("moving the time of"); }

absl::Status UriBackend::Flush() {
  const Connection connection = Connect();
  REDOUBLE_RETURN_IF_ERROR(connection.status());
  return base::Run(store::FlushDb(**connection));
}

absl::Status UriBackend::Restart() { return RealTime("restarting"); }

absl::Duration UriBackend::Drift() const {
  return absl::FromChrono(std::chrono::steady_clock::now() - begun_) + kTtlRounding;
}

}  // namespace redouble::inline v0_1::sim
