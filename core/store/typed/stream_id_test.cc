#include "redouble/core/store/typed/stream_id.h"

#include <sstream>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::store {
namespace {

TEST(StreamId, IsOrderedByMillisecondsThenBySequence) {
  EXPECT_LT((StreamId{1, 9}), (StreamId{2, 0}));
  EXPECT_LT((StreamId{2, 0}), (StreamId{2, 1}));
  EXPECT_LT(StreamId::Min(), (StreamId{0, 1}));
  EXPECT_LT((StreamId{UINT64_MAX, 0}), StreamId::Max());
}

TEST(StreamId, ReadsBothFormsOfItsText) {
  EXPECT_EQ(StreamId::Parse("1526919030474-55"), (StreamId{1526919030474, 55}));
  EXPECT_EQ(StreamId::Parse("7"), (StreamId{7, 0}));
  EXPECT_EQ(StreamId::Parse("18446744073709551615-18446744073709551615"), StreamId::Max());
}

TEST(StreamId, RefusesWhatIsNoCanonicalId) {
  for (const std::string_view text :
       {"", "-", "+", "$", ">", "*", "1-", "-1", "1-*", "1-2-3", "01-1", "1-01", " 1-1", "1-1 ",
        "+1-1", "0x1", "18446744073709551616-0", "1-18446744073709551616"}) {
    EXPECT_EQ(StreamId::Parse(text), std::nullopt) << text;
  }
}

TEST(StreamId, CarriesBetweenItsParts) {
  EXPECT_EQ((StreamId{5, UINT64_MAX}).Next(), (StreamId{6, 0}));
  EXPECT_EQ((StreamId{6, 0}).Previous(), (StreamId{5, UINT64_MAX}));
}

TEST(StreamId, HasNothingBeyondItsEnds) {
  EXPECT_EQ(StreamId::Max().Next(), std::nullopt);
  EXPECT_EQ(StreamId::Min().Previous(), std::nullopt);
}

TEST(StreamId, IsWrittenToStreams) {
  std::ostringstream out;
  out << StreamId{3, 4};
  EXPECT_EQ(out.str(), "3-4");
}

RC_GTEST_PROP(StreamId, SurvivesItsText, (uint64_t ms, uint64_t seq)) {
  const StreamId id{ms, seq};
  RC_ASSERT(StreamId::Parse(id.ToString()) == id);
}

RC_GTEST_PROP(StreamId, NextAndPreviousAreInverse, (uint64_t ms, uint64_t seq)) {
  const StreamId id{ms, seq};
  if (const auto next = id.Next()) {
    RC_ASSERT(*next > id);
    RC_ASSERT(next->Previous() == id);
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::store
