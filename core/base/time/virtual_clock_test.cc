#include "redouble/core/base/time/virtual_clock.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/core/base/task/run.h"

namespace redouble::inline v0_1::base {
namespace {

using Log = std::vector<std::string>;

Task<void> Sleep(Clock& clock, absl::Time deadline, int64_t& woken_us) {
  co_await clock.SleepUntil(deadline);
  woken_us = clock.NowMicros();
}

TEST(VirtualClock, StartsAtTheEpochAndStandsStill) {
  const VirtualClock clock;
  EXPECT_EQ(clock.NowMicros(), 0);
  EXPECT_EQ(clock.Now(), absl::UnixEpoch());
}

TEST(VirtualClock, RoundsItsStartDownToMicroseconds) {
  const VirtualClock clock(absl::FromUnixNanos(1'999));
  EXPECT_EQ(clock.NowMicros(), 1);
}

TEST(VirtualClock, CutsMilliseconds) {
  const VirtualClock clock(absl::FromUnixMicros(1'999));
  EXPECT_EQ(clock.NowMillis(), 1);
}

TEST(VirtualClock, MovesByAdvance) {
  VirtualClock clock(absl::FromUnixSeconds(100));
  clock.Advance(absl::Milliseconds(1500));
  EXPECT_EQ(clock.NowMicros(), 101'500'000);
  clock.AdvanceTo(absl::FromUnixSeconds(200));
  EXPECT_EQ(clock.NowMillis(), 200'000);
}

TEST(VirtualClock, NeverStepsBack) {
  VirtualClock clock(absl::FromUnixSeconds(100));
  clock.AdvanceTo(absl::FromUnixSeconds(50));
  clock.Advance(-absl::Seconds(1));
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(100));
}

TEST(VirtualClock, FiresInTheOrderOfDeadlinesThenOfCreation) {
  VirtualClock clock;
  Log log;
  clock.ScheduleAt(20, [&] { log.push_back("20"); });
  clock.ScheduleAt(10, [&] { log.push_back("10 first"); });
  clock.ScheduleAt(10, [&] { log.push_back("10 second"); });
  clock.AdvanceToMicros(30);
  EXPECT_EQ(log, (Log{"10 first", "10 second", "20"}));
}

TEST(VirtualClock, StandsAtTheDeadlineWhileATimerRuns) {
  VirtualClock clock;
  std::vector<int64_t> seen;
  for (const int64_t deadline : {7, 3}) {
    clock.ScheduleAt(deadline, [&] { seen.push_back(clock.NowMicros()); });
  }
  clock.AdvanceToMicros(10);
  EXPECT_EQ(seen, (std::vector<int64_t>{3, 7}));
  EXPECT_EQ(clock.NowMicros(), 10);
}

TEST(VirtualClock, FiresAtTheDeadlineButNotBefore) {
  VirtualClock clock;
  bool fired = false;
  clock.ScheduleAt(10, [&] { fired = true; });
  clock.AdvanceToMicros(9);
  EXPECT_FALSE(fired);
  clock.AdvanceToMicros(10);
  EXPECT_TRUE(fired);
}

TEST(VirtualClock, FiresWhatTimersScheduleMeanwhile) {
  VirtualClock clock;
  Log log;
  clock.ScheduleAt(10, [&] {
    log.push_back("10");
    clock.ScheduleAt(15, [&] { log.push_back("15 from 10"); });
    clock.ScheduleAt(5, [&] {
      log.push_back("overdue from 10");
      EXPECT_EQ(clock.NowMicros(), 10);
    });
    clock.ScheduleAt(99, [&] { log.push_back("99 from 10"); });
  });
  clock.ScheduleAt(12, [&] { log.push_back("12"); });
  clock.AdvanceToMicros(20);
  EXPECT_EQ(log, (Log{"10", "overdue from 10", "12", "15 from 10"}));
  EXPECT_EQ(clock.NextDeadline(), absl::FromUnixMicros(99));
}

TEST(VirtualClock, FiresAPastDeadlineAtTheNextAdvanceEvenToNow) {
  VirtualClock clock(absl::FromUnixMicros(100));
  std::optional<int64_t> fired_us;
  clock.ScheduleAt(40, [&] { fired_us = clock.NowMicros(); });
  EXPECT_EQ(fired_us, std::nullopt);
  clock.Advance(absl::ZeroDuration());
  EXPECT_EQ(fired_us, 100);
}

TEST(VirtualClock, CancelsATimerOnce) {
  VirtualClock clock;
  bool fired = false;
  const VirtualClock::TimerId id = clock.ScheduleAt(10, [&] { fired = true; });
  EXPECT_TRUE(clock.Cancel(id));
  EXPECT_FALSE(clock.Cancel(id));
  clock.AdvanceToMicros(20);
  EXPECT_FALSE(fired);
}

TEST(VirtualClock, DoesNotCancelWhatHasFired) {
  VirtualClock clock;
  const VirtualClock::TimerId id = clock.ScheduleAt(10, [] {});
  clock.AdvanceToMicros(10);
  EXPECT_FALSE(clock.Cancel(id));
}

TEST(VirtualClock, LetsTimersCancelOthersAndThemselves) {
  VirtualClock clock;
  Log log;
  VirtualClock::TimerId own;
  const VirtualClock::TimerId victim = clock.ScheduleAt(10, [&] { log.push_back("victim"); });
  EXPECT_TRUE(clock.Cancel(victim));
  const VirtualClock::TimerId later = clock.ScheduleAt(11, [&] { log.push_back("later"); });
  own = clock.ScheduleAt(10, [&] {
    EXPECT_FALSE(clock.Cancel(own));
    EXPECT_TRUE(clock.Cancel(later));
    log.push_back("canceller");
  });
  clock.AdvanceToMicros(20);
  EXPECT_EQ(log, (Log{"canceller"}));
}

TEST(VirtualClock, NamesTheNextDeadline) {
  VirtualClock clock;
  EXPECT_EQ(clock.NextDeadline(), std::nullopt);
  clock.ScheduleAt(30, [] {});
  clock.ScheduleAt(20, [] {});
  EXPECT_EQ(clock.NextDeadline(), absl::FromUnixMicros(20));
}

TEST(VirtualClock, AdvancesToTheNextDeadlineUntilNothingIsScheduled) {
  VirtualClock clock;
  int fired = 0;
  clock.ScheduleAt(20, [&] { ++fired; });
  clock.ScheduleAt(20, [&] { ++fired; });
  clock.ScheduleAt(30, [&] { ++fired; });
  EXPECT_TRUE(clock.AdvanceToNext());
  EXPECT_EQ(clock.NowMicros(), 20);
  EXPECT_EQ(fired, 2);
  EXPECT_TRUE(clock.AdvanceToNext());
  EXPECT_FALSE(clock.AdvanceToNext());
  EXPECT_EQ(clock.NowMicros(), 30);
}

// Keeps deadlines of its own and checks at `bound_us` whether one is due.
struct Keeper {
  Keeper(VirtualClock& clock, int64_t bound_us, std::optional<int64_t> deadline_us)
      : deadline_us(deadline_us) {
    clock.ScheduleCheckAt(
        bound_us, [this, &clock] { looked_us.push_back(clock.NowMicros()); },
        [this] { return this->deadline_us; });
  }

  std::optional<int64_t> deadline_us;
  std::vector<int64_t> looked_us;
};

TEST(VirtualClock, NamesWhatACheckLooksForAsTheNextDeadline) {
  VirtualClock clock;
  Keeper keeper(clock, 10, 25);
  EXPECT_EQ(clock.NextDeadline(), absl::FromUnixMicros(25));
  clock.ScheduleAt(30, [] {});
  EXPECT_EQ(clock.NextDeadline(), absl::FromUnixMicros(25));
  clock.ScheduleAt(20, [] {});
  EXPECT_EQ(clock.NextDeadline(), absl::FromUnixMicros(20));
}

TEST(VirtualClock, DoesNotStopAtACheckThatFindsNothing) {
  VirtualClock clock;
  Keeper keeper(clock, 10, 25);
  EXPECT_TRUE(clock.AdvanceToNext());
  EXPECT_EQ(clock.NowMicros(), 25);
  EXPECT_EQ(keeper.looked_us, std::vector<int64_t>{10});
}

TEST(VirtualClock, TakesTheEarliestOfWhatTwoChecksLookFor) {
  VirtualClock clock;
  Keeper late(clock, 10, 25);
  Keeper early(clock, 15, 20);
  EXPECT_EQ(clock.NextDeadline(), absl::FromUnixMicros(20));
}

TEST(VirtualClock, HasNoNextDeadlineWhenWhatACheckLookedForIsGone) {
  VirtualClock clock;
  Keeper keeper(clock, 10, std::nullopt);
  EXPECT_EQ(clock.NextDeadline(), std::nullopt);
  EXPECT_FALSE(clock.AdvanceToNext());
  EXPECT_EQ(clock.NowMicros(), 0);
  clock.AdvanceToMicros(30);
  EXPECT_EQ(keeper.looked_us, std::vector<int64_t>{10});
}

TEST(VirtualClock, WakesASleeperAtItsDeadline) {
  VirtualClock clock;
  int64_t woken_us = -1;
  Task<void> sleeper = Sleep(clock, absl::FromUnixMicros(500), woken_us);
  sleeper.Start();
  clock.AdvanceToMicros(499);
  EXPECT_EQ(woken_us, -1);
  clock.AdvanceToMicros(1000);
  EXPECT_EQ(woken_us, 500);
  EXPECT_TRUE(sleeper.done());
}

TEST(VirtualClock, DoesNotSuspendASleeperWhoseDeadlineHasCome) {
  VirtualClock clock(absl::FromUnixMicros(500));
  base::Run(clock.SleepUntil(absl::FromUnixMicros(500)));
  base::Run(clock.SleepUntil(absl::InfinitePast()));
  EXPECT_EQ(clock.NextDeadline(), std::nullopt);
}

TEST(VirtualClock, RoundsASleepersDeadlineUp) {
  VirtualClock clock;
  int64_t woken_us = -1;
  Task<void> sleeper = Sleep(clock, absl::FromUnixNanos(1'001), woken_us);
  sleeper.Start();
  clock.AdvanceToMicros(1);
  EXPECT_EQ(woken_us, -1);
  clock.AdvanceToMicros(2);
  EXPECT_EQ(woken_us, 2);
}

TEST(VirtualClock, SleepsForADuration) {
  VirtualClock clock(absl::FromUnixMicros(100));
  Task<void> sleeper = clock.Sleep(absl::Microseconds(5));
  sleeper.Start();
  EXPECT_EQ(clock.NextDeadline(), absl::FromUnixMicros(105));
  EXPECT_TRUE(clock.AdvanceToNext());
  EXPECT_TRUE(sleeper.done());
}

TEST(VirtualClock, NeverWakesASleeperUntilTheInfiniteFuture) {
  VirtualClock clock;
  Task<void> sleeper = clock.SleepUntil(absl::InfiniteFuture());
  sleeper.Start();
  EXPECT_FALSE(sleeper.done());
  EXPECT_FALSE(clock.AdvanceToNext());
  clock.AdvanceTo(absl::InfiniteFuture());
  EXPECT_FALSE(sleeper.done());
}

TEST(VirtualClock, ForgetsASleeperThatIsDestroyed) {
  VirtualClock clock;
  {
    Task<void> sleeper = clock.Sleep(absl::Seconds(1));
    sleeper.Start();
    EXPECT_NE(clock.NextDeadline(), std::nullopt);
  }
  EXPECT_EQ(clock.NextDeadline(), std::nullopt);
  clock.Advance(absl::Seconds(2));
}

TEST(VirtualClock, LetsASleeperCancelAnotherThatIsDueAtTheSameTime) {
  VirtualClock clock;
  Task<void> victim = clock.Sleep(absl::Seconds(1));
  const auto kill = [](VirtualClock& clock, Task<void>& victim) -> Task<void> {
    co_await clock.Sleep(absl::Seconds(1));
    { const Task<void> cancelled = std::move(victim); }
  };
  Task<void> killer = kill(clock, victim);
  killer.Start();
  victim.Start();
  clock.Advance(absl::Seconds(1));
  EXPECT_TRUE(killer.done());
  EXPECT_EQ(clock.NextDeadline(), std::nullopt);
}

TEST(VirtualClock, EndsARaceAgainstATimeOut) {
  VirtualClock clock;
  std::vector<Task<void>> racers;
  racers.push_back(clock.Sleep(absl::Seconds(5)));
  racers.push_back(clock.Sleep(absl::Seconds(1)));
  const size_t first =
      RunUntilDone(WhenAny(std::move(racers)), [&] { return clock.AdvanceToNext(); });
  EXPECT_EQ(first, 1u);
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(1));
  EXPECT_EQ(clock.NextDeadline(), std::nullopt);
}

RC_GTEST_PROP(VirtualClock, FiresEveryTimerOnceInOrder, ()) {
  const auto deadlines = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 9));
  const auto stops = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 9));
  VirtualClock clock;
  std::vector<std::pair<int64_t, size_t>> fired;
  std::vector<std::pair<int64_t, size_t>> expected;
  for (size_t i = 0; i < deadlines.size(); ++i) {
    clock.ScheduleAt(deadlines[i], [&, i] { fired.emplace_back(clock.NowMicros(), i); });
    expected.emplace_back(deadlines[i], i);
  }
  for (const int64_t stop : stops) clock.AdvanceToMicros(stop);
  clock.AdvanceToMicros(9);
  std::sort(expected.begin(), expected.end());
  RC_ASSERT(fired == expected);
}

TEST(VirtualClock, TurnsBackWithoutFiringAnything) {
  VirtualClock clock(absl::FromUnixMicros(1'000));
  int fired = 0;
  clock.ScheduleAt(1'500, [&] { ++fired; });
  clock.TurnBackToMicros(400);
  EXPECT_EQ(clock.NowMicros(), 400);
  clock.AdvanceToMicros(1'499);
  EXPECT_EQ(fired, 0);
  clock.AdvanceToMicros(1'500);
  EXPECT_EQ(fired, 1);
}

TEST(VirtualClock, NextTimerIncludesChecks) {
  VirtualClock clock;
  EXPECT_EQ(clock.NextTimerMicros(), std::nullopt);
  clock.ScheduleAt(70, [] {});
  clock.ScheduleCheckAt(
      30, [] {}, [] { return std::optional<int64_t>(50); });
  EXPECT_EQ(clock.NextTimerMicros(), 30);
}

}  // namespace
}  // namespace redouble::inline v0_1::base
