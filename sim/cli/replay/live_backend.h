// Runs scenarios on real Redis: SpawnedBackend starts a redis-server and holds its clock;
// UriBackend uses an existing server in real time.
//
// The outcome and trace of a scenario on SpawnedBackend equal those on MemoryBackend, to the
// millisecond. On UriBackend, steps that move time or restart the server fail with an error that
// says so.
//
//   auto backend = SpawnedBackend::Start();
//   if (!backend.ok()) return backend.status();  // no redis-server
//   RunScenario(scenario, **backend);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_REPLAY_LIVE_BACKEND_H_
#define REDOUBLE_SIM_CLI_REPLAY_LIVE_BACKEND_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/options.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/sim/scenario/backend.h"

namespace redouble::inline v0_1::sim {

class SpawnedBackend final : public ScenarioBackend {
 public:
  // Starts the server. Errors: as redis::SpawnedServer::Start.
  static absl::StatusOr<std::unique_ptr<SpawnedBackend>> Start();

  // Starts a new server process at that time, so that nothing is left of the scenario before, not
  // even scripts.
  absl::Status Begin(const ServerNeeds& needs) override;
  absl::StatusOr<std::unique_ptr<store::Store>> Connect() override;
  base::Clock& clock() override { return *clock_; }
  absl::Status AdvanceTo(absl::Time time) override;
  absl::Status Flush() override;
  absl::Status Restart() override;

 private:
  explicit SpawnedBackend(std::unique_ptr<redis::SpawnedServer> server);

  std::unique_ptr<redis::SpawnedServer> server_;
  std::optional<base::VirtualClock> clock_;  // Set by Begin.
};

class UriBackend final : public ScenarioBackend {
 public:
  // What to do if the database holds keys before the first scenario.
  enum class OnKeys { kRefuse, kFlush };

  // Parses the URI, connects once and checks that the database is empty. From then on the scenarios
  // own its content. Errors: InvalidArgument for a malformed URI; FailedPrecondition if the
  // database holds keys and `on_keys` is kRefuse; otherwise as redis::SyncStore::Connect.
  static absl::StatusOr<std::unique_ptr<UriBackend>> Open(std::string_view uri, OnKeys on_keys);

  // Empties the database.
  ~UriBackend() override;

  // Empties the database.
  absl::Status Begin(const ServerNeeds& needs) override;
  absl::StatusOr<std::unique_ptr<store::Store>> Connect() override;
  base::Clock& clock() override { return *clock_; }
  // Returns Unimplemented: the clock of a server that is not ours cannot be moved.
  absl::Status AdvanceTo(absl::Time time) override;
  // Empties only the database of the URI; others may be in use.
  absl::Status Flush() override;
  // Returns Unimplemented: a server that is not ours cannot be restarted.
  absl::Status Restart() override;
  // Returns the real time since Begin.
  absl::Duration Drift() const override;

 private:
  explicit UriBackend(redis::Options options);

  const redis::Options options_;
  std::optional<base::VirtualClock> clock_;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_REPLAY_LIVE_BACKEND_H_
