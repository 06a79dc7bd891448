#include "redouble/core/base/time/system_clock.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/core/base/task/run.h"

namespace redouble::inline v0_1::base {
namespace {

TEST(SystemClock, ReadsTheMachinesTime) {
  const SystemClock clock;
  EXPECT_GT(clock.Now(), absl::FromCivil(absl::CivilDay(2024, 1, 1), absl::UTCTimeZone()));
  EXPECT_LT(clock.Now(), absl::FromCivil(absl::CivilDay(2200, 1, 1), absl::UTCTimeZone()));
}

TEST(SystemClock, ComesBackOnlyAfterTheDeadline) {
  SystemClock clock;
  const absl::Time deadline = clock.Now() + absl::Microseconds(200);
  base::Run(clock.SleepUntil(deadline));
  EXPECT_GE(clock.Now(), deadline);
}

TEST(SystemClock, ComesBackAtOnceWhenTheDeadlineHasCome) {
  SystemClock clock;
  base::Run(clock.SleepUntil(absl::InfinitePast()));
  base::Run(clock.Sleep(-absl::Hours(1)));
}

}  // namespace
}  // namespace redouble::inline v0_1::base
