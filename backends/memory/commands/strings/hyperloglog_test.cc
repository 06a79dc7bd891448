#include "redouble/backends/memory/commands/strings/hyperloglog.h"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

using Outcome = HyperLogLog::Outcome;
constexpr size_t kSparseMaxBytes = 3000;
constexpr size_t kNeverDense = 1 << 20;

std::string Header(char encoding) {
  std::string header = "HYLL";
  header.resize(HyperLogLog::kHeaderBytes);
  header[4] = encoding;
  return header;
}

HyperLogLog Sparse(std::string_view runs) {
  return *HyperLogLog::FromString(Header(1).append(runs));
}

HyperLogLog::Registers RegistersOf(const HyperLogLog& sketch) {
  HyperLogLog::Registers registers{};
  EXPECT_TRUE(sketch.MergeInto(registers));
  return registers;
}

void AddNumbers(HyperLogLog& sketch, int first, int last) {
  for (int i = first; i <= last; ++i) sketch.Add(std::to_string(i), kSparseMaxBytes);
}

TEST(HyperLogLog, BeginsSparseAndEmpty) {
  const HyperLogLog sketch;
  EXPECT_EQ(sketch.text(), Header(1) + "\x7f\xff");
  EXPECT_FALSE(sketch.is_dense());
  EXPECT_EQ(sketch.Count(), 0u);
  EXPECT_EQ(sketch.DecodeRuns(), "Z:16384");
}

TEST(HyperLogLog, TakesWhatRedisTakes) {
  EXPECT_TRUE(HyperLogLog::FromString(Header(1)));
  EXPECT_TRUE(HyperLogLog::FromString(Header(0).append(12288, '\0'))->is_dense());
}

TEST(HyperLogLog, RefusesWhatRedisRefuses) {
  EXPECT_FALSE(HyperLogLog::FromString(""));
  EXPECT_FALSE(HyperLogLog::FromString(Header(1).substr(1)));
  EXPECT_FALSE(HyperLogLog::FromString("hyll" + Header(1).substr(4)));
  EXPECT_FALSE(HyperLogLog::FromString(Header(2)));
  EXPECT_FALSE(HyperLogLog::FromString(Header('\xff')));
  EXPECT_FALSE(HyperLogLog::FromString(Header(0)));
  EXPECT_FALSE(HyperLogLog::FromString(Header(0).append(12289, '\0')));
}

TEST(HyperLogLog, SplitsRunsOfZeros) {
  HyperLogLog sketch;
  EXPECT_EQ(sketch.Raise(1000, 5, kSparseMaxBytes), Outcome::kRaised);
  EXPECT_EQ(sketch.DecodeRuns(), "Z:1000 v:5,1 Z:15383");
  EXPECT_EQ(sketch.Raise(1002, 5, kSparseMaxBytes), Outcome::kRaised);
  EXPECT_EQ(sketch.DecodeRuns(), "Z:1000 v:5,1 z:1 v:5,1 Z:15381");
}

TEST(HyperLogLog, JoinsAndSplitsRunsOfValues) {
  HyperLogLog sketch;
  for (size_t i = 0; i < 4; ++i) sketch.Raise(i, 2, kSparseMaxBytes);
  EXPECT_EQ(sketch.DecodeRuns(), "v:2,4 Z:16380");
  sketch.Raise(4, 2, kSparseMaxBytes);
  EXPECT_EQ(sketch.DecodeRuns(), "v:2,4 v:2,1 Z:16379");
  sketch.Raise(1, 3, kSparseMaxBytes);
  EXPECT_EQ(sketch.DecodeRuns(), "v:2,1 v:3,1 v:2,3 Z:16379");
}

TEST(HyperLogLog, NeverLowersARegister) {
  HyperLogLog sketch;
  sketch.Raise(7, 9, kSparseMaxBytes);
  EXPECT_EQ(sketch.Raise(7, 9, kSparseMaxBytes), Outcome::kUnchanged);
  EXPECT_EQ(sketch.Raise(7, 3, kSparseMaxBytes), Outcome::kUnchanged);
  EXPECT_TRUE(sketch.ToDense());
  EXPECT_EQ(sketch.Raise(7, 3, kSparseMaxBytes), Outcome::kUnchanged);
  EXPECT_EQ(RegistersOf(sketch)[7], 9);
}

TEST(HyperLogLog, BecomesDenseForAValueThatNoRunHolds) {
  HyperLogLog sketch;
  sketch.Raise(3, 32, kSparseMaxBytes);
  EXPECT_FALSE(sketch.is_dense());
  EXPECT_EQ(sketch.Raise(16383, 33, kSparseMaxBytes), Outcome::kRaised);
  EXPECT_TRUE(sketch.is_dense());
  EXPECT_EQ(sketch.text().size(), HyperLogLog::kDenseBytes);
  EXPECT_EQ(RegistersOf(sketch)[3], 32);
  EXPECT_EQ(RegistersOf(sketch)[16383], 33);
}

