// Redis-free tests of code that keeps its state in Redis.
#include <gtest/gtest.h>

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/gateway/rate_limiter.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble {
namespace {

constexpr char kKeyId[] = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";

// [readme: test suite]
TEST(RateLimit, StartsAnewWithTheNextMinuteAndForgetsTheLast) {
  base::VirtualClock clock(*base::ParseRfc3339("2026-05-09T14:03:59Z"));
  memory::Engine engine(clock);
  std::unique_ptr<store::Store> redis = engine.Connect();
  gateway::RateLimiter limiter(*redis);
  EXPECT_EQ(base::Run(limiter.CheckRequestRateLimit(kKeyId, 60, clock.Now()))->count, 1);
  clock.Advance(absl::Seconds(1));
  EXPECT_EQ(base::Run(limiter.CheckRequestRateLimit(kKeyId, 60, clock.Now()))->count, 1);
  clock.Advance(absl::Seconds(70) + absl::Milliseconds(1));
  EXPECT_EQ(*base::Run(store::DbSize(*redis)), 0);
}
// [end]

}  // namespace
}  // namespace redouble
