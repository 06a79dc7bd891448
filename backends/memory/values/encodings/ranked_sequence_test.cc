#include "redouble/backends/memory/values/encodings/ranked_sequence.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

std::vector<uint32_t> Upwards(const RankedSequence& sequence) {
  std::vector<uint32_t> numbers;
  sequence.ForEach(0, sequence.size(), false, [&](uint32_t number) { numbers.push_back(number); });
  return numbers;
}

RankedSequence Counting(uint32_t count) {
  RankedSequence sequence;
  for (uint32_t number = 0; number < count; ++number) sequence.Insert(number, number);
  return sequence;
}

TEST(RankedSequence, BeginsEmpty) {
  const RankedSequence sequence;
  EXPECT_EQ(sequence.size(), 0u);
  EXPECT_EQ(sequence.PartitionPoint([](uint32_t) { return true; }), 0u);
  EXPECT_TRUE(Upwards(sequence).empty());
}

TEST(RankedSequence, KeepsWhatArrivesInOrder) {
  constexpr uint32_t kCount = 5 * RankedSequence::kLeafNumbers + 7;
  const RankedSequence sequence = Counting(kCount);
  ASSERT_EQ(sequence.size(), kCount);
  for (uint32_t rank = 0; rank < kCount; ++rank) EXPECT_EQ(sequence.At(rank), rank);
}

TEST(RankedSequence, KeepsWhatArrivesAtTheFront) {
  constexpr uint32_t kCount = 3000;
  RankedSequence sequence;
  for (uint32_t number = 0; number < kCount; ++number) sequence.Insert(0, number);
  for (uint32_t rank = 0; rank < kCount; ++rank) EXPECT_EQ(sequence.At(rank), kCount - 1 - rank);
}

TEST(RankedSequence, FindsThePointOfAnOrder) {
  const RankedSequence sequence = Counting(2000);
  for (const uint32_t point : {0u, 1u, 511u, 512u, 513u, 1999u, 2000u}) {
    EXPECT_EQ(sequence.PartitionPoint([&](uint32_t number) { return number < point; }), point);
  }
}

TEST(RankedSequence, WalksBothWays) {
  const RankedSequence sequence = Counting(1500);
  std::vector<uint32_t> walked;
  const auto note = [&](uint32_t number) { walked.push_back(number); };
  sequence.ForEach(510, 4, false, note);
  EXPECT_EQ(walked, (std::vector<uint32_t>{510, 511, 512, 513}));
  walked.clear();
  sequence.ForEach(513, 4, true, note);
  EXPECT_EQ(walked, (std::vector<uint32_t>{513, 512, 511, 510}));
  walked.clear();
  sequence.ForEach(1499, 0, false, note);
  EXPECT_TRUE(walked.empty());
}

TEST(RankedSequence, EmptiesFromTheFrontAndFromTheBack) {
  RankedSequence front = Counting(2000);
  RankedSequence back = Counting(2000);
  for (uint32_t number = 0; number < 2000; ++number) {
    ASSERT_EQ(front.At(0), number);
    front.Erase(0);
    ASSERT_EQ(back.At(back.size() - 1), 1999 - number);
    back.Erase(back.size() - 1);
  }
  EXPECT_EQ(front.size(), 0u);
  EXPECT_EQ(back.size(), 0u);
  front.Insert(0, 7);
  EXPECT_EQ(front.At(0), 7u);
}

TEST(RankedSequence, ReplacesInPlace) {
  RankedSequence sequence = Counting(1000);
  sequence.Replace(600, 5);
  EXPECT_EQ(sequence.At(600), 5u);
  EXPECT_EQ(sequence.size(), 1000u);
}

// Repeated changes in one place fill, split, empty and merge leaves.
RC_GTEST_PROP(RankedSequence, AgreesWithAVector, ()) {
  RankedSequence sequence;
  std::vector<uint32_t> model;
  uint32_t next = 0;
  const int bursts = *rc::gen::inRange(1, 12);
  for (int burst = 0; burst < bursts; ++burst) {
    const auto count = *rc::gen::inRange<size_t>(1, 900);
    const auto place = *rc::gen::inRange<size_t>(0, model.size() + 1);
    const bool erase = *rc::gen::inRange(0, 5) < 2;
    const auto at = static_cast<ptrdiff_t>(place);
    for (size_t i = 0; i < count && erase && place < model.size(); ++i) {
      sequence.Erase(place);
      model.erase(model.begin() + at);
    }
    for (size_t i = 0; i < count && !erase; ++i) {
      sequence.Insert(place, next);
      model.insert(model.begin() + at, next++);
    }
    RC_ASSERT(Upwards(sequence) == model);
  }
  for (size_t rank = 0; rank < model.size(); rank += 37) {
    RC_ASSERT(sequence.At(rank) == model[rank]);
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
