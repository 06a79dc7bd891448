#include "redouble/core/store/typed/sorted_sets.h"

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using ::testing::Eq;
using Comparison = ZAddOptions::Comparison;
using Condition = ZAddOptions::Condition;
using Words = FakeStore::Words;
using base::IsOkAndHolds;

constexpr std::array<std::string_view, 2> kNames = {"a", "b"};
constexpr std::array<ScoredView, 2> kScored = {
    ScoredView{"a", 1.5}, ScoredView{"b", -std::numeric_limits<double>::infinity()}};

Reply BulkArray(std::initializer_list<std::string_view> texts) {
  std::vector<Reply> elements;
  for (const std::string_view text : texts) elements.push_back(Reply::Bulk(text));
  return Reply::Array(std::move(elements));
}

TEST(SortedSets, Add) {
  const auto add = [](Store& store) { return ZAdd(store, "k", kScored); };
  EXPECT_THAT(Ask({"ZADD", "k", "1.5", "a", "-inf", "b"}, Reply::Integer(2), add), IsOkAndHolds(2));
}

TEST(SortedSets, AddWithOptions) {
  const auto add = [](ZAddOptions options) {
    return
        [options](Store& store) { return ZAdd(store, "k", std::span(kScored).first(1), options); };
  };
  EXPECT_THAT(Ask({"ZADD", "k", "NX", "1.5", "a"}, Reply::Integer(1),
                  add({.condition = Condition::kIfAbsent})),
              IsOkAndHolds(1));
  EXPECT_THAT(Ask({"ZADD", "k", "XX", "GT", "CH", "1.5", "a"}, Reply::Integer(0),
                  add({.condition = Condition::kIfPresent,
                       .comparison = Comparison::kIfGreater,
                       .count_changed = true})),
              IsOkAndHolds(0));
  EXPECT_THAT(Ask({"ZADD", "k", "LT", "1.5", "a"}, Reply::Integer(0),
                  add({.comparison = Comparison::kIfLess})),
              IsOkAndHolds(0));
}

TEST(SortedSets, IncrementAndRemove) {
  const auto increment = [](Store& store) { return ZIncrBy(store, "k", 0.1, "a"); };
  const auto remove = [](Store& store) { return ZRem(store, "k", kNames); };
  EXPECT_THAT(Ask({"ZINCRBY", "k", "0.10000000000000001", "a"}, Reply::Bulk("2.5"), increment),
              IsOkAndHolds(2.5));
  EXPECT_THAT(Ask({"ZREM", "k", "a", "b"}, Reply::Integer(1), remove), IsOkAndHolds(1));
}

