#include "redouble/core/store/typed/hashes.h"

#include <array>
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

namespace redouble::store {
namespace {

using base::IsOkAndHolds;

using Words = FakeStore::Words;

constexpr std::array<std::string_view, 2> kFields = {"a", "b"};
constexpr std::array<FieldView, 2> kPairs = {FieldView("a", "1"), FieldView("b", "2")};

Reply BulkArray(std::initializer_list<std::string_view> texts) {
  std::vector<Reply> elements;
  for (const std::string_view text : texts) elements.push_back(Reply::Bulk(text));
  return Reply::Array(std::move(elements));
}

TEST(Hashes, SetManyFields) {
  const auto set = [](Store& store) { return HSet(store, "k", kPairs); };
  EXPECT_THAT(Ask({"HSET", "k", "a", "1", "b", "2"}, Reply::Integer(2), set), IsOkAndHolds(2));
}

TEST(Hashes, SetOneField) {
  const auto set = [](Store& store) { return HSet(store, "k", "a", "1"); };
  EXPECT_THAT(Ask({"HSET", "k", "a", "1"}, Reply::Integer(1), set), IsOkAndHolds(true));
  EXPECT_THAT(Ask({"HSET", "k", "a", "1"}, Reply::Integer(0), set), IsOkAndHolds(false));
  const auto set_nx = [](Store& store) { return HSetNx(store, "k", "a", "1"); };
  EXPECT_THAT(Ask({"HSETNX", "k", "a", "1"}, Reply::Integer(0), set_nx), IsOkAndHolds(false));
}

TEST(Hashes, GetFields) {
  const auto get = [](Store& store) { return HGet(store, "k", "a"); };
  EXPECT_THAT(Ask({"HGET", "k", "a"}, Reply::Bulk("1"), get), IsOkAndHolds("1"));
  EXPECT_THAT(Ask({"HGET", "k", "a"}, Reply::Nil(), get), IsOkAndHolds(std::nullopt));
  const auto get_many = [](Store& store) { return HMGet(store, "k", kFields); };
  EXPECT_THAT(
      Ask({"HMGET", "k", "a", "b"}, Reply::Array({Reply::Nil(), Reply::Bulk("2")}), get_many),
      IsOkAndHolds(std::vector<std::optional<std::string>>{std::nullopt, "2"}));
}

TEST(Hashes, GetAll) {
  const auto all = [](Store& store) { return HGetAll(store, "k"); };
  EXPECT_THAT(
      Ask({"HGETALL", "k"}, BulkArray({"a", "1", "b", "2"}), all),
      IsOkAndHolds((std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"b", "2"}})));
  EXPECT_TRUE(Ask({"HGETALL", "k"}, Reply::EmptyArray(), all).value().empty());
  EXPECT_FALSE(Ask({"HGETALL", "k"}, Reply::Integer(1), all).ok());
}

TEST(Hashes, KeysAndValues) {
  const auto keys = [](Store& store) { return HKeys(store, "k"); };
  const auto values = [](Store& store) { return HVals(store, "k"); };
  EXPECT_THAT(Ask({"HKEYS", "k"}, BulkArray({"a"}), keys),
              IsOkAndHolds(std::vector<std::string>{"a"}));
  EXPECT_THAT(Ask({"HVALS", "k"}, BulkArray({"1"}), values),
              IsOkAndHolds(std::vector<std::string>{"1"}));
}

TEST(Hashes, RemoveAndCountFields) {
  const auto remove = [](Store& store) { return HDel(store, "k", kFields); };
  const auto exists = [](Store& store) { return HExists(store, "k", "a"); };
  const auto length = [](Store& store) { return HLen(store, "k"); };
  EXPECT_THAT(Ask({"HDEL", "k", "a", "b"}, Reply::Integer(1), remove), IsOkAndHolds(1));
  EXPECT_THAT(Ask({"HEXISTS", "k", "a"}, Reply::Integer(1), exists), IsOkAndHolds(true));
  EXPECT_THAT(Ask({"HLEN", "k"}, Reply::Integer(7), length), IsOkAndHolds(7));
}

TEST(Hashes, Increment) {
  const auto by = [](Store& store) { return HIncrBy(store, "k", "a", -5); };
  const auto by_float = [](Store& store) { return HIncrByFloat(store, "k", "a", "0.1"); };
  EXPECT_THAT(Ask({"HINCRBY", "k", "a", "-5"}, Reply::Integer(-4), by), IsOkAndHolds(-4));
  EXPECT_THAT(Ask({"HINCRBYFLOAT", "k", "a", "0.1"}, Reply::Bulk("0.3"), by_float),
              IsOkAndHolds("0.3"));
}

TEST(Hashes, PassErrorsOn) {
  const auto get = [](Store& store) { return HGet(store, "k", "a"); };
  const Reply wrong_type =
      Reply::Error("WRONGTYPE Operation against a key holding the wrong kind of value");
  EXPECT_TRUE(absl::IsFailedPrecondition(Ask({"HGET", "k", "a"}, wrong_type, get).status()));
  EXPECT_TRUE(absl::IsUnavailable(
      Ask({"HGET", "k", "a"}, absl::UnavailableError("not connected"), get).status()));
}

}  // namespace
}  // namespace redouble::store
