#include "redouble/backends/memory/values/sorted_set.h"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/backends/memory/values/encoding_limits.h"

namespace redouble::inline v0_1::memory {
namespace {

using Pair = std::pair<double, std::string>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

EncodingLimits Limits(size_t entries = 128, size_t value = 64) {
  EncodingLimits limits;
  limits.zset_max_listpack_entries = entries;
  limits.zset_max_listpack_value = value;
  return limits;
}

std::vector<Pair> Walk(const SortedSet& set, const RankRange& ranks, bool downwards = false) {
  std::vector<Pair> pairs;
  set.ForEach(downwards ? ranks.end - 1 : ranks.first, ranks.size(), downwards,
              [&](std::string_view member, double score) { pairs.emplace_back(score, member); });
  return pairs;
}

std::vector<Pair> All(const SortedSet& set) { return Walk(set, {0, set.size()}); }

LexBound At(std::string_view member, bool exclusive = false) {
  return {LexBound::Kind::kMember, member, exclusive};
}

// Each test runs on both encodings.
class SortedSetOf : public testing::TestWithParam<bool> {
 protected:
  SortedSetOf() {
    if (GetParam()) set_.ConvertToTable();
  }
  void Add(std::string_view member, double score) { set_.Set(member, score, Limits()); }

  SortedSet set_;
};

TEST_P(SortedSetOf, KnowsItsEncoding) {
  EXPECT_EQ(set_.encoding(), GetParam() ? "skiplist" : "listpack");
  EXPECT_EQ(set_.listpack() == nullptr, GetParam());
  EXPECT_TRUE(set_.empty());
}

TEST_P(SortedSetOf, OrdersByScoreAndThenByBytes) {
  for (const std::string_view member : {"b", "a", "", "\xff", "B", "10", "9"}) Add(member, 1);
  Add("first", -kInfinity);
  Add("last", kInfinity);
  EXPECT_EQ(All(set_), (std::vector<Pair>{{-kInfinity, "first"},
                                          {1, ""},
                                          {1, "10"},
                                          {1, "9"},
                                          {1, "B"},
                                          {1, "a"},
                                          {1, "b"},
                                          {1, "\xff"},
                                          {kInfinity, "last"}}));
}

TEST_P(SortedSetOf, DistinguishesNewMembersFromChangedScores) {
  EXPECT_TRUE(set_.Set("a", 1, Limits()));
  EXPECT_FALSE(set_.Set("a", 1, Limits()));
  EXPECT_FALSE(set_.Set("a", 2.5, Limits()));
  EXPECT_EQ(set_.Score("a"), 2.5);
  EXPECT_EQ(set_.Score("b"), std::nullopt);
  EXPECT_TRUE(set_.Contains("a"));
  EXPECT_FALSE(set_.Contains("b"));
  EXPECT_EQ(set_.size(), 1u);
}

TEST_P(SortedSetOf, RanksMembers) {
  Add("a", 3);
  Add("b", 1);
  Add("c", 2);
  EXPECT_EQ(set_.Rank("b"), 0u);
  EXPECT_EQ(set_.Rank("c"), 1u);
  EXPECT_EQ(set_.Rank("a"), 2u);
  EXPECT_EQ(set_.Rank("d"), std::nullopt);
  EXPECT_EQ(set_.At(1).member, "c");
  EXPECT_EQ(set_.At(1).score, 2);
}

TEST_P(SortedSetOf, RemovesMembersAndRanges) {
  for (int i = 0; i < 10; ++i) Add(std::string(1, static_cast<char>('a' + i)), i);
  EXPECT_TRUE(set_.Remove("c"));
  EXPECT_FALSE(set_.Remove("c"));
  set_.RemoveRange({0, 2});
  set_.RemoveRange({5, 7});
  set_.RemoveRange({1, 1});
  EXPECT_EQ(All(set_), (std::vector<Pair>{{3, "d"}, {4, "e"}, {5, "f"}, {6, "g"}, {7, "h"}}));
  set_.RemoveRange({0, 5});
  EXPECT_TRUE(set_.empty());
}

TEST_P(SortedSetOf, FindsRangesOfScores) {
  Add("a", 1);
  Add("b", 2);
  Add("c", 2);
  Add("d", 3);
  const auto find = [&](const ScoreRange& range) { return Walk(set_, set_.Find(range)); };
  EXPECT_EQ(find({}).size(), 4u);
  EXPECT_EQ(find({.min = 2, .max = 2}), (std::vector<Pair>{{2, "b"}, {2, "c"}}));
  EXPECT_EQ(find({.min = 1, .max = 3, .min_exclusive = true, .max_exclusive = true}),
            (std::vector<Pair>{{2, "b"}, {2, "c"}}));
  EXPECT_TRUE(find({.min = 2, .max = 2, .min_exclusive = true}).empty());
  EXPECT_TRUE(find({.min = 3, .max = 1}).empty());
  EXPECT_TRUE(find({.min = 4, .max = 9}).empty());
  EXPECT_TRUE(find({.min = 1.1, .max = 1.9}).empty());
}

TEST_P(SortedSetOf, FindsRangesOfMembers) {
  for (const std::string_view member : {"a", "b", "c", "d"}) Add(member, 0);
  const auto count = [&](const LexRange& range) { return set_.Find(range).size(); };
  EXPECT_EQ(count({}), 4u);
  EXPECT_EQ(count({.min = At("b"), .max = At("c")}), 2u);
  EXPECT_EQ(count({.min = At("b", true), .max = At("d", true)}), 1u);
  EXPECT_EQ(count({.min = At("b", true), .max = At("b")}), 0u);
  EXPECT_EQ(count({.min = At("c"), .max = At("b")}), 0u);
  EXPECT_EQ(count({.min = At("bb")}), 2u);
  EXPECT_EQ(count({.min = At("e")}), 0u);
  EXPECT_EQ(count({.min = {.kind = LexBound::Kind::kHighest}}), 0u);
  EXPECT_EQ(count({.max = {.kind = LexBound::Kind::kLowest}}), 0u);
  EXPECT_EQ(Walk(set_, set_.Find({.min = At("b")}, true), true),
            (std::vector<Pair>{{0, "d"}, {0, "c"}, {0, "b"}}));
}

TEST_P(SortedSetOf, ClonesItself) {
  Add("a", 1);
  Add("b", 2);
  const SortedSet copy = set_.Clone();
  set_.Remove("a");
  EXPECT_EQ(copy.encoding(), set_.encoding());
  EXPECT_EQ(All(copy), (std::vector<Pair>{{1, "a"}, {2, "b"}}));
}

TEST_P(SortedSetOf, ScansEveryMemberOnce) {
  for (int i = 0; i < 25; ++i) Add("m" + std::to_string(i), 0.5);
  std::multiset<std::string> seen;
  uint64_t cursor = 0;
  do {
    cursor = set_.Scan(cursor, 10, [&](std::string_view member, std::string_view score) {
      EXPECT_EQ(score, "0.5");
      seen.emplace(member);
    });
  } while (cursor != 0);
  EXPECT_EQ(seen.size(), 25u);
  EXPECT_EQ(seen.count("m7"), 1u);
}

INSTANTIATE_TEST_SUITE_P(Encodings, SortedSetOf, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& info) {
                           return info.param ? "Table" : "Listpack";
                         });

Listpack Packed(std::initializer_list<std::string_view> elements) {
  Listpack pack;
  for (const std::string_view element : elements) pack.Append(element);
  return pack;
}

TEST(SortedSet, AdoptsAListpackInOrderAsItIs) {
  Listpack pack = Packed({"z", "-inf", "10", "-1.5", "9", "-1.5", "a", "0", "b", "inf"});
  const void* const bytes = pack.bytes().data();
  std::optional<SortedSet> set = SortedSet::Adopt(pack, Limits(5));
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->listpack()->bytes().data(), bytes) << "it is not copied";
  EXPECT_EQ(All(*set),
            (std::vector<Pair>{
                {-kInfinity, "z"}, {-1.5, "10"}, {-1.5, "9"}, {0, "a"}, {kInfinity, "b"}}));
  EXPECT_TRUE(set->Set("c", 1, Limits(5)));
  EXPECT_EQ(set->encoding(), "skiplist");
}

