#include "redouble/backends/testing/live_server.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/fsm/cluster/cluster_route.h"
#include "redouble/backends/redis/net/client/sync_store.h"
#include "redouble/backends/redis/spawn/certificates_for_test.h"
#include "redouble/backends/redis/spawn/private_folder.h"
#include "redouble/backends/testing/cluster_unrest.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/command_row.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::tests {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(20);

enum class LiveKind : uint8_t { kPlain, kTls, kCluster };

LiveKind WantedKind() {
  const char* const word = std::getenv("REDOUBLE_LIVE_BACKEND");
  const std::string_view kind = word == nullptr ? "" : word;
  if (kind.empty()) return LiveKind::kPlain;
  if (kind == "tls") return LiveKind::kTls;
  if (kind == "cluster") return LiveKind::kCluster;
  std::fprintf(stderr, "REDOUBLE_LIVE_BACKEND is tls, cluster or unset, not \"%s\"\n", word);
  std::abort();
}

// The TLS files of this process, which are deleted when it ends.
class TlsFiles {
 public:
  static const absl::StatusOr<std::unique_ptr<TlsFiles>>& OfProcess() {
    static const absl::StatusOr<std::unique_ptr<TlsFiles>> files = Make();
    return files;
  }
  const redis::CertificatesForTest& certificates() const { return certificates_; }

 private:
  explicit TlsFiles(redis::PrivateFolder folder)
      : folder_(std::move(folder)), certificates_(folder_.path()) {}

  static absl::StatusOr<std::unique_ptr<TlsFiles>> Make() {
    REDOUBLE_ASSIGN_OR_RETURN(redis::PrivateFolder folder,
                              redis::PrivateFolder::Create("redouble-tls-"));
    return std::unique_ptr<TlsFiles>(new TlsFiles(std::move(folder)));
  }

  const redis::PrivateFolder folder_;
  const redis::CertificatesForTest certificates_;
};

constexpr size_t kMasters = 3;

// The cluster of this process, and what happens to it.
struct LiveCluster {
  std::unique_ptr<redis::SpawnedCluster> nodes;
  std::unique_ptr<SlotMover> mover;
  std::unique_ptr<MasterKiller> killer;
  Unrest unrest = Unrest::kNone;
  base::Rng rng{1};

  static LiveCluster& OfProcess() {
    static LiveCluster cluster;
    return cluster;
  }

  // Locked while no slot moves.
  std::unique_lock<std::mutex> Calm() {
    return mover == nullptr ? std::unique_lock<std::mutex>() : mover->Calm();
  }

  absl::Status StartUnlessWhole(absl::Time start) {
    if (killer != nullptr) killer->WaitUntilTaken();
    const bool is_whole = nodes != nullptr && unrest == WantedUnrest() &&
                          (killer == nullptr || !killer->has_killed());
    killer = nullptr;
    if (is_whole) return absl::OkStatus();
    unrest = WantedUnrest();
    mover = nullptr;
    const size_t replicas = unrest == Unrest::kFailover ? 1 : 0;
    REDOUBLE_ASSIGN_OR_RETURN(nodes,
                              redis::SpawnedCluster::Start(
                                  {.masters = kMasters, .replicas = replicas, .held_time = start}));
    if (unrest == Unrest::kMoving) {
      mover = std::make_unique<SlotMover>(*nodes, kMasters, rng.Next());
    }
    return absl::OkStatus();
  }
};

// Prints commands, with their keys, that a cluster refuses because of the slots of the keys, and
// commands whose outcome is unknown.
class ClusterWatcher final : public store::Store {
 public:
  explicit ClusterWatcher(std::unique_ptr<store::Store> inner) : inner_(std::move(inner)) {}

  // The wrapped store completes requests during the call.
  void Submit(store::Request& request) override {
    MasterKiller* const killer = LiveCluster::OfProcess().killer.get();
    if (killer != nullptr) killer->BeforeCommand();
    // The masters answer one after the other.
    std::unique_lock<std::mutex> calm;
    if (AsksAllMasters(request)) calm = LiveCluster::OfProcess().Calm();
    Answered answered(request);
    inner_->Submit(answered);
    const bool refused = answered.result.ok()
                             ? IsKeyError(*answered.result)
                             : absl::IsFailedPrecondition(answered.result.status());
    if (refused) Print(request);
    if (!answered.result.ok() &&
        store::ErrorKindOf(answered.result.status()) == store::ErrorKind::kOutcomeUnknown) {
      std::printf("[cluster unknown] %s\n", std::string(request.commands().front().name()).c_str());
      std::fflush(stdout);
    }
    request.Complete(std::move(answered.result));
  }

 private:
  class Answered final : public store::Request {
   public:
    explicit Answered(const store::Request& asked) : Request(asked.kind(), asked.commands()) {}
    absl::StatusOr<store::Reply> result;

   private:
    void OnComplete(absl::StatusOr<store::Reply>&& done) override { result = std::move(done); }
  };

  static bool AsksAllMasters(const store::Request& request) {
    const store::CommandId id = store::RowOf(request.commands().front());
    return id == store::CommandId::kDbSize || id == store::CommandId::kKeys ||
           id == store::CommandId::kFlushAll;
  }

