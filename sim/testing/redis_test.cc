#include "redouble/sim/testing/redis.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/testing/matchers.h"

namespace redouble::inline v0_1::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

constexpr std::string_view kQueue[] = {"queue"};

TEST(Redis, LooksAtTheDataDirectly) {
  Redis redis;
  redis.Do({"SET", "s", "v", "PX", "1500"});
  redis.Do({"RPUSH", "l", "a", "b"});
  EXPECT_EQ(redis.Get("s"), "v");
  EXPECT_EQ(redis.Get("missing"), std::nullopt);
  EXPECT_TRUE(redis.CheckGet("s", "v"));
  EXPECT_THAT(std::string(redis.CheckGet("s", "w").message()),
              HasSubstr("the value of s is \"v\", expected: w"));
  EXPECT_TRUE(redis.Exists("l"));
  EXPECT_EQ(redis.Type("l"), "list");
  EXPECT_EQ(redis.Type("missing"), "none");
  EXPECT_EQ(redis.Ttl("s"), absl::Milliseconds(1500));
  EXPECT_EQ(redis.Ttl("l"), absl::InfiniteDuration());
  EXPECT_EQ(redis.Ttl("missing"), std::nullopt);
  EXPECT_THAT(redis.Keys(), ElementsAre("l", "s"));
  EXPECT_THAT(redis.Keys("s*"), ElementsAre("s"));
  EXPECT_THAT(redis.Dump(), HasSubstr(R"("ttl_ms": 1500)"));
}

TEST(Redis, StartsAtTheTimeGivenAndMovesByTheTest) {
  const absl::Time start = absl::FromUnixSeconds(1000);
  Redis redis({.start = start});
  EXPECT_EQ(redis.now(), start);
  EXPECT_THAT(redis.Do({"TIME"}).elements()[0], ReplyIs("1000"));
  redis.Do({"SET", "s", "v", "PX", "1500"});
  redis.AdvanceBy(absl::Milliseconds(1501));
  EXPECT_FALSE(redis.Exists("s"));
  redis.AdvanceTo(start + absl::Seconds(9));
  EXPECT_EQ(redis.now(), start + absl::Seconds(9));
}

