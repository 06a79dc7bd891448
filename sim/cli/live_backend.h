// Scenarios on real Redis: SpawnedBackend starts a redis-server of its own and holds its clock;
// UriBackend uses one that is there, in real time.
//
// A scenario's outcome and trace on SpawnedBackend are those on MemoryBackend, to the millisecond.
// On UriBackend what moves time or restarts the server fails with an error that says so.
//
//   auto backend = SpawnedBackend::Start();
//   if (!backend.ok()) return backend.status();  // no redis-server
//   RunScenario(scenario, **backend);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_LIVE_BACKEND_H_
#define REDOUBLE_SIM_CLI_LIVE_BACKEND_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backends/redis/options.h"
#include "backends/redis/spawn/spawned_server.h"
#include "core/base/virtual_clock.h"
#include "sim/scenario/backend.h"

namespace redouble::sim {

class SpawnedBackend final : public ScenarioBackend {
 public:
  // Starts the server. Errors: as redis::SpawnedServer::Start.
  static absl::StatusOr<std::unique_ptr<SpawnedBackend>> Start();

  // A new server process at that time: nothing of the scenario before is left, not even scripts.
  absl::Status Begin(absl::Time start, uint64_t seed) override;
  absl::StatusOr<std::unique_ptr<store::Store>> Connect() override;
  base::Clock& clock() override { return *clock_; }
  absl::Status AdvanceTo(absl::Time time) override;
  absl::Status Flush() override;
  absl::Status Restart() override;

 private:
  explicit SpawnedBackend(std::unique_ptr<redis::SpawnedServer> server);

  std::unique_ptr<redis::SpawnedServer> server_;
  std::optional<base::VirtualClock> clock_;  // From Begin on.
};

class UriBackend final : public ScenarioBackend {
 public:
  // What to do with a database that holds keys before the first scenario.
  enum class OnKeys { kRefuse, kFlush };

  // Reads the URI, connects once and looks whether the database is empty. From here on all that it
  // holds is the scenarios'. Errors: InvalidArgument for a URI that is none; FailedPrecondition
  // when the database holds keys and they are not to be flushed; otherwise as
  // redis::BlockingStore::Connect.
  static absl::StatusOr<std::unique_ptr<UriBackend>> Open(std::string_view uri, OnKeys on_keys);

  // Leaves the database empty.
  ~UriBackend() override;

  // Empties the database.
  absl::Status Begin(absl::Time start, uint64_t seed) override;
  absl::StatusOr<std::unique_ptr<store::Store>> Connect() override;
  base::Clock& clock() override { return *clock_; }
  // Unimplemented.
  absl::Status AdvanceTo(absl::Time time) override;
  // Empties the URI's database only: the others are not ours.
  absl::Status Flush() override;
  // Unimplemented.
  absl::Status Restart() override;
  // The real time since Begin.
  absl::Duration Drift() const override;

 private:
  explicit UriBackend(redis::Options options);

  const redis::Options options_;
  std::optional<base::VirtualClock> clock_;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_LIVE_BACKEND_H_
