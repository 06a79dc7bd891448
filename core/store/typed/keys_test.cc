#include "redouble/core/store/typed/keys.h"

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;
using Words = FakeStore::Words;
using base::IsOkAndHolds;

constexpr std::array<std::string_view, 2> kKeys = {"a", "b"};

Reply Page(std::string_view cursor, const std::vector<std::string>& keys) {
  std::vector<Reply> elements;
  for (const std::string& key : keys) elements.push_back(Reply::Bulk(key));
  return Reply::Array({Reply::Bulk(cursor), Reply::Array(std::move(elements))});
}

TEST(Keys, Del) {
  EXPECT_THAT(Ask({"DEL", "a"}, Reply::Integer(1), [](Store& s) { return Del(s, "a"); }),
              IsOkAndHolds(true));
  EXPECT_THAT(Ask({"DEL", "a"}, Reply::Integer(0), [](Store& s) { return Del(s, "a"); }),
              IsOkAndHolds(false));
  EXPECT_THAT(Ask({"DEL", "a", "b"}, Reply::Integer(2), [](Store& s) { return Del(s, kKeys); }),
              IsOkAndHolds(2));
}

TEST(Keys, Unlink) {
  EXPECT_THAT(
      Ask({"UNLINK", "a", "b"}, Reply::Integer(1), [](Store& s) { return Unlink(s, kKeys); }),
      IsOkAndHolds(1));
}

TEST(Keys, Exists) {
  EXPECT_THAT(Ask({"EXISTS", "a"}, Reply::Integer(1), [](Store& s) { return Exists(s, "a"); }),
              IsOkAndHolds(true));
  EXPECT_THAT(
      Ask({"EXISTS", "a", "b"}, Reply::Integer(2), [](Store& s) { return Exists(s, kKeys); }),
      IsOkAndHolds(2));
}

TEST(Keys, FindMissing) {
  const std::vector<std::string> keys = {"a", "b", "c"};
  FakeStore store;
  store.ExpectBatch(Request::Kind::kPipeline, {{"EXISTS", "a"}, {"EXISTS", "b"}, {"EXISTS", "c"}},
                    Reply::Array({Reply::Integer(0), Reply::Integer(1), Reply::Integer(0)}));
  EXPECT_THAT(base::Run(FindMissing(store, keys)), IsOkAndHolds(ElementsAre(0, 2)));
  EXPECT_THAT(base::Run(FindMissing(store, {})), IsOkAndHolds(IsEmpty()));
  store.ExpectBatch(Request::Kind::kPipeline, {{"EXISTS", "a"}},
                    Reply::Array({Reply::Error("NO")}));
  EXPECT_FALSE(base::Run(FindMissing(store, std::span(keys).first(1))).ok());
}

TEST(Keys, TypeOf) {
  const auto type_of = [](Store& s) { return TypeOf(s, "a"); };
  EXPECT_THAT(Ask({"TYPE", "a"}, Reply::Status("none"), type_of), IsOkAndHolds(KeyType::kNone));
  EXPECT_THAT(Ask({"TYPE", "a"}, Reply::Status("zset"), type_of),
              IsOkAndHolds(KeyType::kSortedSet));
  const absl::Status status = Ask({"TYPE", "a"}, Reply::Status("ReJSON-RL"), type_of).status();
  EXPECT_EQ(ErrorKindOf(status), ErrorKind::kProtocol);
  EXPECT_EQ(status.message(), "TYPE answered a type that is not known: ReJSON-RL");
}

TEST(Keys, ExpireIn) {
  const auto expire = [](absl::Duration ttl, ExpireCondition condition = ExpireCondition::kAlways) {
    return [=](Store& s) { return ExpireIn(s, "a", ttl, condition); };
  };
  EXPECT_THAT(Ask({"EXPIRE", "a", "70"}, Reply::Integer(1), expire(absl::Seconds(70))),
              IsOkAndHolds(true));
  EXPECT_THAT(Ask({"PEXPIRE", "a", "1500"}, Reply::Integer(0), expire(absl::Milliseconds(1500))),
              IsOkAndHolds(false));
  EXPECT_THAT(Ask({"EXPIRE", "a", "0"}, Reply::Integer(1), expire(absl::ZeroDuration())),
              IsOkAndHolds(true));
  EXPECT_THAT(Ask({"PEXPIRE", "a", "-1"}, Reply::Integer(1), expire(-absl::Milliseconds(1))),
              IsOkAndHolds(true));
}

