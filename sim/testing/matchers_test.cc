#include "redouble/sim/testing/matchers.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/core/store/typed/lists.h"

namespace redouble::inline v0_1::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

template <typename T, typename Matcher>
std::string Explanation(const Matcher& matcher, T&& value) {
  ::testing::StringMatchResultListener listener;
  EXPECT_FALSE(::testing::ExplainMatchResult(matcher, value, &listener));
  return listener.str();
}

TEST(Matchers, IsNilTakesRepliesAndOptionals) {
  EXPECT_THAT(store::Reply::Nil(), IsNil());
  EXPECT_THAT(store::Reply::NilArray(), IsNil());
  EXPECT_THAT(store::Reply::Integer(0), Not(IsNil()));
  EXPECT_THAT(std::optional<std::string>(), IsNil());
  EXPECT_THAT(std::optional<std::string>(""), Not(IsNil()));
}

TEST(Matchers, ReplyIsComparesValueAndType) {
  EXPECT_THAT(store::Reply::Integer(3), ReplyIs(3));
  EXPECT_THAT(store::Reply::Bulk("3"), Not(ReplyIs(3)));
  EXPECT_THAT(store::Reply::Bulk("text"), ReplyIs("text"));
  EXPECT_THAT(store::Reply::Ok(), ReplyIs("OK"));
  EXPECT_THAT(store::Reply::Error("OK"), Not(ReplyIs("OK")));
  EXPECT_THAT(store::Reply::EmptyArray(), ReplyIs(store::Reply::EmptyArray()));
  EXPECT_EQ(Explanation(ReplyIs(4), store::Reply::Integer(3)), "which is 3");
}

TEST(Matchers, IsRedisErrorComparesTheCode) {
  const auto wrong_type = store::Reply::Error("WRONGTYPE Operation against a key");
  EXPECT_THAT(wrong_type, IsRedisError("WRONGTYPE"));
  EXPECT_THAT(absl::StatusOr<store::Reply>(wrong_type), IsRedisError("WRONGTYPE"));
  EXPECT_THAT(store::ServerError("NOAUTH no"), IsRedisError("NOAUTH"));
  EXPECT_THAT(absl::StatusOr<int>(store::ServerError("ERR no")), IsRedisError("ERR"));
  EXPECT_THAT(wrong_type, Not(IsRedisError("ERR")));
  EXPECT_EQ(Explanation(IsRedisError("ERR"), wrong_type), "which is the error WRONGTYPE");
  EXPECT_EQ(Explanation(IsRedisError("ERR"), store::NotSentError("gone")),
            "which is no error of the server");
}

TEST(Matchers, HasTtlNamesTheTimeThatIsLeft) {
  Redis redis;
  redis.Do({"SET", "s", "v", "PX", "1500"});
  redis.Do({"SET", "forever", "v"});
  EXPECT_THAT(redis, HasTtl("s", absl::Milliseconds(1500)));
  EXPECT_THAT(redis, HasTtl("forever", absl::InfiniteDuration()));
  EXPECT_EQ(Explanation(HasTtl("s", absl::Seconds(1)), redis), "whose key s expires in 1.5s");
  EXPECT_EQ(Explanation(HasTtl("gone", absl::Seconds(1)), redis), "which has no key gone");
  EXPECT_EQ(Explanation(HasTtl("forever", absl::Seconds(1)), redis),
            "whose key forever does not expire");
}

TEST(Matchers, KeyspaceIsTakesShortAndFullValues) {
  Redis redis;
  redis.Do({"SET", "s", "v"});
  redis.Do({"RPUSH", "l", "a", "b"});
  redis.Do({"SADD", "set", "y", "x"});
  redis.Do({"PEXPIRE", "set", "1500"});
  EXPECT_THAT(redis, KeyspaceIs(R"({"s": "v", "l": ["a", "b"],
      "set": {"type": "set", "value": ["y", "x"], "ttl_ms": 1500}})"));
}

TEST(Matchers, KeyspaceIsHasALineForEachDifference) {
  Redis redis;
  redis.Do({"SET", "s", "v"});
  redis.Do({"SET", "extra", "1"});
  const std::string text = Explanation(KeyspaceIs(R"({"s": "w", "gone": "x"})"), redis);
  EXPECT_THAT(text, HasSubstr(R"(/s/value: "v", expected "w")"));
  EXPECT_THAT(text, HasSubstr("/gone: missing"));
  EXPECT_THAT(text, HasSubstr("/extra: not expected"));
}

TEST(Matchers, KeyspaceIsSaysWhatIsWrongWithTheExpectation) {
  Redis redis;
  EXPECT_THAT(Explanation(KeyspaceIs("[]"), redis), HasSubstr("no JSON object"));
  EXPECT_THAT(Explanation(KeyspaceIs("{"), redis), HasSubstr("line 1"));
  EXPECT_THAT(Explanation(KeyspaceIs(R"({"k": 1})"), redis), HasSubstr("/k: expected a string"));
  EXPECT_THAT(Explanation(KeyspaceIs(R"({"k": {"type": "set", "value": "x"}})"), redis),
              HasSubstr("/k"));
}

TEST(Matchers, CommandsWereComparesInOrder) {
  Redis redis;
  const auto client = redis.Connect();
  EXPECT_THAT(redis.Await(store::RPush(*client, "l", "a")), IsOk());
  EXPECT_THAT(redis, CommandsWere({"RPUSH l a"}));
  EXPECT_THAT(redis, Not(CommandsWere({})));
}

}  // namespace
}  // namespace redouble::inline v0_1::testing
