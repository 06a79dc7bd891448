// Shutdown: the end of a server: SHUTDOWN, its ABORT, and INFO server.
//
// A master first waits until its replicas have its whole stream, for shutdown-timeout at most. An
// engine without a host does not shut down.
//
//   if (Shutdown* shutdown = host->shutdown()) outcome = shutdown->Begin(session, options);
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 server.c, prepareForShutdown.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_SHUTDOWN_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_SHUTDOWN_H_

#include <cstdint>
#include <optional>

namespace redouble::inline v0_1::memory {

class SessionCore;

struct ShutdownOptions {
  enum class Save : uint8_t { kWithSavePoints, kAlways, kNever };

  Save save = Save::kWithSavePoints;
  bool is_now = false;     // Does not wait for replicas.
  bool is_forced = false;  // Stops also if the keys cannot be saved.
};

class Shutdown {
 public:
  enum class Outcome : uint8_t { kStops, kWaits, kFails };

  virtual ~Shutdown() = default;

  // kStops: the server stops after the pending replies have been sent. kFails: the server goes on,
  // and the log says why. kWaits: the caller blocks the session; the server stops later, or gives
  // the session an error by EngineCore::EndWait. While it waits already, the options of a further
  // call have no effect, as in Redis.
  virtual Outcome Begin(const SessionCore& session, const ShutdownOptions& options) = 0;
  // Ends the wait, or takes back a signal that has not been handled. Returns false if there is
  // neither.
  virtual bool Abort() = 0;
  // How much longer it waits at most; nullopt if it does not wait.
  virtual std::optional<int64_t> millis_left() const = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_SHUTDOWN_H_