  // The error of a script that accesses a key that it did not declare.
  static bool IsKeyError(const store::Reply& reply) {
    return reply.is_error() && absl::StrContains(reply.text(), "non local key");
  }

  static void Print(const store::Request& request) {
    const bool transaction = request.kind() == store::Request::Kind::kTransaction;
    std::string line = transaction ? "[cluster refused] MULTI" : "[cluster refused]";
    for (const store::Command& command : request.commands()) {
      if (!transaction && redis::RouteOf(command).ok() && request.commands().size() > 1) continue;
      if (!transaction) {
        absl::StrAppend(&line, " ", absl::AsciiStrToUpper(base::ToAbsl(command.name())));
      }
      const store::CommandId row = store::RowOf(command);
      if (row == store::CommandId::kUnknown) continue;
      const auto keys = store::KeyIndexes(store::SpecOf(row), command.arguments());
      for (const size_t key : keys.value_or(std::vector<size_t>())) {
        absl::StrAppend(&line, "\t", absl::CHexEscape(base::ToAbsl(command.arguments()[key])));
      }
    }
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }

  const std::unique_ptr<store::Store> inner_;
};

redis::Options WithPatience(redis::Options options) {
  options.connect_timeout = kPatience;
  options.command_timeout = kPatience;
  return options;
}

absl::Status Empty(const redis::SpawnedCluster& cluster) {
  REDOUBLE_ASSIGN_OR_RETURN(auto store, redis::SyncStore::Connect(LiveOptions(cluster)));
  for (const std::vector<std::string_view>& words :
       {std::vector<std::string_view>{"FLUSHALL"}, {"SCRIPT", "FLUSH"}, {"FUNCTION", "FLUSH"}}) {
    const auto send = [&]() -> base::Task<absl::StatusOr<store::Reply>> {
      const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
      co_return co_await store->Execute(command);
    };
    REDOUBLE_RETURN_IF_ERROR(base::Run(send()).status());
  }
  return absl::OkStatus();
}

}  // namespace

bool LiveTestsWantACluster() { return WantedKind() == LiveKind::kCluster; }

absl::StatusOr<std::unique_ptr<redis::SpawnedServer>> StartLiveServer(absl::Time start) {
  redis::SpawnedServerOptions options;
  options.held_time = start;
  if (WantedKind() == LiveKind::kTls) {
    const auto& files = TlsFiles::OfProcess();
    REDOUBLE_RETURN_IF_ERROR(files.status());
    const redis::CertificatesForTest& certificates = (*files)->certificates();
    options.listen_on_loopback = true;
    options.tls = redis::SpawnedTls{certificates.server_certificate(), certificates.server_key(),
                                    certificates.authority()};
  }
  return redis::SpawnedServer::Start(options);
}

absl::StatusOr<redis::SpawnedCluster*> EmptyLiveCluster(absl::Time start, Masters masters) {
  LiveCluster& cluster = LiveCluster::OfProcess();
  REDOUBLE_RETURN_IF_ERROR(cluster.StartUnlessWhole(start));
  const auto calm = cluster.Calm();
  REDOUBLE_RETURN_IF_ERROR(Empty(*cluster.nodes));
  REDOUBLE_RETURN_IF_ERROR(cluster.nodes->SetTime(start));
  if (cluster.unrest == Unrest::kFailover && masters == Masters::kMayDie) {
    cluster.killer = std::make_unique<MasterKiller>(*cluster.nodes, kMasters, cluster.rng.Fork());
  }
  return cluster.nodes.get();
}

absl::Status AdvanceLiveCluster(redis::SpawnedCluster& nodes, absl::Time time) {
  LiveCluster& cluster = LiveCluster::OfProcess();
  const auto calm = cluster.Calm();
  if (cluster.killer != nullptr) cluster.killer->WaitUntilTaken();
  REDOUBLE_RETURN_IF_ERROR(nodes.SetTime(time));
  return nodes.Settle();
}

redis::Options LiveOptions(const redis::SpawnedServer& server) {
  redis::Options options;
  options.address = redis::UnixAddress{server.unix_socket()};
  if (server.port() != 0) {
    options.address = redis::TcpAddress{"127.0.0.1", static_cast<uint16_t>(server.port())};
    options.tls.enabled = true;
    options.tls.ca_file = (*TlsFiles::OfProcess())->certificates().authority();
  }
  return WithPatience(std::move(options));
}

redis::Options LiveOptions(const redis::SpawnedCluster& cluster) {
  return WithPatience(*redis::Options::Parse(cluster.uri()));
}

absl::StatusOr<std::unique_ptr<store::Store>> ConnectToLive(const redis::SpawnedServer& server) {
  return redis::SyncStore::Connect(LiveOptions(server), redis::Sharing::kDedicated);
}

absl::StatusOr<std::unique_ptr<store::Store>> ConnectToLive(const redis::SpawnedCluster& cluster) {
  REDOUBLE_ASSIGN_OR_RETURN(auto store, redis::SyncStore::Connect(LiveOptions(cluster)));
  return std::make_unique<ClusterWatcher>(std::move(store));
}

}  // namespace redouble::inline v0_1::tests
