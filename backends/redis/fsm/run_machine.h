// RunMachine: keeps a connection alive, without the connection and without a clock.
//
// It says when to connect, how long to wait between attempts, when to ask the server whether it is
// still there, and when to give a silent connection up.
//
//   RunMachine machine(options, base::Rng(seed));
//   RunAction action = machine.Resume(RunEvent::Started(now_us));       // kConnect
//   action = machine.Resume(RunEvent::Failed(now_us));                  // kWait, until wake_at_us
//   action = machine.Resume(RunEvent::Timer(now_us));                   // kConnect
//   action = machine.Resume(RunEvent::Connected(now_us));               // kWait, for the health
//
// Reconnection: the first attempt after a loss is made at once; before the n-th after that (n = 1,
// 2, ...) the machine waits a time drawn evenly from [0, min(backoff_cap, backoff_base * 2^(n-1))],
// so that a thousand clients of one server that restarts do not come back in step. The count
// starts anew once the server has answered something on the new connection, not when the connection
// stands: a server that accepts and hangs up at once is not hammered.
//
// Health: when nothing was received for health_check_interval, a PING is asked for; when nothing at
// all comes within health_timeout after it, the connection counts as lost. Any received byte is a
// sign of life.
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_RUN_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_RUN_MACHINE_H_

#include <cstdint>
#include <limits>

#include "backends/redis/options.h"
#include "core/base/rng.h"

namespace redouble::redis {

struct RunOptions {
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // What Options says, in microseconds; kNever for infinite.
  static RunOptions From(const Options& options);

  bool reconnect = true;
  int64_t backoff_base_us = 50'000;
  int64_t backoff_cap_us = 5'000'000;
  int64_t health_check_interval_us = kNever;
  int64_t health_timeout_us = kNever;
};

// What happened. Times are microseconds of any clock that never goes back.
struct RunEvent {
  enum class Kind : uint8_t { kStarted, kConnected, kFailed, kReceived, kLost, kTimer };

  static RunEvent Started(int64_t now_us) { return {Kind::kStarted, now_us}; }
  // The attempt has succeeded, or has failed.
  static RunEvent Connected(int64_t now_us) { return {Kind::kConnected, now_us}; }
  static RunEvent Failed(int64_t now_us) { return {Kind::kFailed, now_us}; }
  // Bytes came from the server.
  static RunEvent Received(int64_t now_us) { return {Kind::kReceived, now_us}; }
  static RunEvent Lost(int64_t now_us) { return {Kind::kLost, now_us}; }
  // The time of an earlier action has come. One that comes late or for nothing does no harm.
  static RunEvent Timer(int64_t now_us) { return {Kind::kTimer, now_us}; }

  Kind kind;
  int64_t now_us;
};

// What the owner shall do.
struct RunAction {
  enum class Kind : uint8_t {
    kNone,
    kConnect,  // Try to connect; report kConnected or kFailed.
    kWait,     // Report kTimer at wake_at_us, in place of any earlier wait.
    kPing,     // Send a PING, and report kTimer at wake_at_us.
    kDrop,     // The server does not answer: close the connection and report kLost.
    kFinish,   // No more attempts: what waits fails.
  };

  Kind kind = Kind::kNone;
  int64_t wake_at_us = RunOptions::kNever;
};

class RunMachine {
 public:
  RunMachine(RunOptions options, base::Rng rng) : options_(options), rng_(rng) {}

  RunAction Resume(const RunEvent& event);

  // Attempts in a row that failed, or connections in a row that were lost before they answered.
  int failures() const { return failures_; }

 private:
  enum class Phase : uint8_t { kIdle, kConnecting, kWaiting, kConnected, kPinged, kFinished };

  RunAction Connect();
  RunAction Retry(int64_t now_us);
  RunAction Watch(int64_t now_us);
  RunAction OnTimer(int64_t now_us);
  int64_t DrawWait();

  const RunOptions options_;
  base::Rng rng_;
  Phase phase_ = Phase::kIdle;
  int failures_ = 0;
  int64_t last_received_us_ = 0;
  int64_t wake_at_us_ = RunOptions::kNever;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_RUN_MACHINE_H_
