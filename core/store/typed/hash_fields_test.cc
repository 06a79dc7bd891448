#include "redouble/core/store/typed/hash_fields.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::store {
namespace {

using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::array<std::string_view, 2> kFields = {"a", "b"};
constexpr std::array<FieldView, 2> kPairs = {FieldView("a", "1"), FieldView("b", "2")};

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
}  // namespace redouble::store