TEST(Keys, ExpireConditions) {
  const std::pair<ExpireCondition, std::string> words[] = {{ExpireCondition::kIfNone, "NX"},
                                                           {ExpireCondition::kIfAny, "XX"},
                                                           {ExpireCondition::kIfLater, "GT"},
                                                           {ExpireCondition::kIfEarlier, "LT"}};
  for (const auto& [condition, word] : words) {
    EXPECT_THAT(Ask({"EXPIRE", "a", "1", word}, Reply::Integer(1),
                    [&](Store& s) { return ExpireIn(s, "a", absl::Seconds(1), condition); }),
                IsOkAndHolds(true));
    EXPECT_THAT(
        Ask({"EXPIREAT", "a", "1", word}, Reply::Integer(1),
            [&](Store& s) { return ExpireAt(s, "a", absl::FromUnixSeconds(1), condition); }),
        IsOkAndHolds(true));
  }
}

TEST(Keys, ExpireAt) {
  EXPECT_THAT(Ask({"EXPIREAT", "a", "1700000000"}, Reply::Integer(1),
                  [](Store& s) { return ExpireAt(s, "a", absl::FromUnixSeconds(1'700'000'000)); }),
              IsOkAndHolds(true));
  EXPECT_THAT(
      Ask({"PEXPIREAT", "a", "1700000000001"}, Reply::Integer(1),
          [](Store& s) { return ExpireAt(s, "a", absl::FromUnixMillis(1'700'000'000'001)); }),
      IsOkAndHolds(true));
}

TEST(Keys, Persist) {
  EXPECT_THAT(Ask({"PERSIST", "a"}, Reply::Integer(1), [](Store& s) { return Persist(s, "a"); }),
              IsOkAndHolds(true));
}

TEST(Keys, TimeToLive) {
  const auto ttl = [](Store& s) { return TimeToLive(s, "a"); };
  ASSERT_OK_AND_ASSIGN(const Ttl missing, Ask({"PTTL", "a"}, Reply::Integer(-2), ttl));
  EXPECT_FALSE(missing.exists());
  EXPECT_FALSE(missing.expires());
  ASSERT_OK_AND_ASSIGN(const Ttl persistent, Ask({"PTTL", "a"}, Reply::Integer(-1), ttl));
  EXPECT_TRUE(persistent.exists());
  EXPECT_FALSE(persistent.expires());
  ASSERT_OK_AND_ASSIGN(const Ttl at_the_deadline, Ask({"PTTL", "a"}, Reply::Integer(0), ttl));
  EXPECT_TRUE(at_the_deadline.exists());
  EXPECT_TRUE(at_the_deadline.expires());
  EXPECT_EQ(at_the_deadline.remaining(), absl::ZeroDuration());
  ASSERT_OK_AND_ASSIGN(const Ttl remaining, Ask({"PTTL", "a"}, Reply::Integer(1500), ttl));
  EXPECT_EQ(remaining.remaining(), absl::Milliseconds(1500));
}

TEST(Keys, ExpiryTimeOf) {
  const auto expiry_time = [](Store& s) { return ExpiryTimeOf(s, "a"); };
  ASSERT_OK_AND_ASSIGN(const ExpiryTime missing,
                       Ask({"PEXPIRETIME", "a"}, Reply::Integer(-2), expiry_time));
  EXPECT_FALSE(missing.exists());
  EXPECT_FALSE(missing.expires());
  ASSERT_OK_AND_ASSIGN(const ExpiryTime persistent,
                       Ask({"PEXPIRETIME", "a"}, Reply::Integer(-1), expiry_time));
  EXPECT_TRUE(persistent.exists());
  EXPECT_FALSE(persistent.expires());
  ASSERT_OK_AND_ASSIGN(const ExpiryTime set,
                       Ask({"PEXPIRETIME", "a"}, Reply::Integer(1'700'000'000'001), expiry_time));
  EXPECT_TRUE(set.exists());
  EXPECT_TRUE(set.expires());
  EXPECT_EQ(set.deadline(), absl::FromUnixMillis(1'700'000'000'001));
}

TEST(Keys, KeysByPattern) {
  const auto keys = [](Store& s) { return Keys(s, "a*"); };
  const Reply two = Reply::Array({Reply::Bulk("a1"), Reply::Bulk("a2")});
  EXPECT_THAT(Ask({"KEYS", "a*"}, two, keys), IsOkAndHolds(std::vector<std::string>{"a1", "a2"}));
  EXPECT_TRUE(Ask({"KEYS", "a*"}, Reply::EmptyArray(), keys).value().empty());
}

TEST(Keys, RandomKey) {
  const auto random = [](Store& s) { return RandomKey(s); };
  EXPECT_THAT(Ask({"RANDOMKEY"}, Reply::Bulk("k"), random), IsOkAndHolds("k"));
  EXPECT_THAT(Ask({"RANDOMKEY"}, Reply::Nil(), random), IsOkAndHolds(Eq(std::nullopt)));
}

TEST(Keys, Touch) {
  EXPECT_THAT(Ask({"TOUCH", "a", "b"}, Reply::Integer(1), [](Store& s) { return Touch(s, kKeys); }),
              IsOkAndHolds(1));
}

TEST(Keys, TtlSeconds) {
  EXPECT_THAT(Ask({"TTL", "a"}, Reply::Integer(-2), [](Store& s) { return TtlSeconds(s, "a"); }),
              IsOkAndHolds(-2));
}

TEST(Keys, Renames) {
  EXPECT_TRUE(
      Ask({"RENAME", "a", "b"}, Reply::Ok(), [](Store& s) { return Rename(s, "a", "b"); }).ok());
  EXPECT_EQ(Ask({"RENAME", "a", "b"}, Reply::Error("ERR no such key"),
                [](Store& s) { return Rename(s, "a", "b"); })
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Ask({"RENAMENX", "a", "b"}, Reply::Integer(0),
                  [](Store& s) { return RenameNx(s, "a", "b"); }),
              IsOkAndHolds(false));
}

TEST(Keys, Copy) {
  EXPECT_THAT(
      Ask({"COPY", "a", "b"}, Reply::Integer(0), [](Store& s) { return Copy(s, "a", "b"); }),
      IsOkAndHolds(false));
  EXPECT_THAT(Ask({"COPY", "a", "b", "REPLACE"}, Reply::Integer(1),
                  [](Store& s) { return Copy(s, "a", "b", {.replace = true}); }),
              IsOkAndHolds(true));
}

TEST(Keys, Scan) {
  ASSERT_OK_AND_ASSIGN(const ScanPage plain, Ask({"SCAN", "0"}, Page("17", {"a", "b"}),
                                                 [](Store& s) { return Scan(s, "0"); }));
  EXPECT_EQ(plain.cursor, "17");
  EXPECT_EQ(plain.keys, (std::vector<std::string>{"a", "b"}));
  const ScanOptions options = {.match = "a*", .count = 5, .type = "hash"};
  ASSERT_OK_AND_ASSIGN(const ScanPage last,
                       Ask({"SCAN", "17", "MATCH", "a*", "COUNT", "5", "TYPE", "hash"},
                           Page("0", {}), [&](Store& s) { return Scan(s, "17", options); }));
  EXPECT_EQ(last.cursor, "0");
  EXPECT_TRUE(last.keys.empty());
}

TEST(Keys, ScanRefusesAnswersOfAnotherShape) {
  for (const Reply& reply :
       {Reply::Array({Reply::Bulk("0")}), Reply::Array({Reply::Nil(), Reply::EmptyArray()}),
        Reply::Array({Reply::Bulk("0"), Reply::Integer(1)})}) {
    const auto page = Ask({"SCAN", "0"}, reply, [](Store& s) { return Scan(s, "0"); });
    EXPECT_EQ(ErrorKindOf(page.status()), ErrorKind::kProtocol) << reply;
  }
}

TEST(Keys, ScanAllFollowsTheCursorAndDropsDuplicates) {
  FakeStore store;
  store.Expect({"SCAN", "0"}, Page("17", {"b", "a"}));
  store.Expect({"SCAN", "17"}, Page("3", {}));
  store.Expect({"SCAN", "3"}, Page("0", {"a", "c"}));
  EXPECT_THAT(base::Run(ScanAll(store)), IsOkAndHolds(std::vector<std::string>{"b", "a", "c"}));
}

TEST(Keys, ScanAllStopsAtTheFirstFailure) {
  FakeStore store;
  store.Expect({"SCAN", "0"}, Page("17", {"b"}));
  store.Expect({"SCAN", "17"}, OutcomeUnknownError("connection lost"));
  EXPECT_EQ(ErrorKindOf(base::Run(ScanAll(store)).status()), ErrorKind::kOutcomeUnknown);
}

TEST(Keys, ServerCommands) {
  EXPECT_THAT(Ask({"DBSIZE"}, Reply::Integer(3), [](Store& s) { return DbSize(s); }),
              IsOkAndHolds(3));
  EXPECT_TRUE(Ask({"FLUSHDB"}, Reply::Ok(), [](Store& s) { return FlushDb(s); }).ok());
  EXPECT_TRUE(Ask({"FLUSHALL"}, Reply::Ok(), [](Store& s) { return FlushAll(s); }).ok());
  EXPECT_TRUE(Ask({"PING"}, Reply::Status("PONG"), [](Store& s) { return Ping(s); }).ok());
}

TEST(Keys, Time) {
  const auto time = [](Store& s) { return Time(s); };
  const auto reply = [](std::string_view seconds, std::string_view micros) {
    return Reply::Array({Reply::Bulk(seconds), Reply::Bulk(micros)});
  };
  EXPECT_THAT(Ask({"TIME"}, reply("1700000000", "12"), time),
              IsOkAndHolds(absl::FromUnixMicros(1'700'000'000'000'012)));
  for (const Reply& wrong :
       {reply("1700000000", "x"), reply("x", "12"), Reply::Array({Reply::Bulk("1700000000")})}) {
    EXPECT_EQ(ErrorKindOf(Ask({"TIME"}, wrong, time).status()), ErrorKind::kProtocol) << wrong;
  }
}

struct TypedCommand {
  Words words;
  std::function<absl::Status(Store&)> status_of;
};
template <typename Call>
std::function<absl::Status(Store&)> StatusOf(Call call) {
  return [call](Store& store) {
    auto result = base::Run(call(store));
    if constexpr (std::is_same_v<decltype(result), absl::Status>) {
      return result;
    } else {
      return result.status();
    }
  };
}
std::vector<TypedCommand> AllCommandsOfKeys() {
  return {
      {{"DEL", "a"}, StatusOf([](Store& s) { return Del(s, "a"); })},
      {{"DEL", "a", "b"}, StatusOf([](Store& s) { return Del(s, kKeys); })},
      {{"UNLINK", "a", "b"}, StatusOf([](Store& s) { return Unlink(s, kKeys); })},
      {{"EXISTS", "a"}, StatusOf([](Store& s) { return Exists(s, "a"); })},
      {{"EXISTS", "a", "b"}, StatusOf([](Store& s) { return Exists(s, kKeys); })},
      {{"TYPE", "a"}, StatusOf([](Store& s) { return TypeOf(s, "a"); })},
      {{"EXPIRE", "a", "1"}, StatusOf([](Store& s) { return ExpireIn(s, "a", absl::Seconds(1)); })},
      {{"EXPIREAT", "a", "1"},
       StatusOf([](Store& s) { return ExpireAt(s, "a", absl::FromUnixSeconds(1)); })},
      {{"PERSIST", "a"}, StatusOf([](Store& s) { return Persist(s, "a"); })},
      {{"PTTL", "a"}, StatusOf([](Store& s) { return TimeToLive(s, "a"); })},
      {{"TTL", "a"}, StatusOf([](Store& s) { return TtlSeconds(s, "a"); })},
      {{"RENAME", "a", "b"}, StatusOf([](Store& s) { return Rename(s, "a", "b"); })},
      {{"RENAMENX", "a", "b"}, StatusOf([](Store& s) { return RenameNx(s, "a", "b"); })},
      {{"COPY", "a", "b"}, StatusOf([](Store& s) { return Copy(s, "a", "b"); })},
      {{"SCAN", "0"}, StatusOf([](Store& s) { return Scan(s, "0"); })},
      {{"SCAN", "0"}, StatusOf([](Store& s) { return ScanAll(s); })},
      {{"PEXPIRETIME", "a"}, StatusOf([](Store& s) { return ExpiryTimeOf(s, "a"); })},
      {{"KEYS", "a*"}, StatusOf([](Store& s) { return Keys(s, "a*"); })},
      {{"TOUCH", "a", "b"}, StatusOf([](Store& s) { return Touch(s, kKeys); })},
      {{"RANDOMKEY"}, StatusOf([](Store& s) { return RandomKey(s); })},
      {{"DBSIZE"}, StatusOf([](Store& s) { return DbSize(s); })},
      {{"FLUSHDB"}, StatusOf([](Store& s) { return FlushDb(s); })},
      {{"FLUSHALL"}, StatusOf([](Store& s) { return FlushAll(s); })},
      {{"PING"}, StatusOf([](Store& s) { return Ping(s); })},
      {{"TIME"}, StatusOf([](Store& s) { return Time(s); })},
  };
}

TEST(Keys, GiveTheServersErrorTheStoresFailureOrAProtocolError) {
  for (const TypedCommand& command : AllCommandsOfKeys()) {
    FakeStore store;
    store.Expect(command.words, Reply::Error("READONLY You can't write"));
    EXPECT_EQ(command.status_of(store).code(), absl::StatusCode::kFailedPrecondition);
    store.Expect(command.words, NotSentError("not connected"));
    EXPECT_EQ(ErrorKindOf(command.status_of(store)), ErrorKind::kNotSent);
    store.Expect(command.words, Reply::Array({Reply::Integer(1)}));
    EXPECT_EQ(ErrorKindOf(command.status_of(store)), ErrorKind::kProtocol) << command.words[0];
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::store
