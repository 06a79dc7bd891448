#include "redouble/core/store/typed/lists.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using ::testing::Eq;
using Words = FakeStore::Words;
using base::IsOkAndHolds;

constexpr std::array<std::string_view, 2> kTwo = {"a", "b"};

Reply BulkArray(std::initializer_list<std::string_view> texts) {
  std::vector<Reply> elements;
  for (const std::string_view text : texts) elements.push_back(Reply::Bulk(text));
  return Reply::Array(std::move(elements));
}

TEST(Lists, Push) {
  const auto left = [](Store& store) { return LPush(store, "k", kTwo); };
  const auto right = [](Store& store) { return RPush(store, "k", kTwo); };
  const auto left_one = [](Store& store) { return LPush(store, "k", "a"); };
  const auto right_one = [](Store& store) { return RPush(store, "k", "a"); };
  EXPECT_THAT(Ask({"LPUSH", "k", "a", "b"}, Reply::Integer(2), left), IsOkAndHolds(2));
  EXPECT_THAT(Ask({"RPUSH", "k", "a", "b"}, Reply::Integer(3), right), IsOkAndHolds(3));
  EXPECT_THAT(Ask({"LPUSH", "k", "a"}, Reply::Integer(1), left_one), IsOkAndHolds(1));
  EXPECT_THAT(Ask({"RPUSH", "k", "a"}, Reply::Integer(1), right_one), IsOkAndHolds(1));
}

TEST(Lists, Pop) {
  const auto left = [](Store& store) { return LPop(store, "k"); };
  const auto right = [](Store& store) { return RPop(store, "k"); };
  EXPECT_THAT(Ask({"LPOP", "k"}, Reply::Bulk("a"), left), IsOkAndHolds("a"));
  EXPECT_THAT(Ask({"LPOP", "k"}, Reply::Nil(), left), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_THAT(Ask({"RPOP", "k"}, Reply::Bulk("b"), right), IsOkAndHolds("b"));
}

TEST(Lists, Move) {
  const auto move = [](Store& store) {
    return LMove(store,
                 {.from = "a", .to = "b", .from_end = ListEnd::kRight, .to_end = ListEnd::kLeft});
  };
  EXPECT_THAT(Ask({"LMOVE", "a", "b", "RIGHT", "LEFT"}, Reply::Bulk("x"), move), IsOkAndHolds("x"));
  EXPECT_THAT(Ask({"LMOVE", "a", "b", "RIGHT", "LEFT"}, Reply::Nil(), move),
              IsOkAndHolds(Eq(std::nullopt)));
}

TEST(Lists, LookAtElements) {
  const auto length = [](Store& store) { return LLen(store, "k"); };
  const auto index = [](Store& store) { return LIndex(store, "k", -1); };
  const auto range = [](Store& store) { return LRange(store, "k", 0, -1); };
  EXPECT_THAT(Ask({"LLEN", "k"}, Reply::Integer(3), length), IsOkAndHolds(3));
  EXPECT_THAT(Ask({"LINDEX", "k", "-1"}, Reply::Bulk("z"), index), IsOkAndHolds("z"));
  EXPECT_THAT(Ask({"LINDEX", "k", "-1"}, Reply::Nil(), index), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_THAT(Ask({"LRANGE", "k", "0", "-1"}, BulkArray({"a", "b"}), range),
              IsOkAndHolds(std::vector<std::string>{"a", "b"}));
}

TEST(Lists, ChangeElements) {
  const auto set = [](Store& store) { return LSet(store, "k", 1, "x"); };
  const auto trim = [](Store& store) { return LTrim(store, "k", 0, 9); };
  const auto remove = [](Store& store) { return LRem(store, "k", -2, "x"); };
  EXPECT_TRUE(Ask({"LSET", "k", "1", "x"}, Reply::Ok(), set).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(
      Ask({"LSET", "k", "1", "x"}, Reply::Error("ERR index out of range"), set)));
  EXPECT_TRUE(Ask({"LTRIM", "k", "0", "9"}, Reply::Ok(), trim).ok());
  EXPECT_THAT(Ask({"LREM", "k", "-2", "x"}, Reply::Integer(2), remove), IsOkAndHolds(2));
}

TEST(Lists, WaitForElements) {
  const auto left = [](Store& store) { return BLPop(store, kTwo, absl::Seconds(5)); };
  const auto right = [](Store& store) { return BRPop(store, kTwo, absl::Seconds(5)); };
  const PoppedElement popped{"b", "x"};
  EXPECT_THAT(Ask({"BLPOP", "a", "b", "5.000"}, BulkArray({"b", "x"}), left), IsOkAndHolds(popped));
  EXPECT_THAT(Ask({"BLPOP", "a", "b", "5.000"}, Reply::NilArray(), left),
              IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_THAT(Ask({"BRPOP", "a", "b", "5.000"}, BulkArray({"b", "x"}), right),
              IsOkAndHolds(popped));
  EXPECT_FALSE(Ask({"BLPOP", "a", "b", "5.000"}, BulkArray({"b"}), left).ok());
  EXPECT_FALSE(Ask({"BLPOP", "a", "b", "5.000"}, Reply::Integer(1), left).ok());
}

TEST(Lists, WriteTimeoutsInSecondsRoundedUpToMilliseconds) {
  const auto move = [](absl::Duration timeout) {
    return [timeout](Store& store) { return BLMove(store, {.from = "a", .to = "b"}, timeout); };
  };
  const struct {
    absl::Duration timeout;
    std::string text;
  } rows[] = {
      {absl::Milliseconds(1500), "1.500"},
      {absl::Microseconds(1), "0.001"},
      {absl::InfiniteDuration(), "0"},
      {absl::ZeroDuration(), "0"},
      {-absl::Seconds(1), "0"},
      {absl::Hours(1), "3600.000"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(
        Ask({"BLMOVE", "a", "b", "LEFT", "RIGHT", row.text}, Reply::Bulk("x"), move(row.timeout)),
        IsOkAndHolds("x"));
  }
}

TEST(Lists, PassErrorsOn) {
  const auto length = [](Store& store) { return LLen(store, "k"); };
  const Reply wrong_type =
      Reply::Error("WRONGTYPE Operation against a key holding the wrong kind of value");
  EXPECT_TRUE(absl::IsFailedPrecondition(Ask({"LLEN", "k"}, wrong_type, length).status()));
  EXPECT_TRUE(absl::IsUnavailable(
      Ask({"LLEN", "k"}, absl::UnavailableError("not connected"), length).status()));
}

}  // namespace
}  // namespace redouble::inline v0_1::store
