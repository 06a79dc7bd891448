// ScenarioBackend: the Redis that a scenario runs against, as far as the runner has to know it.
//
// The runner speaks plain commands over named connections; what else it needs is here: an empty
// server to begin with, time, and the faults that happen to a server as a whole. MemoryBackend
// (memory_backend.h) is the engine inside this process; the program adds live ones
// (sim/cli/live_backend.h).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SCENARIO_BACKEND_H_
#define REDOUBLE_SIM_SCENARIO_BACKEND_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/store/store.h"

namespace redouble::sim {

class ScenarioBackend {
 public:
  virtual ~ScenarioBackend() = default;

  // Makes an empty server whose time, and that of clock(), is `start`. Called before anything else
  // and again for each further scenario; stores of the one before must be gone. Errors:
  // FailedPrecondition when the server is not to be emptied; otherwise as the server's own.
  virtual absl::Status Begin(absl::Time start, uint64_t seed) = 0;

  // Opens one more connection. The store must go before the backend, and before Restart and Begin.
  virtual absl::StatusOr<std::unique_ptr<store::Store>> Connect() = 0;

  // The time of clients and server, from Begin to the next Begin. It moves by AdvanceTo only.
  virtual base::Clock& clock() = 0;

  // Moves time to `time`, which is not in the past, and lets happen on the way what is due.
  // Errors: Unimplemented where time cannot be moved.
  virtual absl::Status AdvanceTo(absl::Time time) = 0;

  // Deletes all keys of all databases, as FLUSHALL does.
  virtual absl::Status Flush() = 0;

  // The server dies and comes back empty. No store of Connect may be alive. Errors: Unimplemented
  // where the server is not ours to restart.
  virtual absl::Status Restart() = 0;

  // How much further than clock() the server's own time may have moved since Begin: a key may have
  // lived that much longer than the scenario knows. Zero where time is held.
  virtual absl::Duration Drift() const { return absl::ZeroDuration(); }
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SCENARIO_BACKEND_H_
