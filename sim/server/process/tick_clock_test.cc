#include "redouble/sim/server/process/tick_clock.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

TEST(TickClock, KnowsNoRateUntilItHasSeenSomeTime) {
  TickClock clock;
  EXPECT_FALSE(clock.calibrated());
  clock.Calibrate(1'000'000, 500);
  clock.Calibrate(1'000'010, 26'500);
  EXPECT_FALSE(clock.calibrated());
  clock.Calibrate(1'100'000, 260'000'500);
  EXPECT_TRUE(clock.calibrated());
}

TEST(TickClock, ContinuesAtTheMeasuredRate) {
  TickClock clock;
  clock.Calibrate(1'000'000, 0);
  clock.Calibrate(1'100'000, 200'000'000);
  EXPECT_EQ(clock.MicrosAt(200'000'000), 1'100'000);
  EXPECT_EQ(clock.MicrosAt(200'002'000), 1'100'001);
  EXPECT_EQ(clock.MicrosAt(2'200'000'000), 2'100'000);
}

TEST(TickClock, IsBroughtUpToTheCalibratingClock) {
  TickClock clock;
  clock.Calibrate(0, 0);
  clock.Calibrate(100'000, 100'000);
  // The tick clock was slow.
  clock.Calibrate(300'000, 200'000);
  EXPECT_EQ(clock.MicrosAt(200'000), 300'000);
}

TEST(TickClock, StandsWhereTheCounterDoesNotCount) {
  TickClock clock;
  clock.Calibrate(0, 7);
  clock.Calibrate(100'000, 7);
  EXPECT_FALSE(clock.calibrated());
}

TEST(TickClock, TrustsNoCounterThatThereIsNot) {
  EXPECT_TRUE(!TicksAreSteady() || ReadTicks() != 0);
}

RC_GTEST_PROP(TickClock, NeverGoesBack, (const std::vector<std::pair<uint16_t, uint16_t>>& steps)) {
  TickClock clock;
  int64_t now_us = 0;
  uint64_t ticks = 0;
  int64_t last_us = 0;
  for (const auto& [micros, more_ticks] : steps) {
    now_us += micros;
    ticks += more_ticks;
    if (clock.calibrated()) {
      RC_ASSERT(clock.MicrosAt(ticks) >= last_us);
      last_us = clock.MicrosAt(ticks);
    }
    clock.Calibrate(now_us, ticks);
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
