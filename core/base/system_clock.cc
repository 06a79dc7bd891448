#include "core/base/system_clock.h"

#include "absl/time/clock.h"

namespace redouble::base {

int64_t SystemClock::NowMicros() const { return absl::ToUnixMicros(absl::Now()); }

Task<void> SystemClock::SleepUntil(absl::Time deadline) {
  while (absl::Now() < deadline) absl::SleepFor(deadline - absl::Now());
  co_return;
}

}  // namespace redouble::base