TEST(SortedSets, LookAtMembers) {
  const auto size = [](Store& store) { return ZCard(store, "k"); };
  const auto score = [](Store& store) { return ZScore(store, "k", "a"); };
  const auto rank = [](Store& store) { return ZRank(store, "k", "a"); };
  EXPECT_THAT(Ask({"ZCARD", "k"}, Reply::Integer(3), size), IsOkAndHolds(3));
  EXPECT_THAT(Ask({"ZSCORE", "k", "a"}, Reply::Bulk("-inf"), score),
              IsOkAndHolds(-std::numeric_limits<double>::infinity()));
  EXPECT_THAT(Ask({"ZSCORE", "k", "a"}, Reply::Nil(), score), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_FALSE(Ask({"ZSCORE", "k", "a"}, Reply::Bulk("x"), score).ok());
  EXPECT_THAT(Ask({"ZRANK", "k", "a"}, Reply::Integer(2), rank), IsOkAndHolds(2));
  EXPECT_THAT(Ask({"ZRANK", "k", "a"}, Reply::Nil(), rank), IsOkAndHolds(Eq(std::nullopt)));
}

TEST(SortedSets, RangesOfRanks) {
  const auto range = [](Store& store) { return ZRange(store, "k", 0, -1); };
  const auto reverse = [](Store& store) { return ZRevRange(store, "k", 0, 1); };
  const auto remove = [](Store& store) { return ZRemRangeByRank(store, "k", 0, 1); };
  const std::vector<std::string> members = {"a", "b"};
  EXPECT_THAT(Ask({"ZRANGE", "k", "0", "-1"}, BulkArray({"a", "b"}), range), IsOkAndHolds(members));
  EXPECT_THAT(Ask({"ZREVRANGE", "k", "0", "1"}, BulkArray({"a", "b"}), reverse),
              IsOkAndHolds(members));
  EXPECT_THAT(Ask({"ZREMRANGEBYRANK", "k", "0", "1"}, Reply::Integer(2), remove), IsOkAndHolds(2));
}

TEST(SortedSets, RangesWithScores) {
  const auto range = [](Store& store) { return ZRangeWithScores(store, "k", 0, -1); };
  const Words words = {"ZRANGE", "k", "0", "-1", "WITHSCORES"};
  EXPECT_THAT(Ask(words, BulkArray({"a", "1", "b", "2.5"}), range),
              IsOkAndHolds(std::vector<ScoredMember>{{"a", 1}, {"b", 2.5}}));
  EXPECT_FALSE(Ask(words, BulkArray({"a", "x"}), range).ok());
  EXPECT_FALSE(Ask(words, Reply::Array({Reply::Integer(1), Reply::Bulk("1")}), range).ok());
  EXPECT_FALSE(Ask(words, Reply::Integer(1), range).ok());
}

TEST(SortedSets, RangesOfScores) {
  const auto range = [](ScoreQuery query) {
    return [query](Store& store) { return ZRangeByScore(store, "k", query); };
  };
  const auto count = [](Store& store) { return ZCount(store, "k", {.min = "(1"}); };
  const auto remove = [](Store& store) { return ZRemRangeByScore(store, "k", {.max = "5"}); };
  EXPECT_TRUE(
      Ask({"ZRANGEBYSCORE", "k", "-inf", "+inf"}, Reply::EmptyArray(), range({})).value().empty());
  EXPECT_TRUE(Ask({"ZRANGEBYSCORE", "k", "(1", "2", "LIMIT", "0", "5"}, Reply::EmptyArray(),
                  range({.min = "(1", .max = "2", .limit = 5}))
                  ->empty());
  EXPECT_TRUE(Ask({"ZRANGEBYSCORE", "k", "-inf", "+inf", "LIMIT", "3", "-1"}, Reply::EmptyArray(),
                  range({.offset = 3}))
                  ->empty());
  EXPECT_THAT(Ask({"ZCOUNT", "k", "(1", "+inf"}, Reply::Integer(4), count), IsOkAndHolds(4));
  EXPECT_THAT(Ask({"ZREMRANGEBYSCORE", "k", "-inf", "5"}, Reply::Integer(4), remove),
              IsOkAndHolds(4));
}

TEST(SortedSets, Pop) {
  const auto min = [](Store& store) { return ZPopMin(store, "k"); };
  const auto max = [](Store& store) { return ZPopMax(store, "k", 2); };
  EXPECT_THAT(Ask({"ZPOPMIN", "k", "1"}, BulkArray({"a", "1"}), min),
              IsOkAndHolds(std::vector<ScoredMember>{{"a", 1}}));
  EXPECT_TRUE(Ask({"ZPOPMAX", "k", "2"}, Reply::EmptyArray(), max).value().empty());
}

TEST(SortedSets, PassErrorsOn) {
  const auto score = [](Store& store) { return ZScore(store, "k", "a"); };
  const Reply wrong_type =
      Reply::Error("WRONGTYPE Operation against a key holding the wrong kind of value");
  EXPECT_TRUE(absl::IsFailedPrecondition(Ask({"ZSCORE", "k", "a"}, wrong_type, score).status()));
  EXPECT_TRUE(absl::IsUnavailable(
      Ask({"ZSCORE", "k", "a"}, absl::UnavailableError("not connected"), score).status()));
}

}  // namespace
}  // namespace redouble::inline v0_1::store
