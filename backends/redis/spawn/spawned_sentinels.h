// SpawnedSentinels: a real master with replicas, watched by real sentinels, on loopback, for tests.
//
// The sentinels find each other and the replicas by themselves, as in production; a dead master is
// replaced some two or three seconds after its end.
//
// Thread-safety: as SpawnedServer, for each server.
//
//     auto watched = SpawnedSentinels::Start();
//     if (!watched.ok()) return watched.status();
//     SentinelClient::Connect(executor, *Options::Parse((*watched)->uri()));
//     (*watched)->server(0).Kill();  // The first master.

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
#include "backends/redis/spawn/spawned_server.h"

namespace redouble::redis {

struct SpawnedSentinelsOptions {
  size_t replicas = 2;
  size_t sentinels = 3;
  // How long a server may be silent before a sentinel holds it for dead.
  absl::Duration down_after = absl::Milliseconds(500);
  absl::Duration patience = absl::Seconds(60);
};

class SpawnedSentinels {
 public:
  static constexpr std::string_view kMasterName = "mymaster";

  // Starts all and returns once the replicas follow and every sentinel knows the others and the
  // replicas.
  // Errors: those of SpawnedServer::Start; DeadlineExceeded when they do not find each other.
  static absl::StatusOr<std::unique_ptr<SpawnedSentinels>> Start(
      const SpawnedSentinelsOptions& options = SpawnedSentinelsOptions());

  // Kills all.
  ~SpawnedSentinels();

  SpawnedSentinels(const SpawnedSentinels&) = delete;
  SpawnedSentinels& operator=(const SpawnedSentinels&) = delete;

  // The first master, then the first replicas.
  SpawnedServer& server(size_t index) { return *servers_[index]; }
  size_t servers() const { return servers_.size(); }
  SpawnedServer& sentinel(size_t index) { return *sentinels_[index]; }

  // For a client: the first sentinel as host, the others as seeds, the master's name.
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

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_SENTINELS_H_
