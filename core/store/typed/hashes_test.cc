#include "redouble/core/store/typed/hashes.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

Reply Numbers(int64_t first, int64_t second) {
  return Reply::Array({Reply::Integer(first), Reply::Integer(second)});
}

TEST(HashFields, ExpireInSecondsWhenTheyAreWhole) {
  const auto expire = [](Store& store) { return HExpireIn(store, "k", kFields, absl::Minutes(1)); };
  EXPECT_THAT(Ask({"HEXPIRE", "k", "60", "FIELDS", "2", "a", "b"}, Numbers(1, -2), expire),
              IsOkAndHolds(ElementsAre(FieldExpiryResult::kSet, FieldExpiryResult::kNoField)));
}

TEST(HashFields, ExpireInMillisecondsUnderACondition) {
  const auto expire = [](Store& store) {
    return HExpireIn(store, "k", kFields, absl::Milliseconds(1500), ExpireCondition::kIfLater);
  };
  EXPECT_THAT(
      Ask({"HPEXPIRE", "k", "1500", "GT", "FIELDS", "2", "a", "b"}, Numbers(0, 2), expire),
      IsOkAndHolds(ElementsAre(FieldExpiryResult::kConditionNotMet, FieldExpiryResult::kDeleted)));
}

TEST(HashFields, ExpireAtATime) {
  const auto at = [](int64_t millis) {
    return [millis](Store& store) {
      return HExpireAt(store, "k", kFields, absl::FromUnixMillis(millis));
    };
  };
  EXPECT_TRUE(Ask({"HEXPIREAT", "k", "7", "FIELDS", "2", "a", "b"}, Numbers(1, 1), at(7000)).ok());
  EXPECT_TRUE(
      Ask({"HPEXPIREAT", "k", "7001", "FIELDS", "2", "a", "b"}, Numbers(1, 1), at(7001)).ok());
}

TEST(HashFields, TellTheirExpiry) {
  const auto persist = [](Store& store) { return HPersist(store, "k", kFields); };
  EXPECT_THAT(Ask({"HPERSIST", "k", "FIELDS", "2", "a", "b"}, Numbers(1, -1), persist),
              IsOkAndHolds(ElementsAre(true, false)));

  const auto left = [](Store& store) { return HTimeToLive(store, "k", kFields); };
  const auto ttls = Ask({"HPTTL", "k", "FIELDS", "2", "a", "b"}, Numbers(1500, -2), left);
  ASSERT_TRUE(ttls.ok()) << ttls.status();
  EXPECT_EQ((*ttls)[0].remaining(), absl::Milliseconds(1500));
  EXPECT_FALSE((*ttls)[1].exists());

  const auto times = [](Store& store) { return HExpiryTimesOf(store, "k", kFields); };
  const auto deadlines =
      Ask({"HPEXPIRETIME", "k", "FIELDS", "2", "a", "b"}, Numbers(7001, -1), times);
  ASSERT_TRUE(deadlines.ok()) << deadlines.status();
  EXPECT_EQ((*deadlines)[0].deadline(), absl::FromUnixMillis(7001));
  EXPECT_FALSE((*deadlines)[1].expires());
}

TEST(HashFields, AreReadWithANewExpiry) {
  const Reply values = Reply::Array({Reply::Bulk("1"), Reply::Nil()});
  const auto read = [](Expiry expiry) {
    return [expiry](Store& store) { return HGetEx(store, "k", kFields, expiry); };
  };
  EXPECT_THAT(Ask({"HGETEX", "k", "FIELDS", "2", "a", "b"}, values, read(Expiry())),
              IsOkAndHolds(ElementsAre("1", std::nullopt)));
  EXPECT_TRUE(Ask({"HGETEX", "k", "EX", "5", "FIELDS", "2", "a", "b"}, values,
                  read(Expiry::In(absl::Seconds(5))))
                  .ok());
  EXPECT_TRUE(
      Ask({"HGETEX", "k", "PERSIST", "FIELDS", "2", "a", "b"}, values, read(Expiry::Persist()))
          .ok());
}

TEST(HashFields, AreSetWithOneExpiry) {
  const auto set = [](HSetExOptions options) {
    return [options](Store& store) { return HSetEx(store, "k", kPairs, options); };
  };
  EXPECT_THAT(Ask({"HSETEX", "k", "FIELDS", "2", "a", "1", "b", "2"}, Reply::Integer(1), set({})),
              IsOkAndHolds(true));
  EXPECT_THAT(Ask({"HSETEX", "k", "FNX", "PX", "1500", "FIELDS", "2", "a", "1", "b", "2"},
                  Reply::Integer(0),
                  set({.expiry = Expiry::In(absl::Milliseconds(1500)),
                       .condition = HSetCondition::kIfNoneExists})),
              IsOkAndHolds(false));
  EXPECT_TRUE(Ask({"HSETEX", "k", "FXX", "KEEPTTL", "FIELDS", "2", "a", "1", "b", "2"},
                  Reply::Integer(1),
                  set({.keep_ttl = true, .condition = HSetCondition::kIfAllExist}))
                  .ok());
}

TEST(HashFields, AreRemovedAndReturned) {
  const auto take = [](Store& store) { return HGetDel(store, "k", kFields); };
  EXPECT_THAT(Ask({"HGETDEL", "k", "FIELDS", "2", "a", "b"},
                  Reply::Array({Reply::Nil(), Reply::Bulk("2")}), take),
              IsOkAndHolds(ElementsAre(std::nullopt, "2")));
}

TEST(HashFields, NameTheVersionThatAnOlderServerLacks) {
  const Reply unknown =
      Reply::Error("ERR unknown command 'HPTTL', with args beginning with: 'k' 'FIELDS' '2' ");
  const auto left = [](Store& store) { return HTimeToLive(store, "k", kFields); };
  const absl::Status status = Ask({"HPTTL", "k", "FIELDS", "2", "a", "b"}, unknown, left).status();
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("hpttl needs Redis 7.4.0 or later"));
  EXPECT_EQ(ErrorKindOf(status), ErrorKind::kServer);

  const auto take = [](Store& store) { return HGetDel(store, "k", kFields); };
  EXPECT_THAT(Ask({"HGETDEL", "k", "FIELDS", "2", "a", "b"}, unknown, take).status().message(),
              HasSubstr("hgetdel needs Redis 8.0.0 or later"));
}

TEST(HashFields, PassOtherErrorsOn) {
  const auto left = [](Store& store) { return HTimeToLive(store, "k", kFields); };
  const auto expire = [](Store& store) { return HExpireIn(store, "k", kFields, absl::Seconds(1)); };
  const Reply wrong_type =
      Reply::Error("WRONGTYPE Operation against a key holding the wrong kind of value");
  EXPECT_TRUE(absl::IsFailedPrecondition(
      Ask({"HPTTL", "k", "FIELDS", "2", "a", "b"}, wrong_type, left).status()));
  // A reply that HEXPIRE does not have: a number too few, or one without a meaning.
  const std::vector<std::string> words = {"HEXPIRE", "k", "1", "FIELDS", "2", "a", "b"};
  EXPECT_EQ(ErrorKindOf(Ask(words, Reply::Array({Reply::Integer(1)}), expire).status()),
            ErrorKind::kProtocol);
  EXPECT_EQ(ErrorKindOf(Ask(words, Numbers(1, 3), expire).status()), ErrorKind::kProtocol);
}

}  // namespace
}  // namespace redouble::inline v0_1::store
