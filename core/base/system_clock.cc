#include "core/base/system_clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace redouble::base {

// Of the kernel: absl::Now() counts the processor's cycles in between, and sees a clock that was
// set only later.
int64_t SystemClock::NowMicros() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Task<void> SystemClock::SleepUntil(absl::Time deadline) {
  while (Now() < deadline) absl::SleepFor(deadline - Now());
  co_return;
}

}  // namespace redouble::base
