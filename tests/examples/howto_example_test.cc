// The how-to pages (docs/howto): what tests of a service ask most often.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/memory.h"
#include "redouble/store.h"
#include "redouble/testing.h"

namespace {

namespace base = redouble::base;
namespace store = redouble::store;

using redouble::testing::FailNth;
using redouble::testing::HasTtl;
using redouble::testing::IsNil;
using redouble::testing::IsOk;
using redouble::testing::IsOkAndHolds;
using redouble::testing::IsRedisError;
using redouble::testing::Redis;
using redouble::testing::ReplyIs;

// [readme: a ttl]
TEST(Session, ExistsAtItsDeadlineAndIsMissingOneMillisecondLater) {
  Redis redis;
  const auto client = redis.Connect();
  const auto half_an_hour = store::Expiry::In(absl::Minutes(30));
  EXPECT_THAT(redis.Await(store::Set(*client, "session", "alice", {.expiry = half_an_hour})),
              IsOkAndHolds(true));
  EXPECT_THAT(redis, HasTtl("session", absl::Minutes(30)));
  redis.AdvanceBy(absl::Minutes(30));
  EXPECT_TRUE(redis.CheckGet("session", "alice"));
  redis.AdvanceBy(absl::Milliseconds(1));
  EXPECT_EQ(redis.Get("session"), std::nullopt);
}
// [end]

// Writes what the example loads: production's dump, five minutes after Alice has logged in.
std::string DumpOfProduction() {
  std::string path = testing::TempDir() + "/dump.rdb";
  Redis production({.start = absl::FromUnixSeconds(1'700'000'000)});
  production.Do({"SET", "session:alice", "token", "EX", "1800"});
  production.Do({"HSET", "cart:alice", "book", "2"});
  production.Do({"RPUSH", "jobs", "mail"});
  production.AdvanceBy(absl::Minutes(5));
  EXPECT_THAT(redouble::memory::SaveRdbFile(production.engine(), path), IsOk());
  return path;
}

// [readme: production data]
TEST(Session, OfProductionEndsWhenItWouldHaveEnded) {
  const std::string path = DumpOfProduction();
  Redis redis = Redis::FromRdb(path);
  EXPECT_THAT(redis, HasTtl("session:alice", absl::Minutes(25)));
  EXPECT_EQ(redis.Do({"HGET", "cart:alice", "book"}), store::Reply::Bulk("2"));
  redis.AdvanceBy(absl::Minutes(25) + absl::Milliseconds(1));
  EXPECT_FALSE(redis.Exists("session:alice"));
}
// [end]

// [readme: part of production data]
TEST(Carts, OfProductionAreLoadedAlone) {
  const std::string path = DumpOfProduction();
  Redis redis;
  const auto keeps = redouble::memory::KeysLike({"cart:*"});
  const absl::StatusOr<redouble::memory::RdbLoadReport> report =
      redouble::memory::LoadRdbFile(redis.engine(), path, {.keeps = keeps});
  ASSERT_THAT(report, IsOk());  // Or the path, the offset and what was expected there.
  EXPECT_EQ(report->keys, 1u);
  EXPECT_THAT(redis.Keys(), testing::ElementsAre("cart:alice"));
}
// [end]

// [readme: a family of production data]
TEST(Carts, AreAFamilyOfProductionsKeys) {
  redouble::store::KeyFamily cart;
  cart.id = "shop.cart";
  cart.pattern = "cart:{user}";
  redouble::store::FamilyTable families;
  ASSERT_THAT(families.Add(std::span(&cart, 1)), IsOk());
  const auto keeps = redouble::memory::KeysOfFamilies(families, {"shop.cart"});
  Redis redis;
  ASSERT_THAT(
      redouble::memory::LoadRdbFile(redis.engine(), DumpOfProduction(), {.keeps = keeps}).status(),
      IsOk());
  EXPECT_THAT(redis.Keys(), testing::ElementsAre("cart:alice"));
}
// [end]

// [readme: a lock]
base::Task<absl::StatusOr<bool>> Lock(store::Store& redis, std::string_view owner) {
  return store::Set(redis, "lock", owner,
                    {.condition = store::SetOptions::Condition::kIfAbsent,
                     .expiry = store::Expiry::In(absl::Seconds(30))});
}

// Deletes the lock if `owner` still has it, in one step.
base::Task<absl::StatusOr<bool>> Unlock(store::Store& redis, std::string_view owner) {
  static const store::Script* const kUnlock = new store::Script(
      "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
      "return redis.call('DEL', KEYS[1])");
  const std::string_view keys[] = {"lock"};
  const std::string_view arguments[] = {owner};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const store::Reply deleted,
                               co_await kUnlock->Run(redis, keys, arguments));
  co_return deleted == store::Reply::Integer(1);
}

TEST(Lock, OfAnOwnerThatDiedIsFreeAfterHalfAMinute) {
  Redis redis;
  const auto a = redis.Connect();
  const auto b = redis.Connect();
  EXPECT_THAT(redis.Await(Lock(*a, "a")), IsOkAndHolds(true));
  EXPECT_THAT(redis.Await(Lock(*b, "b")), IsOkAndHolds(false));
  redis.AdvanceBy(absl::Seconds(30) + absl::Milliseconds(1));
  EXPECT_THAT(redis.Await(Lock(*b, "b")), IsOkAndHolds(true));
  EXPECT_THAT(redis.Await(Unlock(*a, "a")), IsOkAndHolds(false));  // It is b's lock now.
  EXPECT_THAT(redis.Await(Unlock(*b, "b")), IsOkAndHolds(true));
}
// [end]

// [readme: a consumer group]
TEST(Orders, OfADeadWorkerAreTakenOverAfterAMinute) {
  Redis redis;
  const auto client = redis.Connect();
  ASSERT_THAT(redis.Await(store::XGroupCreate(*client, "orders", "billing", {.make_stream = true})),
              IsOk());
  const std::pair<std::string_view, std::string_view> fields[] = {{"order", "7"}};
  ASSERT_THAT(redis.Await(store::XAdd(*client, "orders", fields)), IsOk());

  // The first worker reads the entry and dies before it acknowledges it.
  const store::StreamRead reads[] = {{"orders"}};
  ASSERT_THAT(redis.Await(store::XReadGroup(*client, {"billing", "worker-1"}, reads)), IsOk());
  redis.AdvanceBy(absl::Minutes(1));

  const auto claimed = redis.Await(store::XAutoClaim(*client, "orders", {"billing", "worker-2"},
                                                     {.min_idle = absl::Minutes(1)}));
  ASSERT_THAT(claimed, IsOk());
  ASSERT_EQ(claimed->entries.size(), 1u);
  EXPECT_EQ(claimed->entries[0].Find("order"), "7");
  const store::StreamId ids[] = {claimed->entries[0].id};
  EXPECT_THAT(redis.Await(store::XAck(*client, "orders", "billing", ids)), IsOkAndHolds(1));
}
// [end]

// [readme: a rate limiter]
// Allows ten requests a minute, counted from the first one.
base::Task<absl::StatusOr<bool>> Allow(store::Store& redis, std::string_view user) {
  const std::string key = "requests:" + std::string(user);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, co_await store::Incr(redis, key));
  if (count == 1) {
    const auto set = co_await store::ExpireIn(redis, key, absl::Minutes(1));
    REDOUBLE_CO_RETURN_IF_ERROR(set.status());
  }
  co_return count <= 10;
}

TEST(RateLimiter, AllowsTenRequestsAMinute) {
  Redis redis;
  const auto client = redis.Connect();
  for (int i = 0; i < 10; ++i) EXPECT_THAT(redis.Await(Allow(*client, "bob")), IsOkAndHolds(true));
  EXPECT_THAT(redis.Await(Allow(*client, "bob")), IsOkAndHolds(false));
  redis.AdvanceBy(absl::Minutes(1) + absl::Milliseconds(1));
  EXPECT_THAT(redis.Await(Allow(*client, "bob")), IsOkAndHolds(true));
}

// The first version of most rate limiters: without a transaction, a lost EXPIRE blocks a user
// forever.
TEST(RateLimiter, LeavesACounterWithoutATtlIfExpireFails) {
  Redis redis;
  const auto client = redis.Connect({FailNth("EXPIRE", 1)});
  EXPECT_THAT(redis.Await(Allow(*client, "bob")), IsRedisError("ERR"));
  EXPECT_THAT(redis, HasTtl("requests:bob", absl::InfiniteDuration()));
}
// [end]

// [readme: pub/sub]
TEST(News, ReachSubscribersOnly) {
  Redis redis;
  const auto client = redis.Connect();
  const auto subscription = redis.ConnectSession();  // A connection that receives messages.
  EXPECT_THAT(redis.Await(store::Publish(*client, "news", "too early")), IsOkAndHolds(0));

  store::ChannelReader reader(*subscription, redis.clock(), "news");
  ASSERT_THAT(redis.Await(reader.Subscribe()), IsOk());
  EXPECT_THAT(redis.Await(store::Publish(*client, "news", "hello")), IsOkAndHolds(1));
  EXPECT_EQ(redis.Await(reader.Next(absl::Seconds(15))), "hello");
  EXPECT_EQ(redis.Await(reader.Next(absl::Seconds(15))), std::nullopt);  // 15 s later.
}
// [end]

// [readme: a script]
TEST(Take, StopsAtZero) {
  const store::Script take(
      "local left = tonumber(redis.call('GET', KEYS[1]) or 0) "
      "if left == 0 then return redis.error_reply('EMPTY no tokens left') end "
      "return redis.call('DECR', KEYS[1])");
  Redis redis;
  const auto client = redis.Connect();
  const std::string_view keys[] = {"tokens"};
  redis.Do({"SET", "tokens", "1"});
  EXPECT_THAT(redis.Await(take.Run(*client, keys, {})), IsOkAndHolds(ReplyIs(0)));
  EXPECT_THAT(redis.Await(take.Run(*client, keys, {})), IsRedisError("EMPTY"));
  EXPECT_TRUE(redis.CheckGet("tokens", "0"));
}
// [end]

// [readme: a blocked call]
TEST(Worker, WaitsFiveSecondsForAJob) {
  Redis redis;
  const auto client = redis.Connect();
  const std::string_view queues[] = {"jobs"};
  const absl::Time start = redis.now();
  EXPECT_THAT(redis.Await(store::BLPop(*client, queues, absl::Seconds(5))), IsOkAndHolds(IsNil()));
  EXPECT_GE(redis.now() - start, absl::Seconds(5));  // Of the virtual clock; the test did not wait.
}
// [end]

}  // namespace
