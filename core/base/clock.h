// Clock: where time comes from, and how to wait for it.
//
// Domain code and the memory engine take a Clock as a parameter and never ask the operating
// system. VirtualClock (virtual_clock.h) stands still until it is told to move; SystemClock
// (system_clock.h) is the machine's.
//
//   co_await clock.Sleep(absl::Milliseconds(50));
//   const absl::Time woken = clock.Now();
//
// Time inside the project is whole microseconds since the Unix epoch, UTC: the resolution of
// Redis's TIME. absl::Time and absl::Duration stand at the interfaces.
//
// Thread-safety: as the implementation says.
#ifndef REDOUBLE_CORE_BASE_CLOCK_H_
#define REDOUBLE_CORE_BASE_CLOCK_H_

#include <cstdint>

#include "absl/time/time.h"
#include "core/base/task.h"

namespace redouble::base {

class Clock {
 public:
  virtual ~Clock() = default;

  // Microseconds since the Unix epoch. Never throws; may step backwards when the clock behind it
  // does (a virtual clock never does).
  virtual int64_t NowMicros() const = 0;

  // Finishes once Now() >= deadline: at once when that is already so, never for
  // absl::InfiniteFuture(). Destroying the task cancels the wait.
  virtual Task<void> SleepUntil(absl::Time deadline) = 0;

  // The same moment as absl::Time.
  absl::Time Now() const { return absl::FromUnixMicros(NowMicros()); }
  // Milliseconds since the epoch, the rest cut off, as Redis's mstime().
  int64_t NowMillis() const { return NowMicros() / 1000; }
  // SleepUntil() a moment that is `duration` from now.
  Task<void> Sleep(absl::Duration duration) { return SleepUntil(Now() + duration); }
};

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_CLOCK_H_
