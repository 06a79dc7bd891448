#include "redouble/backends/redis/fsm/backoff.h"

#include <algorithm>

namespace redouble::inline v0_1::redis {
namespace {

constexpr int64_t kLeastRoundPauseUs = 1000;
// The longest spread of a pause between rounds, in intervals.
constexpr int64_t kMostIntervals = 10;

}  // namespace

int64_t DurationMicros(absl::Duration duration) {
  return duration == absl::InfiniteDuration() ? kNeverUs : absl::ToInt64Microseconds(duration);
}

int64_t LaterMicros(int64_t now_us, int64_t wait_us) {
  return wait_us > kNeverUs - now_us ? kNeverUs : now_us + wait_us;
}

int64_t LongestWait(int64_t base_us, int64_t cap_us, int doublings) {
  int64_t longest_us = std::min(base_us, cap_us);
  for (int i = 0; i < doublings && longest_us < cap_us; ++i) {
    longest_us = longest_us > cap_us / 2 ? cap_us : 2 * longest_us;
  }
  return longest_us;
}

RoundPauses::RoundPauses(absl::Duration interval)
    : interval_us_(std::max(kLeastRoundPauseUs, DurationMicros(interval))) {}

int64_t RoundPauses::Next(int failed_rounds, base::Rng& rng) const {
  return interval_us_ +
         rng.Between(0, LongestWait(interval_us_, kMostIntervals * interval_us_, failed_rounds));
}

int64_t Backoff::AddFailure() {
  if (failures_++ == 0) return 0;
  return rng_.Between(0, LongestWait(base_us_, cap_us_, failures_ - 2));
}

}  // namespace redouble::inline v0_1::redis