TEST(HyperLogLog, BecomesDenseBeyondItsLongestSparseString) {
  HyperLogLog sketch;
  size_t longest = 0;
  for (int i = 0; !sketch.is_dense(); ++i) {
    longest = sketch.text().size();
    sketch.Add(std::to_string(i), kSparseMaxBytes);
  }
  EXPECT_LE(longest, kSparseMaxBytes);
  EXPECT_GT(longest, kSparseMaxBytes - 4);
}

RC_GTEST_PROP(HyperLogLog, HoldsTheSameRegistersSparseAndDense, ()) {
  HyperLogLog sparse;
  HyperLogLog dense;
  RC_ASSERT(dense.ToDense());
  // Close to each other, so that runs meet.
  for (int i = *rc::gen::inRange(0, 60); i > 0; --i) {
    const auto index = *rc::gen::inRange<size_t>(0, 24);
    const auto value = *rc::gen::inRange<uint8_t>(1, 5);
    RC_ASSERT(sparse.Raise(index, value, kNeverDense) == dense.Raise(index, value, kNeverDense));
  }
  RC_ASSERT(!sparse.is_dense());
  RC_ASSERT(RegistersOf(sparse) == RegistersOf(dense));
  RC_ASSERT(sparse.Count() == dense.Count());
  RC_ASSERT(sparse.ToDense());
  RC_ASSERT(sparse.text().substr(16) == dense.text().substr(16));
}

TEST(HyperLogLog, CountsWithinTwoPercent) {
  HyperLogLog sketch;
  for (const int elements : {10, 100, 1000, 10'000, 100'000}) {
    AddNumbers(sketch, 1, elements);
    const auto count = static_cast<int>(*sketch.Count());
    EXPECT_LE(std::abs(count - elements), elements / 50) << elements;
  }
}

TEST(HyperLogLog, CountsAUnion) {
  HyperLogLog low;
  HyperLogLog high;
  HyperLogLog both;
  AddNumbers(low, 1, 600);
  AddNumbers(high, 400, 5000);
  AddNumbers(both, 1, 5000);
  HyperLogLog::Registers registers{};
  EXPECT_TRUE(low.MergeInto(registers));
  EXPECT_TRUE(high.MergeInto(registers));
  EXPECT_EQ(registers, RegistersOf(both));
  EXPECT_EQ(HyperLogLog::CountOf(registers), both.Count());
}

TEST(HyperLogLog, KeepsACountUntilItIsOutOfDate) {
  HyperLogLog sketch;
  EXPECT_EQ(sketch.cached_count(), 0u);
  sketch.set_cached_count(0x010203);
  EXPECT_EQ(sketch.text().substr(8, 8), std::string_view("\x03\x02\x01\0\0\0\0\0", 8));
  EXPECT_EQ(sketch.cached_count(), 0x010203u);
  sketch.ForgetCachedCount();
  EXPECT_EQ(sketch.cached_count(), std::nullopt);
  sketch.set_cached_count(1);
  sketch.Raise(0, 1, kSparseMaxBytes);
  EXPECT_EQ(sketch.cached_count(), std::nullopt);
}

TEST(HyperLogLog, SaysThatAStringIsDamaged) {
  // Too few registers, too many zeros, too many values, and no registers.
  for (const std::string_view runs : {"\x3f", "\x7f\xff\x01", "\x7f\xff\x80", ""}) {
    HyperLogLog sketch = Sparse(runs);
    HyperLogLog::Registers registers{};
    EXPECT_FALSE(sketch.MergeInto(registers));
    EXPECT_EQ(sketch.Count(), std::nullopt);
    EXPECT_FALSE(sketch.ToDense());
  }
  HyperLogLog sketch = Sparse("\x3f");
  EXPECT_EQ(sketch.Raise(63, 1, kSparseMaxBytes), Outcome::kRaised);
  EXPECT_EQ(sketch.Raise(64, 1, kSparseMaxBytes), Outcome::kCorrupted);
  EXPECT_EQ(sketch.Raise(0, 33, kSparseMaxBytes), Outcome::kCorrupted);
}

TEST(HyperLogLog, ReadsAZeroByteBehindARunThatIsCutOff) {
  EXPECT_EQ(Sparse("\x41").DecodeRuns(), "Z:257");
  HyperLogLog sketch = Sparse("\x41");
  EXPECT_EQ(sketch.Raise(256, 1, kSparseMaxBytes), Outcome::kRaised);
  EXPECT_EQ(sketch.text().size(), HyperLogLog::kHeaderBytes + 2);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