TEST(SortedSet, DoesNotAdoptWhatIsNoSmallSetInOrder) {
  for (Listpack pack : {
           Packed({"a", "1", "b"}),
           Packed({"a", "1", "b", "x"}),
           Packed({"a", "1", "b", "nan"}),
           Packed({"a", "2", "b", "1"}),
           Packed({"b", "1", "a", "1"}),
           Packed({"a", "1", "a", "1"}),
           Packed({"a", "1", "a", "2"}),
           Packed({"a", "1", "b", "2", "c", "3"}),
       }) {
    const std::string before(pack.bytes());
    EXPECT_FALSE(SortedSet::Adopt(pack, Limits(2)).has_value());
    EXPECT_EQ(pack.bytes(), before);
  }
}

TEST(SortedSet, TurnsToATableWhenItHasTooManyMembers) {
  SortedSet set;
  for (int i = 0; i < 3; ++i) set.Set("m" + std::to_string(i), i, Limits(3));
  EXPECT_EQ(set.encoding(), "listpack");
  set.Set("m0", 9, Limits(3));
  EXPECT_EQ(set.encoding(), "listpack");
  set.Set("m3", 3, Limits(3));
  EXPECT_EQ(set.encoding(), "skiplist");
  set.RemoveRange({0, 3});
  EXPECT_EQ(set.encoding(), "skiplist");
  EXPECT_EQ(All(set), (std::vector<Pair>{{9, "m0"}}));
}