TEST(Redis, StartsFromAnRdbFile) {
  const std::string path = ::testing::TempDir() + "/dump.rdb";
  {
    Redis production({.start = absl::FromUnixSeconds(1'500'000'000)});
    production.Do({"SET", "session:1", "alice", "PX", "1500"});
    production.Do({"SET", "job:1", "mail"});
    ASSERT_TRUE(memory::SaveRdbFile(production.engine(), path).ok());
  }
  const Redis redis = Redis::FromRdb(path);
  EXPECT_THAT(redis.Keys(), ElementsAre("job:1", "session:1"));
  EXPECT_EQ(redis.Ttl("session:1"), absl::Milliseconds(1500));
  // Its deadline passed before this Redis starts.
  EXPECT_THAT(Redis::FromRdb(path, {}, {}).Keys(), ElementsAre("job:1"));
  EXPECT_NONFATAL_FAILURE(Redis::FromRdb(path + "none"), "cannot open");
}

TEST(Redis, AwaitAdvancesTheClockToWhatTheTaskWaitsFor) {
  Redis redis;
  const absl::Time start = redis.now();
  const auto client = redis.Connect();
  const auto popped = redis.Await(store::BLPop(*client, kQueue, absl::Seconds(5)));
  EXPECT_THAT(popped, IsOkAndHolds(IsNil()));
  EXPECT_EQ(redis.now(), start + absl::Milliseconds(5001));  // The first moment after the timeout.
}

TEST(RedisDeathTest, AwaitOfATaskThatNothingEndsAborts) {
  Redis redis;
  const auto client = redis.Connect();
  EXPECT_DEATH((void)redis.Await(store::BLPop(*client, kQueue, absl::ZeroDuration())).ok(),
               "Client 2 is blocked by blpop \"queue\" \"0\" without a timeout");
}

TEST(RedisDeathTest, RunOfWhatBlocksSaysWhatBlocks) {
  Redis redis;
  const auto client = redis.Connect();
  EXPECT_DEATH((void)base::Run(store::BLPop(*client, kQueue, absl::Seconds(5))).ok(),
               "Client 2 is blocked by blpop \"queue\" \"5.000\" for 5000 ms");
  redis.Do({"CLIENT", "PAUSE", "1000"});
  EXPECT_DEATH((void)base::Run(store::Get(*client, "k")).ok(), "until the end of CLIENT PAUSE");
}

// Runs in a process of its own, whose test has failed.
[[noreturn]] void EndAFailedTest(RedisOptions options) {
  {
    Redis redis(std::move(options));
    redis.Do({"SET", "session", "alice", "PX", "1500"});
    ADD_FAILURE() << "for the test";
  }
  std::fputs("the end\n", stderr);
  std::_Exit(0);
}

TEST(RedisDeathTest, PrintsTheKeyspaceOfAFailedTest) {
  EXPECT_EXIT(EndAFailedTest({}), ::testing::ExitedWithCode(0),
              "The keyspace of the failed test:(.|\n)*\"session\"(.|\n)*\"alice\"(.|\n)*"
              "\"ttl_ms\": 1500(.|\n)*the end");
  EXPECT_EXIT(EndAFailedTest({.print_on_failure = false}), ::testing::ExitedWithCode(0),
              "^the end\n$");
}

TEST(Redis, ReportsACommandThatBlocks) {
  Redis redis;
  EXPECT_NONFATAL_FAILURE(redis.Do({"BLPOP", "queue", "0"}), "blocks; use Await");
  EXPECT_NONFATAL_FAILURE(redis.Do({}), "needs the name of a command");
}

TEST(Redis, ReportsAGetOfAnotherType) {
  Redis redis;
  redis.Do({"RPUSH", "l", "a"});
  EXPECT_NONFATAL_FAILURE(redis.Get("l"), "WRONGTYPE");
}

TEST(Redis, RecordsTheCommandsOfItsConnections) {
  Redis redis;
  const auto client = redis.Connect();
  EXPECT_TRUE(redis.Await(store::Set(*client, "k", "two words")).ok());
  EXPECT_TRUE(redis.Await(store::Get(*client, "")).ok());
  redis.Do({"GET", "unrecorded"});
  EXPECT_THAT(redis, CommandsWere({R"(SET k "two words")", R"(GET "")"}));
  redis.ClearCommands();
  EXPECT_THAT(redis.commands(), ElementsAre());
}

TEST(Redis, FailsTheNthMatchingCommand) {
  Redis redis;
  const auto client = redis.Connect({FailNth("incr", 2, "OOM injected")});
  EXPECT_THAT(redis.Await(store::Incr(*client, "n")), IsOkAndHolds(1));
  EXPECT_THAT(redis.Await(store::Incr(*client, "n")), IsRedisError("OOM"));
  EXPECT_THAT(redis.Await(store::Incr(*client, "n")), IsOkAndHolds(2));
}

TEST(Redis, LosesRequestsAndReplies) {
  Redis redis;
  const auto client = redis.Connect({LoseNth("INCR", 1), LoseNthReply("DECR", 1)});
  const auto lost = redis.Await(store::Incr(*client, "n"));
  EXPECT_EQ(store::ErrorKindOf(lost.status()), store::ErrorKind::kOutcomeUnknown);
  EXPECT_FALSE(redis.Exists("n"));
  const auto executed = redis.Await(store::Decr(*client, "n"));
  EXPECT_EQ(store::ErrorKindOf(executed.status()), store::ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(redis.Get("n"), "-1");
}

TEST(Redis, DelaysTheNthMatchingCommand) {
  Redis redis;
  const absl::Time start = redis.now();
  const auto client = redis.Connect({DelayNth("GET", 1, absl::Milliseconds(30))});
  EXPECT_THAT(redis.Await(store::Get(*client, "k")), IsOkAndHolds(IsNil()));
  EXPECT_EQ(redis.now(), start + absl::Milliseconds(30));
}

TEST(Redis, LooksAtTheDataDuringAPause) {
  Redis redis;
  redis.Do({"SET", "s", "v"});
  redis.Do({"CLIENT", "PAUSE", "1000"});
  EXPECT_EQ(redis.Get("s"), "v");
  EXPECT_THAT(redis, KeyspaceIs(R"({"s": "v"})"));
}

}  // namespace
}  // namespace redouble::inline v0_1::testing
