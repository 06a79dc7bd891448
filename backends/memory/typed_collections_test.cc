// The typed commands of lists, hashes, sets and sorted sets, answered by the engine.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "backends/memory/engine.h"
#include "core/base/run.h"
#include "core/store/hashes.h"
#include "core/store/lists.h"
#include "core/store/sets.h"
#include "core/store/sorted_sets.h"
#include "gtest/gtest.h"

namespace redouble::memory {
namespace {

using Strings = std::vector<std::string>;

constexpr std::array<std::string_view, 2> kTwo = {"a", "b"};

class TypedCollections : public testing::Test {
 protected:
  base::VirtualClock clock_{absl::FromUnixMillis(1'778'335'382'000)};
  Engine engine_{clock_};
  std::unique_ptr<Session> session_ = engine_.Connect();
  store::Store& store_ = *session_;
};

TEST_F(TypedCollections, ListsKeepTheirOrder) {
  EXPECT_EQ(*base::Run(store::RPush(store_, "k", kTwo)), 2);
  EXPECT_EQ(*base::Run(store::LPush(store_, "k", "first")), 3);
  EXPECT_EQ(*base::Run(store::LRange(store_, "k", 0, -1)), (Strings{"first", "a", "b"}));
  EXPECT_TRUE(base::Run(store::LSet(store_, "k", 1, "A")).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(base::Run(store::LSet(store_, "k", 9, "x"))));
  EXPECT_EQ(*base::Run(store::LIndex(store_, "k", 1)), "A");
  EXPECT_EQ(*base::Run(store::LRem(store_, "k", 0, "A")), 1);
  EXPECT_EQ(*base::Run(store::LMove(store_, {.from = "k", .to = "l"})), "first");
  EXPECT_EQ(*base::Run(store::RPop(store_, "k")), "b");
  EXPECT_EQ(*base::Run(store::LPop(store_, "k")), std::nullopt);
}

TEST_F(TypedCollections, ABlockedPopWakesOnDataOrGivesUpInTime) {
  const std::unique_ptr<Session> waiting = engine_.Connect();
  auto pop = store::BLPop(*waiting, kTwo, absl::Seconds(5));
  pop.Start();
  EXPECT_EQ(*base::Run(store::RPush(store_, "b", "x")), 1);
  ASSERT_TRUE(pop.done());
  EXPECT_EQ(*pop.TakeResult(), (store::PoppedElement{"b", "x"}));
  auto late = store::BRPop(*waiting, kTwo, absl::Seconds(5));
  late.Start();
  clock_.Advance(absl::Milliseconds(5000));
  EXPECT_FALSE(late.done());
  clock_.Advance(absl::Milliseconds(1));
  ASSERT_TRUE(late.done());
  EXPECT_EQ(*late.TakeResult(), std::nullopt);
}

TEST_F(TypedCollections, HashesHoldFields) {
  constexpr std::array<store::FieldView, 2> kFields = {store::FieldView("a", "1"),
                                                       store::FieldView("b", "2")};
  EXPECT_EQ(*base::Run(store::HSet(store_, "k", kFields)), 2);
  EXPECT_FALSE(*base::Run(store::HSet(store_, "k", "a", "7")));
  EXPECT_EQ(*base::Run(store::HGetAll(store_, "k")),
            (std::vector<std::pair<std::string, std::string>>{{"a", "7"}, {"b", "2"}}));
  EXPECT_EQ(*base::Run(store::HIncrBy(store_, "k", "b", 5)), 7);
  EXPECT_EQ(*base::Run(store::HIncrByFloat(store_, "k", "b", "0.1")), "7.1");
  EXPECT_TRUE(absl::IsInvalidArgument(base::Run(store::HIncrBy(store_, "k", "b", 5)).status()));
  EXPECT_EQ(*base::Run(store::HDel(store_, "k", kTwo)), 2);
  EXPECT_EQ(*base::Run(store::HLen(store_, "k")), 0);
}

TEST_F(TypedCollections, SetsHoldMembersOnce) {
  EXPECT_EQ(*base::Run(store::SAdd(store_, "k", kTwo)), 2);
  EXPECT_FALSE(*base::Run(store::SAdd(store_, "k", "a")));
  EXPECT_TRUE(*base::Run(store::SIsMember(store_, "k", "b")));
  EXPECT_TRUE(*base::Run(store::SMove(store_, "k", "l", "b")));
  constexpr std::array<std::string_view, 2> kSets = {"k", "l"};
  EXPECT_EQ(*base::Run(store::SUnion(store_, kSets)), (Strings{"a", "b"}));
  EXPECT_TRUE(base::Run(store::SInter(store_, kSets))->empty());
  EXPECT_EQ(*base::Run(store::SDiff(store_, kSets)), Strings{"a"});
  EXPECT_EQ(*base::Run(store::SPop(store_, "k")), "a");
  EXPECT_EQ(*base::Run(store::SPop(store_, "k")), std::nullopt);
}

TEST_F(TypedCollections, SortedSetsAreOrderedByScore) {
  constexpr std::array<store::ScoredView, 3> kMembers = {
      store::ScoredView{"c", 3}, store::ScoredView{"a", 1.5}, store::ScoredView{"b", 2}};
  EXPECT_EQ(*base::Run(store::ZAdd(store_, "k", kMembers)), 3);
  EXPECT_EQ(*base::Run(store::ZRange(store_, "k", 0, -1)), (Strings{"a", "b", "c"}));
  EXPECT_EQ(*base::Run(store::ZRangeByScore(store_, "k", {.min = "(1.5", .limit = 1})),
            Strings{"b"});
  EXPECT_EQ(*base::Run(store::ZIncrBy(store_, "k", 0.5, "a")), 2);
  EXPECT_EQ(*base::Run(store::ZScore(store_, "k", "a")), 2);
  EXPECT_EQ(*base::Run(store::ZRank(store_, "k", "b")), 1);
  EXPECT_EQ(*base::Run(store::ZCount(store_, "k", {.min = "2", .max = "2"})), 2);
  EXPECT_EQ(*base::Run(store::ZPopMax(store_, "k")), (std::vector<store::ScoredMember>{{"c", 3}}));
  EXPECT_EQ(*base::Run(store::ZRemRangeByRank(store_, "k", 0, -1)), 2);
  EXPECT_EQ(*base::Run(store::ZCard(store_, "k")), 0);
}

TEST_F(TypedCollections, ZAddRefusesOptionsThatDoNotGoTogether) {
  constexpr std::array<store::ScoredView, 1> kMember = {store::ScoredView{"a", 1}};
  store::ZAddOptions options;
  options.condition = store::ZAddOptions::Condition::kIfAbsent;
  options.comparison = store::ZAddOptions::Comparison::kIfGreater;
  EXPECT_TRUE(
      absl::IsInvalidArgument(base::Run(store::ZAdd(store_, "k", kMember, options)).status()));
}

}  // namespace
}  // namespace redouble::memory
