// SpawnedSentinels: a real master with replicas, watched by real sentinels, on loopback, for tests.
//
// The sentinels discover each other and the replicas as in production. A dead master is replaced
// two to three seconds after its end.
//
//     auto watched = SpawnedSentinels::Start();
//     if (!watched.ok()) return watched.status();
//     SentinelClient::Connect(executor, *Options::Parse((*watched)->uri()));
//     (*watched)->server(0).Kill();  // The first master.
//
// Thread-safety: as SpawnedServer, for each server.

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_SENTINELS_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_SENTINELS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/spawn/spawned_server.h"

namespace redouble::inline v0_1::redis {

struct SpawnedSentinelsOptions {
  size_t replicas = 2;
  size_t sentinels = 3;
  // down-after-milliseconds: after this time of silence a sentinel considers a server down.
  absl::Duration down_after = absl::Milliseconds(500);
  absl::Duration patience = absl::Seconds(60);
};

class SpawnedSentinels {
 public:
  static constexpr std::string_view kMasterName = "mymaster";

  // Starts all servers and returns once the replicas follow and every sentinel knows the other
  // sentinels and the replicas.
  // Errors: those of SpawnedServer::Start; DeadlineExceeded if that takes longer than `patience`.
  static absl::StatusOr<std::unique_ptr<SpawnedSentinels>> Start(
      const SpawnedSentinelsOptions& options = SpawnedSentinelsOptions());

  // Kills all servers.
  ~SpawnedSentinels();

  SpawnedSentinels(const SpawnedSentinels&) = delete;
  SpawnedSentinels& operator=(const SpawnedSentinels&) = delete;

  // The first master, followed by the first replicas.
  SpawnedServer& server(size_t index) { return *servers_[index]; }
  size_t servers() const { return servers_.size(); }
  SpawnedServer& sentinel(size_t index) { return *sentinels_[index]; }

  // The URI for a client: the first sentinel as host, the others as seeds, and the name of the
  // master.
  std::string uri() const;

 private:
  explicit SpawnedSentinels(SpawnedSentinelsOptions options) : options_(std::move(options)) {}

  absl::Status StartServers();
  absl::Status StartSentinels();
  absl::Status WaitUntilWatched() const;
  absl::StatusOr<bool> Watches(const SpawnedServer& sentinel) const;

  const SpawnedSentinelsOptions options_;
  std::vector<std::unique_ptr<SpawnedServer>> servers_;
  std::vector<std::unique_ptr<SpawnedServer>> sentinels_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_SENTINELS_H_
