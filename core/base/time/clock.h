// Clock: the source of time, and the way to wait for it.
//
// Domain code and the memory engine take a Clock as a parameter and never ask the operating system.
// VirtualClock (virtual_clock.h) moves only when it is advanced; SystemClock (system_clock.h) is
// the machine's clock.
//
//   co_await clock.Sleep(absl::Milliseconds(50));
//   const absl::Time woken = clock.Now();
//
// The project counts time in whole microseconds since the Unix epoch, the resolution of Redis's
// TIME; interfaces use absl::Time and absl::Duration.
//
// Thread-safety: that of the implementation.
#ifndef REDOUBLE_CORE_BASE_TIME_CLOCK_H_
#define REDOUBLE_CORE_BASE_TIME_CLOCK_H_

#include <cstdint>

#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"

namespace redouble::inline v0_1::base {

class Clock {
 public:
  virtual ~Clock() = default;

  // Returns microseconds since the Unix epoch. May step backwards if the underlying clock does; a
  // virtual clock does not while it is advanced.
  virtual int64_t NowMicros() const = 0;

  // Finishes as soon as Now() >= deadline: at once if that already holds, never for
  // absl::InfiniteFuture(). Destroying the task cancels the wait.
  virtual Task<void> SleepUntil(absl::Time deadline) = 0;

  // Returns NowMicros() as absl::Time.
  absl::Time Now() const { return absl::FromUnixMicros(NowMicros()); }
  // Returns milliseconds since the Unix epoch, rounded down, as Redis's mstime().
  int64_t NowMillis() const { return NowMicros() / 1000; }
  // Finishes `duration` from now.
  Task<void> Sleep(absl::Duration duration) { return SleepUntil(Now() + duration); }
};

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TIME_CLOCK_H_
