// ExpectBrokenByDefaultAndKeptWhenHardened: that an option removes a hazard, over many schedules.
//
// Use it in the property tests of a system. A test writes one experiment: it builds a world for the
// seed, runs two or more actors in it and returns whether the invariant held. The hazard has to
// appear in some schedules without the option and in none with it.
//
//   ExpectBrokenByDefaultAndKeptWhenHardened([](uint64_t seed, bool hardened) {
//     sim::World world(WorldOf(seed));
//     ...
//     return keys_exist;
//   });
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_PROPERTY_HARDENED_SCHEDULES_H_
#define REDOUBLE_TESTS_PROPERTY_HARDENED_SCHEDULES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {

inline constexpr uint64_t kSchedules = 10'000;

// Runs one schedule and returns whether the invariant held.
using ScheduleExperiment = std::function<bool(uint64_t seed, bool hardened)>;

// Runs the seeds below kSchedules without and with the option. Fails the test if the invariant does
// not break without it, if every schedule breaks it, or if one breaks it with the option.
inline void ExpectBrokenByDefaultAndKeptWhenHardened(const ScheduleExperiment& holds) {
  uint64_t broken = 0;
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    broken += holds(seed, /*hardened=*/false) ? 0 : 1;
    ASSERT_TRUE(holds(seed, /*hardened=*/true)) << "the hardened option, seed " << seed;
  }
  EXPECT_GT(broken, 0u);
  EXPECT_LT(broken, kSchedules) << "a schedule that cannot fail to break it shows nothing";
  ::testing::Test::RecordProperty("broken_by_default", std::to_string(broken));
}

// A world without a trace, for speed.
inline WorldOptions WorldOf(uint64_t seed) {
  WorldOptions options;
  options.seed = seed;
  options.traced = false;
  return options;
}

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_TESTS_PROPERTY_HARDENED_SCHEDULES_H_
