// Backoff: how long to wait before the next attempt after failures in a row.
//
// The first attempt after a failure is made at once. Each later one waits for a time drawn evenly
// from [0, min(cap, base * 2^(n-2))] after the n-th failure ("full jitter"), so that the clients of
// a restarted server do not come back in step.
//
//   Backoff backoff(base_us, cap_us, base::Rng(seed));
//   int64_t retry_at_us = now_us + backoff.AddFailure();
//   backoff.Reset();  // An attempt succeeded.
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_BACKOFF_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_BACKOFF_H_

#include <cstdint>

#include "absl/time/time.h"
#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::redis {

// The time that never comes, in microseconds.
inline constexpr int64_t kNeverUs = INT64_MAX;

// `duration` in microseconds; kNeverUs for InfiniteDuration.
int64_t DurationMicros(absl::Duration duration);

// The time `wait_us` after `now_us`; kNeverUs if that is beyond the range.
int64_t LaterMicros(int64_t now_us, int64_t wait_us);

// min(cap_us, base_us * 2^doublings), without overflow.
int64_t LongestWait(int64_t base_us, int64_t cap_us, int doublings);

// The pauses between rounds of asking servers for the topology: one interval and a random spread of
// up to another one, which doubles with each failed round in a row up to ten intervals.
class RoundPauses {
 public:
  // `interval` is at least a millisecond; without a pause, a server that is not ready would be
  // asked thousands of times.
  explicit RoundPauses(absl::Duration interval);
  // The pause in microseconds before the next round may begin.
  int64_t Next(int failed_rounds, base::Rng& rng) const;
  int64_t interval_us() const { return interval_us_; }

 private:
  int64_t interval_us_;
};

class Backoff {
 public:
  Backoff(int64_t base_us, int64_t cap_us, base::Rng rng)
      : base_us_(base_us), cap_us_(cap_us), rng_(rng) {}

  // Counts a failed attempt. Returns the wait in microseconds before the next one.
  int64_t AddFailure();
  // Forgets the failures.
  void Reset() { failures_ = 0; }

  // Failures since the last Reset().
  int failures() const { return failures_; }

 private:
  int64_t base_us_;
  int64_t cap_us_;
  base::Rng rng_;
  int failures_ = 0;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_BACKOFF_H_
