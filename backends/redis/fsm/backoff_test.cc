#include "redouble/backends/redis/fsm/backoff.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace redouble::inline v0_1::redis {
namespace {

TEST(Backoff, TriesAgainAtOnceAfterTheFirstFailure) {
  Backoff backoff(100, 1000, base::Rng(1));
  EXPECT_EQ(backoff.AddFailure(), 0);
  EXPECT_EQ(backoff.failures(), 1);
}

TEST(Backoff, DoublesTheLongestWaitUpToItsCap) {
  for (int failures = 2; failures < 80; ++failures) {
    const int64_t longest_us = failures >= 6 ? 1000 : std::min(1000, 100 << (failures - 2));
    int64_t largest_us = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      Backoff backoff(100, 1000, base::Rng(seed));
      for (int i = 1; i < failures; ++i) backoff.AddFailure();
      const int64_t wait_us = backoff.AddFailure();
      ASSERT_LE(wait_us, longest_us);
      largest_us = std::max(largest_us, wait_us);
    }
    EXPECT_GT(largest_us, longest_us / 2) << failures;
  }
}

TEST(Backoff, ForgetsFailures) {
  Backoff backoff(100, 1000, base::Rng(1));
  for (int i = 0; i < 9; ++i) backoff.AddFailure();
  backoff.Reset();
  EXPECT_EQ(backoff.AddFailure(), 0);
}

TEST(RoundPauses, AreSpreadFurtherAfterFailedRounds) {
  base::Rng rng(7);
  const RoundPauses pauses(absl::Milliseconds(5));
  for (const auto& [failed_rounds, spread_us] : {std::pair(0, 5000), {1, 10000}, {9, 50000}}) {
    int64_t largest_us = 0;
    for (int i = 0; i < 100; ++i) {
      const int64_t pause_us = pauses.Next(failed_rounds, rng);
      ASSERT_GE(pause_us, 5000);
      ASSERT_LE(pause_us, 5000 + spread_us);
      largest_us = std::max(largest_us, pause_us);
    }
    EXPECT_GT(largest_us, 5000 + spread_us / 2) << failed_rounds;
  }
  EXPECT_EQ(RoundPauses(absl::ZeroDuration()).interval_us(), 1000);
}

TEST(Backoff, KeepsHugeTimesInRange) {
  EXPECT_EQ(LongestWait(kNeverUs, kNeverUs, 3), kNeverUs);
  EXPECT_EQ(LongestWait(kNeverUs / 2 + 1, kNeverUs, 3), kNeverUs);
  EXPECT_EQ(LaterMicros(5, kNeverUs), kNeverUs);
  EXPECT_EQ(LaterMicros(5, 7), 12);
  EXPECT_EQ(DurationMicros(absl::InfiniteDuration()), kNeverUs);
  EXPECT_EQ(DurationMicros(absl::Milliseconds(2)), 2000);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
