#include "redouble/core/base/random/rng.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

struct Vector {
  uint64_t seed;
  std::array<uint64_t, 4> draws;
};
// xoshiro256** 1.0 with its state from splitmix64, computed with the code of Blackman and Vigna.
constexpr Vector kVectors[] = {
    {0x0, {0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c}},
    {0x1, {0xb3f2af6d0fc710c5, 0x853b559647364cea, 0x92f89756082a4514, 0x642e1c7bc266a3a7}},
    {0x2a, {0x15780b2e0c2ec716, 0x6104d9866d113a7e, 0xae17533239e499a1, 0xecb8ad4703b360a1}},
    {0xffffffffffffffff,
     {0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xbf658d7e065f3c2f}},
};

TEST(Rng, DrawsWhatTheAlgorithmPrescribes) {
  for (const Vector& vector : kVectors) {
    Rng rng(vector.seed);
    for (const uint64_t draw : vector.draws) EXPECT_EQ(rng.Next(), draw) << vector.seed;
  }
}

// The goal: a seed replays the same simulation in all later versions, so that the numbers of every
// function are fixed.
TEST(Rng, PinsEveryKindOfDraw) {
  Rng rng(42);
  EXPECT_EQ(rng.Below(1000), kVectors[2].draws[0] % 1000);
  EXPECT_EQ(rng.Between(-500, 499), static_cast<int64_t>(kVectors[2].draws[1] % 1000) - 500);
  EXPECT_EQ(rng.Unit(), std::ldexp(static_cast<double>(kVectors[2].draws[2] >> 11), -53));
  EXPECT_EQ(rng.Chance(0.5), kVectors[2].draws[3] < (uint64_t{1} << 63));
}

TEST(Rng, BelowOneIsZero) { EXPECT_EQ(Rng(7).Below(1), 0u); }

TEST(Rng, BelowReachesEveryNumber) {
  Rng rng(7);
  std::set<uint64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(rng.Below(6));
  EXPECT_EQ(seen, (std::set<uint64_t>{0, 1, 2, 3, 4, 5}));
}

// The goal: for a bound just above 2^63, `Next() % bound` would return numbers below 2^64 - bound
// twice as often as the others; rejection returns both halves equally often.
TEST(Rng, BelowHasNoModuloBias) {
  const uint64_t bound = (uint64_t{1} << 63) + (uint64_t{1} << 62);
  Rng rng(7);
  int low = 0;
  const int rounds = 30'000;
  for (int i = 0; i < rounds; ++i) low += rng.Below(bound) < (uint64_t{1} << 62) ? 1 : 0;
  EXPECT_NEAR(low, rounds / 3, 500);
}

TEST(Rng, BetweenCoversTheWholeRangeOf64Bits) {
  Rng rng(42);
  Rng raw(42);
  EXPECT_EQ(rng.Between(kMin, kMax),
            static_cast<int64_t>(static_cast<uint64_t>(kMin) + raw.Next()));
}

TEST(Rng, BetweenTheSameIsThat) {
  Rng rng(1);
  for (const int64_t value : {kMin, int64_t{0}, kMax}) EXPECT_EQ(rng.Between(value, value), value);
}

TEST(Rng, ChanceIsNeverAtZeroAndAlwaysAtOne) {
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(rng.Chance(0));
    EXPECT_FALSE(rng.Chance(-1));
    EXPECT_TRUE(rng.Chance(1));
    EXPECT_TRUE(rng.Chance(2));
  }
}

TEST(Rng, ChanceTakesOneDrawInEveryCase) {
  Rng rng(42);
  rng.Chance(0);
  rng.Chance(1);
  EXPECT_EQ(rng.Next(), kVectors[2].draws[2]);
}

TEST(Rng, ForkIsSeededByOneDrawAndThenOnItsOwn) {
  Rng rng(42);
  Rng fork = rng.Fork();
  EXPECT_EQ(rng.Next(), kVectors[2].draws[1]);
  EXPECT_EQ(fork.Next(), Rng(kVectors[2].draws[0]).Next());
}

RC_GTEST_PROP(Rng, StaysInsideItsBounds, (uint64_t seed, int64_t a, int64_t b)) {
  const int64_t low = std::min(a, b);
  const int64_t high = std::max(a, b);
  Rng rng(seed);
  for (int i = 0; i < 10; ++i) {
    const int64_t between = rng.Between(low, high);
    RC_ASSERT(between >= low);
    RC_ASSERT(between <= high);
    const double unit = rng.Unit();
    RC_ASSERT(unit >= 0.0);
    RC_ASSERT(unit < 1.0);
  }
}

RC_GTEST_PROP(Rng, EqualSeedsGiveEqualDraws, (uint64_t seed)) {
  Rng a(seed);
  Rng b(seed);
  for (int i = 0; i < 10; ++i) RC_ASSERT(a.Next() == b.Next());
}

}  // namespace
}  // namespace redouble::inline v0_1::base
