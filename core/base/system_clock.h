// SystemClock: the machine's wall clock. The one place in core that asks the operating system for
// the time; production code hands it to what takes a Clock.
//
// SleepUntil blocks the calling thread. Programs with an event loop use the clock of
// backends/redis/net instead, which waits on the loop.
//
// Thread-safety: safe from any thread.
#ifndef REDOUBLE_CORE_BASE_SYSTEM_CLOCK_H_
#define REDOUBLE_CORE_BASE_SYSTEM_CLOCK_H_

#include <cstdint>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/task.h"

namespace redouble::base {

class SystemClock final : public Clock {
 public:
  int64_t NowMicros() const override;
  Task<void> SleepUntil(absl::Time deadline) override;
};

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_SYSTEM_CLOCK_H_
