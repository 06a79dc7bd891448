// RunMachine: reconnects and watches the health of a connection, as a machine without I/O or clock.
//
// It decides when to connect, how long to wait between attempts, when to send a PING, and when to
// give up a silent connection.
//
//   RunMachine machine(options, base::Rng(seed));
//   RunAction action = machine.Resume(RunEvent::Started(now_us));       // kConnect
//   action = machine.Resume(RunEvent::Failed(now_us));                  // kWait, until wake_at_us
//   action = machine.Resume(RunEvent::Timer(now_us));                   // kConnect
//   action = machine.Resume(RunEvent::Connected(now_us));               // kWait: health check
//
// Reconnection: the first attempt after a loss is made at once, the others after the waits of
// backoff.h. The failures are forgotten when the server has answered on the new connection, not
// when the connection is established: this limits attempts to a server that accepts and then closes
// connections.
//
// Health: if nothing was received for health_check_interval, a PING is sent; if nothing is received
// within health_timeout after it, the connection counts as lost. Any received byte proves liveness.
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_RUN_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_RUN_MACHINE_H_

#include <cstdint>

#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::redis {

struct RunOptions {
  static constexpr int64_t kNever = kNeverUs;

  // The values of `options` in microseconds; kNever for InfiniteDuration. A health check waits for
  // command_timeout; for connect_timeout, or else health_check_interval, if that is infinite: a
  // dead server is noticed however long a command may take.
  static RunOptions From(const Options& options);

  bool reconnect = true;
  int64_t backoff_base_us = 50'000;
  int64_t backoff_cap_us = 5'000'000;
  int64_t health_check_interval_us = kNever;
  int64_t health_timeout_us = kNever;
};

// Something that happened. Times are microseconds of a monotonic clock.
struct RunEvent {
  enum class Kind : uint8_t { kStarted, kConnected, kFailed, kReceived, kLost, kTimer };

  static RunEvent Started(int64_t now_us) { return {Kind::kStarted, now_us}; }
  // The result of an attempt to connect.
  static RunEvent Connected(int64_t now_us) { return {Kind::kConnected, now_us}; }
  static RunEvent Failed(int64_t now_us) { return {Kind::kFailed, now_us}; }
  // Bytes were received from the server.
  static RunEvent Received(int64_t now_us) { return {Kind::kReceived, now_us}; }
  static RunEvent Lost(int64_t now_us) { return {Kind::kLost, now_us}; }
  // The time of an earlier action has been reached. A late or superfluous Timer event is harmless.
  static RunEvent Timer(int64_t now_us) { return {Kind::kTimer, now_us}; }

  Kind kind;
  int64_t now_us;
};

// What the owner must do next.
struct RunAction {
  enum class Kind : uint8_t {
    kNone,
    kConnect,  // Try to connect; report kConnected or kFailed.
    kWait,     // Report kTimer at wake_at_us; replaces any earlier wait.
    kPing,     // Send a PING, and report kTimer at wake_at_us.
    kDrop,     // The server does not respond: close the connection and report kLost.
    kFinish,   // Make no further attempts; waiting requests fail.
  };

  Kind kind = Kind::kNone;
  int64_t wake_at_us = RunOptions::kNever;
};

class RunMachine {
 public:
  RunMachine(RunOptions options, base::Rng rng)
      : options_(options), backoff_(options.backoff_base_us, options.backoff_cap_us, rng) {}

  RunAction Resume(const RunEvent& event);

  // The number of consecutive attempts that failed, and of connections lost before the first reply.
  int failures() const { return backoff_.failures(); }

 private:
  enum class Phase : uint8_t { kIdle, kConnecting, kWaiting, kConnected, kPinged, kFinished };

  RunAction Connect();
  RunAction Retry(int64_t now_us);
  RunAction Watch(int64_t now_us);
  RunAction OnTimer(int64_t now_us);

  const RunOptions options_;
  Backoff backoff_;
  Phase phase_ = Phase::kIdle;
  int64_t last_received_us_ = 0;
  int64_t wake_at_us_ = RunOptions::kNever;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_RUN_MACHINE_H_
