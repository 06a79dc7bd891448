// ScenarioBackend: the Redis server that a scenario runs against.
//
// The scenario runner sends plain commands over connections. This interface provides what it needs
// besides: an empty server, control of time, and the faults of the whole server. MemoryBackend
// (sim/scenario/memory_backend.h) is the memory engine; the command line adds live servers
// (sim/cli/replay/live_backend.h).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SCENARIO_BACKEND_H_
#define REDOUBLE_SIM_SCENARIO_BACKEND_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::sim {

// The server that a scenario needs.
struct ServerNeeds {
  absl::Time start;
  uint64_t seed = 0;
  // The version that the server must have, or nullopt: the version that the backend has.
  std::optional<store::Version> version = std::nullopt;
};

class ScenarioBackend {
 public:
  virtual ~ScenarioBackend() = default;

  // Provides an empty server whose time, and that of clock(), is `needs.start`. Called first, and
  // again before each further scenario; stores of the previous scenario must have been destroyed.
  // Errors: FailedPrecondition if the server must not be emptied, or has another version; otherwise
  // the server's own errors.
  virtual absl::Status Begin(const ServerNeeds& needs) = 0;

  // Opens a connection. It must be destroyed before the backend, and before Restart and Begin.
  virtual absl::StatusOr<std::unique_ptr<store::Store>> Connect() = 0;

  // The time of the clients and the server. Only Begin and AdvanceTo change it.
  virtual base::Clock& clock() = 0;

  // Advances the time to `time`, which must not be in the past, and processes everything that is
  // due until then. Errors: Unimplemented if the time cannot be controlled.
  virtual absl::Status AdvanceTo(absl::Time time) = 0;

  // Deletes all keys of all databases, as FLUSHALL does.
  virtual absl::Status Flush() = 0;

  // Crashes the server and restarts it empty. All stores of Connect must have been destroyed.
  // Errors: Unimplemented if the server cannot be restarted.
  virtual absl::Status Restart() = 0;

  // How far the server's own time may be ahead of clock() since Begin: a key's remaining TTL may be
  // lower by that much. Zero if the time is controlled.
  virtual absl::Duration Drift() const { return absl::ZeroDuration(); }
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SCENARIO_BACKEND_H_
