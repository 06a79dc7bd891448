#include "redouble/core/base/time/system_clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace redouble::inline v0_1::base {

// Asks the kernel: absl::Now() interpolates with the processor's cycle counter and notices a
// changed clock only later.
int64_t SystemClock::NowMicros() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Task<void> SystemClock::SleepUntil(absl::Time deadline) {
  while (Now() < deadline) absl::SleepFor(deadline - Now());
  co_return;
}

}  // namespace redouble::inline v0_1::base
