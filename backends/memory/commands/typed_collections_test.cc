// The typed commands of lists, hashes, sets and sorted sets, run on the engine.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/sorted_sets.h"

namespace redouble::inline v0_1::memory {
namespace {

using ::testing::Eq;
using Strings = std::vector<std::string>;
using base::IsOkAndHolds;

constexpr std::array<std::string_view, 2> kTwo = {"a", "b"};

class TypedCollections : public testing::Test {
 protected:
  base::VirtualClock clock_{absl::FromUnixMillis(1'778'335'382'000)};
  Engine engine_{clock_};
  std::unique_ptr<Session> session_ = engine_.Connect();
  store::Store& store_ = *session_;
};

TEST_F(TypedCollections, ListsKeepTheirOrder) {
  EXPECT_THAT(base::Run(store::RPush(store_, "k", kTwo)), IsOkAndHolds(2));
  EXPECT_THAT(base::Run(store::LPush(store_, "k", "first")), IsOkAndHolds(3));
  EXPECT_THAT(base::Run(store::LRange(store_, "k", 0, -1)),
              IsOkAndHolds(Strings{"first", "a", "b"}));
  EXPECT_TRUE(base::Run(store::LSet(store_, "k", 1, "A")).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(base::Run(store::LSet(store_, "k", 9, "x"))));
  EXPECT_THAT(base::Run(store::LIndex(store_, "k", 1)), IsOkAndHolds("A"));
  EXPECT_THAT(base::Run(store::LRem(store_, "k", 0, "A")), IsOkAndHolds(1));
  EXPECT_THAT(base::Run(store::LMove(store_, {.from = "k", .to = "l"})), IsOkAndHolds("first"));
  EXPECT_THAT(base::Run(store::RPop(store_, "k")), IsOkAndHolds("b"));
  EXPECT_THAT(base::Run(store::LPop(store_, "k")), IsOkAndHolds(Eq(std::nullopt)));
}

TEST_F(TypedCollections, ABlockedPopWakesOnDataOrTimesOut) {
  const std::unique_ptr<Session> waiting = engine_.Connect();
  auto pop = store::BLPop(*waiting, kTwo, absl::Seconds(5));
  pop.Start();
  EXPECT_THAT(base::Run(store::RPush(store_, "b", "x")), IsOkAndHolds(1));
  ASSERT_TRUE(pop.done());
  EXPECT_THAT(pop.TakeResult(), IsOkAndHolds(store::PoppedElement{"b", "x"}));
  auto late = store::BRPop(*waiting, kTwo, absl::Seconds(5));
  late.Start();
  clock_.Advance(absl::Milliseconds(5000));
  EXPECT_FALSE(late.done());
  clock_.Advance(absl::Milliseconds(1));
  ASSERT_TRUE(late.done());
  EXPECT_THAT(late.TakeResult(), IsOkAndHolds(Eq(std::nullopt)));
}

TEST_F(TypedCollections, HashesHoldFields) {
  constexpr std::array<store::FieldView, 2> kFields = {store::FieldView("a", "1"),
                                                       store::FieldView("b", "2")};
  EXPECT_THAT(base::Run(store::HSet(store_, "k", kFields)), IsOkAndHolds(2));
  EXPECT_THAT(base::Run(store::HSet(store_, "k", "a", "7")), IsOkAndHolds(false));
  EXPECT_THAT(
      base::Run(store::HGetAll(store_, "k")),
      IsOkAndHolds(std::vector<std::pair<std::string, std::string>>{{"a", "7"}, {"b", "2"}}));
  EXPECT_THAT(base::Run(store::HIncrBy(store_, "k", "b", 5)), IsOkAndHolds(7));
  EXPECT_THAT(base::Run(store::HIncrByFloat(store_, "k", "b", "0.1")), IsOkAndHolds("7.1"));
  EXPECT_TRUE(absl::IsInvalidArgument(base::Run(store::HIncrBy(store_, "k", "b", 5)).status()));
  EXPECT_THAT(base::Run(store::HDel(store_, "k", kTwo)), IsOkAndHolds(2));
  EXPECT_THAT(base::Run(store::HLen(store_, "k")), IsOkAndHolds(0));
}

TEST_F(TypedCollections, SetsHoldMembersOnce) {
  EXPECT_THAT(base::Run(store::SAdd(store_, "k", kTwo)), IsOkAndHolds(2));
  EXPECT_THAT(base::Run(store::SAdd(store_, "k", "a")), IsOkAndHolds(false));
  EXPECT_THAT(base::Run(store::SIsMember(store_, "k", "b")), IsOkAndHolds(true));
  EXPECT_THAT(base::Run(store::SMove(store_, "k", "l", "b")), IsOkAndHolds(true));
  constexpr std::array<std::string_view, 2> kSets = {"k", "l"};
  EXPECT_THAT(base::Run(store::SUnion(store_, kSets)), IsOkAndHolds(Strings{"a", "b"}));
  EXPECT_TRUE(base::Run(store::SInter(store_, kSets)).value().empty());
  EXPECT_THAT(base::Run(store::SDiff(store_, kSets)), IsOkAndHolds(Strings{"a"}));
  EXPECT_THAT(base::Run(store::SPop(store_, "k")), IsOkAndHolds("a"));
  EXPECT_THAT(base::Run(store::SPop(store_, "k")), IsOkAndHolds(Eq(std::nullopt)));
}

TEST_F(TypedCollections, SortedSetsAreOrderedByScore) {
  constexpr std::array<store::ScoredView, 3> kMembers = {
      store::ScoredView{"c", 3}, store::ScoredView{"a", 1.5}, store::ScoredView{"b", 2}};
  EXPECT_THAT(base::Run(store::ZAdd(store_, "k", kMembers)), IsOkAndHolds(3));
  EXPECT_THAT(base::Run(store::ZRange(store_, "k", 0, -1)), IsOkAndHolds(Strings{"a", "b", "c"}));
  EXPECT_THAT(base::Run(store::ZRangeByScore(store_, "k", {.min = "(1.5", .limit = 1})),
              IsOkAndHolds(Strings{"b"}));
  EXPECT_THAT(base::Run(store::ZIncrBy(store_, "k", 0.5, "a")), IsOkAndHolds(2));
  EXPECT_THAT(base::Run(store::ZScore(store_, "k", "a")), IsOkAndHolds(2));
  EXPECT_THAT(base::Run(store::ZRank(store_, "k", "b")), IsOkAndHolds(1));
  EXPECT_THAT(base::Run(store::ZCount(store_, "k", {.min = "2", .max = "2"})), IsOkAndHolds(2));
  EXPECT_THAT(base::Run(store::ZPopMax(store_, "k")),
              IsOkAndHolds(std::vector<store::ScoredMember>{{"c", 3}}));
  EXPECT_THAT(base::Run(store::ZRemRangeByRank(store_, "k", 0, -1)), IsOkAndHolds(2));
  EXPECT_THAT(base::Run(store::ZCard(store_, "k")), IsOkAndHolds(0));
}

TEST_F(TypedCollections, ZAddRefusesIncompatibleOptions) {
  constexpr std::array<store::ScoredView, 1> kMember = {store::ScoredView{"a", 1}};
  store::ZAddOptions options;
  options.condition = store::ZAddOptions::Condition::kIfAbsent;
  options.comparison = store::ZAddOptions::Comparison::kIfGreater;
  EXPECT_TRUE(
      absl::IsInvalidArgument(base::Run(store::ZAdd(store_, "k", kMember, options)).status()));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
