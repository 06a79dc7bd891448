#include "redouble/backends/memory/values/set.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/backends/memory/values/encoding_limits.h"

namespace redouble::inline v0_1::memory {
namespace {

using Strings = std::vector<std::string>;

EncodingLimits Limits(size_t entries = 512) {
  EncodingLimits limits;
  limits.set_max_intset_entries = entries;
  limits.set_max_listpack_entries = 0;
  return limits;
}

Set Of(const Strings& members) {
  Set set;
  for (const std::string& member : members) set.Add(member, Limits());
  return set;
}

Strings All(const Set& set) {
  Strings members;
  set.ForEach([&](std::string_view member) { members.emplace_back(member); });
  return members;
}

TEST(Set, OfIntegersIsAnIntsetInAscendingOrder) {
  const Set set = Of({"10", "-3", "9"});
  EXPECT_EQ(set.encoding(), "intset");
  EXPECT_NE(set.intset(), nullptr);
  EXPECT_EQ(All(set), (Strings{"-3", "9", "10"}));
  EXPECT_EQ(set.At(2), "10");
}

TEST(Set, AdoptsAnIntsetUpToTheLimit) {
  Intset members;
  for (const int64_t member : {5, -7, 70000}) members.Add(member);
  EXPECT_FALSE(Set::Adopt(members, Limits(2)).has_value());
  const void* const bytes = members.bytes().data();
  std::optional<Set> set = Set::Adopt(members, Limits(3));
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->intset()->bytes().data(), bytes) << "it is not copied";
  EXPECT_EQ(All(*set), (Strings{"-7", "5", "70000"}));
  EXPECT_TRUE(set->Add("6", Limits(3)));
  EXPECT_EQ(set->encoding(), "hashtable");
}

TEST(Set, TurnsToATableWithAMemberThatIsNoInteger) {
  for (const std::string_view other : {"x", "", "01", "1.0", "+1", "9223372036854775808"}) {
    Set set = Of({"1", "2"});
    EXPECT_TRUE(set.Add(other, Limits()));
    EXPECT_EQ(set.encoding(), "hashtable") << other;
    EXPECT_EQ(set.intset(), nullptr);
    EXPECT_TRUE(set.Contains("1"));
    EXPECT_TRUE(set.Contains(other));
    EXPECT_EQ(set.size(), 3u);
  }
}

TEST(Set, TurnsToATableWhenItHasTooManyIntegers) {
  Set set;
  for (const std::string_view member : {"1", "2", "2"}) set.Add(member, Limits(2));
  EXPECT_EQ(set.encoding(), "intset");
  EXPECT_TRUE(set.Add("3", Limits(2)));
  EXPECT_EQ(set.encoding(), "hashtable");
}

TEST(Set, KeepsItsEncodingWhenMembersGoUntilItIsRebuilt) {
  Set set = Of({"1", "2", "x"});
  EXPECT_TRUE(set.Remove("x"));
  EXPECT_FALSE(set.Remove("x"));
  EXPECT_EQ(set.encoding(), "hashtable");
  set.Rebuild(Limits());
  EXPECT_EQ(set.encoding(), "intset");
  EXPECT_EQ(All(set), (Strings{"1", "2"}));
  set.Rebuild(Limits(1));
  EXPECT_EQ(set.encoding(), "hashtable");
  EXPECT_EQ(set.size(), 2u);
}

TEST(Set, OfFewShortStringsIsAListpackInRedis72) {
  EncodingLimits limits;
  limits.set_max_listpack_entries = 4;
  limits.set_max_listpack_value = 3;
  Set set;
  for (const std::string_view member : {"2", "1", "b", "a"}) EXPECT_TRUE(set.Add(member, limits));
  EXPECT_EQ(set.encoding(), "listpack");
  EXPECT_EQ(All(set), (Strings{"1", "2", "b", "a"}));
  EXPECT_EQ(set.Clone().encoding(), "listpack");
  EXPECT_TRUE(set.Remove("1"));
  EXPECT_EQ(set.encoding(), "listpack");
  EXPECT_EQ(All(set), (Strings{"2", "b", "a"})) << "the order stays";
  EXPECT_TRUE(set.Add("c", limits));
  EXPECT_TRUE(set.Add("d", limits));
  EXPECT_EQ(set.encoding(), "hashtable") << "too many members";
  Set other;
  other.Add("a", limits);
  other.Add("long", limits);
  EXPECT_EQ(other.encoding(), "hashtable") << "a long member";
}

TEST(Set, LooksForIntegersByTheirText) {
  Set set = Of({"1"});
  EXPECT_FALSE(set.Contains("01"));
  EXPECT_FALSE(set.Contains("x"));
  EXPECT_FALSE(set.Remove("01"));
  EXPECT_FALSE(set.Remove("2"));
  EXPECT_TRUE(set.Remove("1"));
  EXPECT_TRUE(set.empty());
}

TEST(Set, RemovesByPositionInEachEncoding) {
  EncodingLimits packed = Limits();
  packed.set_max_listpack_entries = 128;
  for (const EncodingLimits& limits : {Limits(), packed}) {
    for (const std::string first : {"7", "x"}) {
      Set set;
      for (const std::string& member : {first, std::string("8"), std::string("9")}) {
        set.Add(member, limits);
      }
      const std::string encoding(set.encoding());
      const std::string second = set.At(1);
      set.RemoveAt(1);
      EXPECT_EQ(set.size(), 2u) << encoding;
      EXPECT_FALSE(set.Contains(second)) << encoding;
      EXPECT_EQ(set.encoding(), encoding);
    }
  }
}

TEST(Set, ClonesItselfInBothEncodings) {
  for (const Strings& members : {Strings{"1", "2"}, Strings{"1", "x"}}) {
    Set set = Of(members);
    const Set clone = set.Clone();
    set.Remove("1");
    EXPECT_EQ(clone.encoding(), set.encoding());
    EXPECT_EQ(All(clone), members);
  }
}

TEST(Set, ScansEveryMemberOnce) {
  for (const std::string_view prefix : {"", "m"}) {
    Set set;
    for (int i = 0; i < 100; ++i) set.Add(std::string(prefix) + std::to_string(i), Limits());
    std::multiset<std::string> seen;
    uint64_t cursor = 0;
    do {
      cursor = set.Scan(cursor, 7, [&](std::string_view member) { seen.emplace(member); });
    } while (cursor != 0);
    EXPECT_EQ(seen.size(), 100u);
    EXPECT_EQ(seen.count(std::string(prefix) + "42"), 1u);
  }
}

RC_GTEST_PROP(Set, AgreesWithAStandardSet, ()) {
  const auto entries = *rc::gen::element<size_t>(3, 512);
  const auto prefixes = *rc::gen::element<int>(1, 2);
  Set set;
  std::set<std::string> model;
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, bool>>>(rc::gen::tuple(
      rc::gen::inRange(-10, 10), rc::gen::inRange(0, 9), rc::gen::arbitrary<bool>()));
  for (const auto& [number, kind, remove] : steps) {
    const std::string member = (prefixes == 2 && kind == 0 ? "m" : "") + std::to_string(number);
    if (remove) {
      RC_ASSERT(set.Remove(member) == (model.erase(member) == 1));
    } else {
      RC_ASSERT(set.Add(member, Limits(entries)) == model.insert(member).second);
    }
    RC_ASSERT(set.size() == model.size());
    RC_ASSERT(set.Contains(member) == !remove);
  }
  const Strings members = All(set);
  RC_ASSERT(std::set<std::string>(members.begin(), members.end()) == model);
  for (size_t i = 0; i < members.size(); ++i) RC_ASSERT(set.At(i) == members[i]);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
