#include "redouble/backends/redis/spawn/spawned_sentinels.h"

#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/spawn/ask_server.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::redis {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(20);

}  // namespace

absl::StatusOr<std::unique_ptr<SpawnedSentinels>> SpawnedSentinels::Start(
    const SpawnedSentinelsOptions& options) {
  std::unique_ptr<SpawnedSentinels> watched(new SpawnedSentinels(options));
  REDOUBLE_RETURN_IF_ERROR(watched->StartServers());
  REDOUBLE_RETURN_IF_ERROR(watched->StartSentinels());
  REDOUBLE_RETURN_IF_ERROR(watched->WaitUntilWatched());
  return watched;
}

SpawnedSentinels::~SpawnedSentinels() = default;

absl::Status SpawnedSentinels::StartServers() {
  for (size_t i = 0; i < 1 + options_.replicas; ++i) {
    SpawnedServerOptions server;
    server.listen_on_loopback = true;
    server.patience = options_.patience;
    server.config = {"hz 20", "repl-diskless-sync-delay 0", "repl-ping-replica-period 1"};
    if (i > 0) server.config.push_back(absl::StrCat("replicaof 127.0.0.1 ", servers_[0]->port()));
    REDOUBLE_ASSIGN_OR_RETURN(std::unique_ptr<SpawnedServer> started, SpawnedServer::Start(server));
    servers_.push_back(std::move(started));
  }
  return absl::OkStatus();
}

absl::Status SpawnedSentinels::StartSentinels() {
  const std::string name(kMasterName);
  for (size_t i = 0; i < options_.sentinels; ++i) {
    SpawnedServerOptions sentinel;
    sentinel.sentinel = true;
    sentinel.listen_on_loopback = true;
    sentinel.patience = options_.patience;
    sentinel.config = {
        absl::StrCat("sentinel monitor ", name, " 127.0.0.1 ", servers_[0]->port(), " ",
                     options_.sentinels / 2 + 1),
        absl::StrCat("sentinel down-after-milliseconds ", name, " ",
                     absl::ToInt64Milliseconds(options_.down_after)),
        absl::StrCat("sentinel failover-timeout ", name, " 5000"),
    };
    REDOUBLE_ASSIGN_OR_RETURN(std::unique_ptr<SpawnedServer> started,
                              SpawnedServer::Start(sentinel));
    sentinels_.push_back(std::move(started));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> SpawnedSentinels::Watches(const SpawnedServer& sentinel) const {
  // "master0:name=mymaster,status=ok,address=127.0.0.1:6379,slaves=2,sentinels=3"
  REDOUBLE_ASSIGN_OR_RETURN(std::string info, AskServer(sentinel, "INFO", "sentinel"));
  return absl::StrContains(
      info, absl::StrCat("status=ok,address=127.0.0.1:", servers_[0]->port(),
                         ",slaves=", options_.replicas, ",sentinels=", options_.sentinels, "\r"));
}

absl::Status SpawnedSentinels::WaitUntilWatched() const {
  const auto end = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(options_.patience);
  for (const auto& sentinel : sentinels_) {
    while (!sentinel->WaitForExit(kPollInterval)) {
      REDOUBLE_ASSIGN_OR_RETURN(const bool watches, Watches(*sentinel));
      if (watches) break;
      if (std::chrono::steady_clock::now() > end) {
        return absl::DeadlineExceededError("the sentinels do not find each other");
      }
    }
  }
  return absl::OkStatus();
}

std::string SpawnedSentinels::uri() const {
  std::string uri = absl::StrCat("redis://127.0.0.1:", sentinels_[0]->port(),
                                 "?sentinel_master=", std::string(kMasterName));
  for (size_t i = 1; i < sentinels_.size(); ++i) {
    absl::StrAppend(&uri, i == 1 ? "&seeds=" : ",", "127.0.0.1:", sentinels_[i]->port());
  }
  return uri;
}

}  // namespace redouble::inline v0_1::redis