TEST(SortedSet, TurnsToATableWhenAMemberIsTooLong) {
  SortedSet set;
  set.Set("1234", 1, Limits(128, 4));
  EXPECT_EQ(set.encoding(), "listpack");
  set.Set("12345", 1, Limits(128, 4));
  EXPECT_EQ(set.encoding(), "skiplist");
}

TEST(SortedSet, ForgetsTheSignOfZeroInAListpackOnly) {
  SortedSet set;
  set.Set("a", -0.0, Limits());
  EXPECT_FALSE(std::signbit(*set.Score("a")));
  set.ConvertToTable();
  set.Set("b", -0.0, Limits());
  EXPECT_TRUE(std::signbit(*set.Score("b")));
  set.Set("b", 0.0, Limits());
  EXPECT_TRUE(std::signbit(*set.Score("b")));
}

TEST(SortedSet, ScansLargeIntegersOfAListpackInFull) {
  const auto score_text = [](const SortedSet& set) {
    std::string text;
    set.Scan(0, 10, [&](std::string_view, std::string_view score) { text = score; });
    return text;
  };
  SortedSet set;
  set.Set("a", 1e18, Limits());
  EXPECT_EQ(score_text(set), "1000000000000000000");
  set.ConvertToTable();
  EXPECT_EQ(score_text(set), "1e+18");
  SortedSet beyond;
  beyond.Set("a", 5e18, Limits());
  EXPECT_EQ(score_text(beyond), "5e+18");
}

TEST(SortedSet, WalksAListpackWhoseScoresDifferAsRedisDoes) {
  SortedSet set;
  set.Set("c", 1, Limits());
  set.Set("a", 2, Limits());
  set.Set("d", 3, Limits());
  // "c" is the first member above the lower bound; "a" follows it and is within the upper bound.
  EXPECT_EQ(set.Find({.min = At("b"), .max = At("c")}).size(), 2u);
  // Backwards, "d" is within the upper bound, and "a" is below the lower bound.
  EXPECT_EQ(set.Find({.min = At("b"), .max = At("e")}, true).size(), 1u);
  // The first member above the lower bound is above the upper bound: the result is empty.
  EXPECT_EQ(set.Find({.min = At("b"), .max = At("b")}).size(), 0u);
}

// A step of a random program: a member, a score, and whether to remove the member.
RC_GTEST_PROP(SortedSet, AgreesWithAModelInBothEncodings, ()) {
  const auto max_entries = *rc::gen::element<size_t>(0, 5, 128);
  SortedSet set;
  std::set<Pair> model;
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 40), rc::gen::inRange(-3, 4), rc::gen::inRange(0, 4)));
  for (const auto& [name, score, action] : steps) {
    const std::string member = "m" + std::to_string(name);
    const std::optional<double> old = set.Score(member);
    if (old) RC_ASSERT(model.erase({*old, member}) == 1u);
    if (action == 0) {
      RC_ASSERT(set.Remove(member) == old.has_value());
    } else {
      RC_ASSERT(set.Set(member, score / 2.0, Limits(max_entries)) == !old.has_value());
      model.insert({score / 2.0, member});
    }
  }
  RC_ASSERT(All(set) == std::vector<Pair>(model.begin(), model.end()));
  size_t rank = 0;
  for (const auto& [score, member] : model) RC_ASSERT(set.Rank(member) == rank++);
  const auto min = *rc::gen::inRange(-4, 4);
  const auto first = model.lower_bound({min / 2.0, ""});
  RC_ASSERT(set.Find(ScoreRange{.min = min / 2.0}).size() ==
            static_cast<size_t>(std::distance(first, model.end())));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
