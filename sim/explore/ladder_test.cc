// How hard a race the explorer finds: lost updates that need one to four preemptions at exact
// places among up to 40 steps. Prints the number of schedules of each strategy.

#include <algorithm>
#include <cstdint>
#include <iostream>

#include "gtest/gtest.h"
#include "redouble/sim/explore/ladder_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr uint64_t kSeeds = 50;
constexpr int64_t kSchedules = 20'000;

struct Rung {
  int preemptions;
  int steps;
};

constexpr Rung kRungs[] = {{1, 10}, {2, 20}, {3, 20}, {3, 40}, {4, 40}};

// The most schedules of all seeds until the race is found.
int64_t MostSchedules(const Rung& rung, Strategy strategy) {
  int64_t most = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    // Seeds that are far apart, so that no run is drawn twice.
    const Exploration found =
        Explore(RaceLadder({.preemptions = rung.preemptions, .steps = rung.steps}),
                {.world = {.traced = false},
                 .strategy = strategy,
                 .first_seed = 1 + seed * kSchedules,
                 .schedules = kSchedules,
                 .shrinking_runs = 0});
    EXPECT_TRUE(found.violation.has_value())
        << rung.preemptions << " preemptions, " << rung.steps << " steps, seed " << seed;
    most = std::max(most, found.schedules);
  }
  return most;
}

class EveryRung : public testing::TestWithParam<Rung> {};

TEST_P(EveryRung, IsFoundWithEverySeed) {
  for (const Strategy strategy : {Strategy::kCombined, Strategy::kWalk}) {
    std::cout << AllStrategies()[static_cast<size_t>(strategy)].name << ": "
              << MostSchedules(GetParam(), strategy) << " schedules at most\n";
  }
}

TEST_P(EveryRung, IsAbsentWhenFixed) {
  const Rung& rung = GetParam();
  const Exploration found =
      Explore(RaceLadder({.preemptions = rung.preemptions, .steps = rung.steps, .fixed = true}),
              {.world = {.traced = false}});
  EXPECT_FALSE(found.violation.has_value());
  EXPECT_TRUE(found.complete);
  std::cout << "complete: " << found.schedules << " schedules\n";
}

class EveryStrategy : public testing::TestWithParam<Strategy> {};

TEST_P(EveryStrategy, FindsTwoPreemptions) {
  std::cout << AllStrategies()[static_cast<size_t>(GetParam())].name << ": "
            << MostSchedules({2, 20}, GetParam()) << " schedules at most\n";
}

// All but kUniform: in 20 turns it hardly ever draws two long runs of one actor's turns.
INSTANTIATE_TEST_SUITE_P(Ladder, EveryStrategy,
                         testing::Values(Strategy::kCombined, Strategy::kExhaustive,
                                         Strategy::kMixed, Strategy::kPct, Strategy::kWalk,
                                         Strategy::kPartialOrder, Strategy::kMutation));

INSTANTIATE_TEST_SUITE_P(Ladder, EveryRung, testing::ValuesIn(kRungs));

}  // namespace
}  // namespace redouble::inline v0_1::sim
