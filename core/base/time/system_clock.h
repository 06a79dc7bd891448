// SystemClock: the machine's wall clock, for production code that needs a Clock.
//
// It is the only code in core that asks the operating system for the time. SleepUntil sleeps in the
// calling thread; a program with an event loop uses the clock of backends/redis/net instead, which
// waits on the loop.
//
// Thread-safety: safe from any thread.
#ifndef REDOUBLE_CORE_BASE_TIME_SYSTEM_CLOCK_H_
#define REDOUBLE_CORE_BASE_TIME_SYSTEM_CLOCK_H_

#include <cstdint>

#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"

namespace redouble::inline v0_1::base {

class SystemClock final : public Clock {
 public:
  int64_t NowMicros() const override;
  Task<void> SleepUntil(absl::Time deadline) override;
};

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TIME_SYSTEM_CLOCK_H_
