#include "redouble/backends/redis/net/asio_clock.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <vector>

#include "absl/time/clock.h"
#include "redouble/core/base/task/run.h"

namespace redouble::inline v0_1::redis {
namespace {

TEST(AsioClock, ShowsTheWallClock) {
  boost::asio::io_context context;
  const AsioClock clock(context.get_executor());
  const absl::Time before = absl::Now() - absl::Microseconds(1);
  const absl::Time now = clock.Now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, absl::Now());
}

TEST(AsioClock, SleepsNoShorterThanAsked) {
  boost::asio::io_context context;
  AsioClock clock(context.get_executor());
  const absl::Time deadline = clock.Now() + absl::Milliseconds(5);
  base::RunUntilDone(clock.SleepUntil(deadline), [&] { return context.run_one() > 0; });
  EXPECT_GE(clock.Now(), deadline);
}

TEST(AsioClock, ADeadlineInThePastNeedsNoLoop) {
  boost::asio::io_context context;
  AsioClock clock(context.get_executor());
  base::Run(clock.SleepUntil(clock.Now()));
  base::Run(clock.SleepUntil(absl::InfinitePast()));
}

base::Task<void> SleepAndNote(AsioClock& clock, absl::Time deadline, int number,
                              std::vector<int>& order) {
  co_await clock.SleepUntil(deadline);
  order.push_back(number);
}

TEST(AsioClock, WakesSleepersInTheOrderOfTheirDeadlines) {
  boost::asio::io_context context;
  AsioClock clock(context.get_executor());
  const absl::Time start = clock.Now();
  std::vector<int> order;
  std::vector<base::Task<void>> sleepers;
  for (const int delay_ms : {3, 1, 2}) {
    sleepers.push_back(SleepAndNote(clock, start + absl::Milliseconds(delay_ms), delay_ms, order));
  }
  base::RunUntilDone(base::WhenAll(std::move(sleepers)), [&] { return context.run_one() > 0; });
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(AsioClock, DestroyingASleeperLeavesNothingBehind) {
  boost::asio::io_context context;
  AsioClock clock(context.get_executor());
  {
    base::Task<void> sleeper = clock.SleepUntil(absl::InfiniteFuture());
    sleeper.Start();
    EXPECT_FALSE(sleeper.done());
  }
  context.run();
  EXPECT_TRUE(context.stopped());
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
