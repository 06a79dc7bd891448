#include "redouble/backends/redis/fsm/cache/tracking_cache.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;

store::Command Words(std::string_view line) { return internal::HeldCommands::Split(line); }

Reply Invalidation(std::initializer_list<std::string_view> keys) {
  std::vector<Reply> all;
  for (const std::string_view key : keys) all.push_back(Reply::Bulk(key));
  return Reply::Push({Reply::Bulk("invalidate"), Reply::Array(std::move(all))});
}

Reply InvalidationOfAll() { return Reply::Push({Reply::Bulk("invalidate"), Reply::Nil()}); }

class TrackingCacheTest : public testing::Test {
 protected:
  TrackingCacheTest() { cache.Start(); }

  // Keeps a reply as if the command had been sent and answered.
  void Keep(std::string_view line, const Reply& reply) {
    const TrackingCache::Ticket ticket = cache.Begin(Words(line));
    EXPECT_NE(ticket, TrackingCache::kNone);
    cache.End(ticket, &reply);
  }
  bool Has(std::string_view line) { return cache.Find(Words(line)) != nullptr; }
  void Note(std::string_view line) {
    RequestForTest request(line);
    cache.Note(request);
    request.Complete(Reply::Ok());
  }

  TrackingCache cache{TrackingCache::Limits{.max_bytes = 10'000}};
};

TEST_F(TrackingCacheTest, KeepsRepliesByTheWholeCommand) {
  Keep("GET a", Reply::Bulk("1"));
  ASSERT_TRUE(Has("GET a"));
  EXPECT_EQ(*cache.Find(Words("get a")), Reply::Bulk("1"));
  EXPECT_FALSE(Has("GET b"));
  EXPECT_FALSE(Has("STRLEN a"));
  Keep("MGET a b", Reply::EmptyArray());
  EXPECT_FALSE(Has("MGET ab"));
  EXPECT_FALSE(Has("MGET b a"));
}

TEST_F(TrackingCacheTest, DropsEveryReplyThatDependsOnAnInvalidatedKey) {
  Keep("GET a", Reply::Bulk("1"));
  Keep("MGET a b", Reply::EmptyArray());
  Keep("GET b", Reply::Bulk("2"));
  EXPECT_EQ(cache.Invalidate(Invalidation({"a", "x"})), 2u);
  EXPECT_FALSE(Has("GET a"));
  EXPECT_FALSE(Has("MGET a b"));
  EXPECT_TRUE(Has("GET b"));
  EXPECT_EQ(cache.Invalidate(InvalidationOfAll()), 1u);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST_F(TrackingCacheTest, IgnoresOtherPushes) {
  Keep("GET a", Reply::Bulk("1"));
  EXPECT_EQ(cache.Invalidate(Reply::Push({Reply::Bulk("message"), Reply::Bulk("a")})), 0u);
  EXPECT_EQ(cache.Invalidate(Reply::Push({})), 0u);
  EXPECT_TRUE(Has("GET a"));
}

// The reply was made before or after the change: it is not known which.
TEST_F(TrackingCacheTest, KeepsNoReplyWhoseKeyChangedWhileItWasUnderWay) {
  const TrackingCache::Ticket one = cache.Begin(Words("GET a"));
  const TrackingCache::Ticket two = cache.Begin(Words("MGET a b"));
  const TrackingCache::Ticket three = cache.Begin(Words("GET b"));
  cache.Invalidate(Invalidation({"a"}));
  const Reply reply = Reply::Bulk("old");
  cache.End(one, &reply);
  cache.End(two, &reply);
  cache.End(three, &reply);
  EXPECT_FALSE(Has("GET a"));
  EXPECT_FALSE(Has("MGET a b"));
  EXPECT_TRUE(Has("GET b"));
  const TrackingCache::Ticket later = cache.Begin(Words("GET a"));
  cache.End(later, &reply);
  EXPECT_TRUE(Has("GET a"));
}

TEST_F(TrackingCacheTest, KeepsNoReplyWhenEverythingChangedOrTheConnectionWasLost) {
  const Reply reply = Reply::Bulk("old");
  const TrackingCache::Ticket one = cache.Begin(Words("GET a"));
  cache.Invalidate(InvalidationOfAll());
  cache.End(one, &reply);
  EXPECT_FALSE(Has("GET a"));
  Keep("GET a", reply);
  const TrackingCache::Ticket two = cache.Begin(Words("GET b"));
  cache.Stop();
  EXPECT_FALSE(Has("GET a"));
  EXPECT_EQ(cache.Begin(Words("GET a")), TrackingCache::kNone);
  cache.Start();
  cache.End(two, &reply);
  EXPECT_FALSE(Has("GET b"));
}

TEST_F(TrackingCacheTest, KeepsNoErrorsAndNothingForCommandsWithoutAReply) {
  const Reply error = Reply::Error("WRONGTYPE");
  cache.End(cache.Begin(Words("GET a")), &error);
  cache.End(cache.Begin(Words("GET b")), nullptr);
  EXPECT_EQ(cache.size(), 0u);
  const Reply nil = Reply::Nil();
  cache.End(cache.Begin(Words("GET c")), &nil);
  EXPECT_TRUE(Has("GET c"));
}

TEST_F(TrackingCacheTest, KnowsWhichCommandsOnlyReadTheKeysThatTheyName) {
  for (const std::string_view line :
       {"GET a", "mget a", "HGETALL a", "SMEMBERS a", "ZRANGE a 0 1", "XRANGE a - +", "EXISTS a",
        "LRANGE a 0 1", "TYPE a", "SINTER a b", "GEOSEARCH a", "PFCOUNT a", "XLEN a"}) {
    EXPECT_TRUE(TrackingCache::IsCacheable(Words(line))) << line;
  }
  for (const std::string_view line : {"SET a 1",
                                      "TTL a",
                                      "PTTL a",
                                      "SRANDMEMBER a",
                                      "HRANDFIELD a",
                                      "ZRANDMEMBER a",
                                      "SSCAN a 0",
                                      "XREAD STREAMS a 0",
                                      "OBJECT ENCODING a",
                                      "XINFO STREAM a",
                                      "RANDOMKEY",
                                      "PING",
                                      "KEYS *",
                                      "DBSIZE",
                                      "TOUCH a",
                                      "SORT_RO a",
                                      "EVAL_RO x 1 a",
                                      "EVAL x 1 a",
                                      "FCALL_RO f 1 a",
                                      "WATCH a",
                                      "JSON.GET a",
                                      "GETDEL a",
                                      "SORT a",
                                      "SUBSCRIBE a",
                                      "DUMP a"}) {
    EXPECT_FALSE(TrackingCache::IsCacheable(Words(line))) << line;
  }
}

TEST_F(TrackingCacheTest, DropsWhatItsOwnCommandsMayChange) {
  const auto kept_after = [&](std::string_view line) {
    Keep("GET a", Reply::Bulk("1"));
    Keep("GET b", Reply::Bulk("2"));
    Note(line);
    return std::string(Has("GET a") ? "a" : "") + (Has("GET b") ? "b" : "");
  };
  EXPECT_EQ(kept_after("SET a 2"), "b");
  EXPECT_EQ(kept_after("RENAME b c"), "a");
  EXPECT_EQ(kept_after("EVAL script 1 a"), "b");
  EXPECT_EQ(kept_after("XGROUP CREATE a g 0"), "b");
  EXPECT_EQ(kept_after("BLPOP a b 0"), "");
  EXPECT_EQ(kept_after("FLUSHALL"), "");
  EXPECT_EQ(kept_after("EVAL script 0"), "");
  EXPECT_EQ(kept_after("JSON.SET x"), "");
  for (const std::string_view line : {"GET a", "STRLEN a", "TTL a", "PING", "EVAL_RO script 1 a",
                                      "PUBLISH a b", "CONFIG GET a"}) {
    EXPECT_EQ(kept_after(line), "ab") << line;
  }
}

TEST_F(TrackingCacheTest, AnOwnWriteSpoilsReadsUnderWay) {
  const TrackingCache::Ticket ticket = cache.Begin(Words("GET a"));
  Note("SET a 2");
  const Reply reply = Reply::Bulk("1");
  cache.End(ticket, &reply);
  EXPECT_FALSE(Has("GET a"));
}

TEST_F(TrackingCacheTest, StaysWithinItsMemoryAndDropsWhatWasNotUsedForLongest) {
  const Reply value = Reply::Bulk(std::string(1000, 'v'));
  for (int i = 0; i < 100; ++i) {
    const std::string line = "GET key" + std::to_string(i);
    Keep(line, value);
    EXPECT_LE(cache.bytes(), 10'000u);
    EXPECT_TRUE(Has("GET key0"));  // Used each time.
  }
  EXPECT_EQ(cache.size() + cache.TakeEvictions(), 100u);
  EXPECT_GT(cache.size(), 4u);
  EXPECT_TRUE(Has("GET key99"));
  EXPECT_FALSE(Has("GET key50"));
  Keep("GET large", Reply::Bulk(std::string(20'000, 'v')));
  EXPECT_FALSE(Has("GET large"));
  EXPECT_TRUE(Has("GET key99"));
}

TEST(TrackingCachePrefixes, KeepsOnlyWhatTheServerInvalidates) {
  TrackingCache cache({.max_bytes = 10'000, .prefixes = {"user:", "cart"}});
  cache.Start();
  EXPECT_NE(cache.Begin(Words("GET user:1")), TrackingCache::kNone);
  EXPECT_NE(cache.Begin(Words("MGET user:1 cart")), TrackingCache::kNone);
  EXPECT_EQ(cache.Begin(Words("GET order:1")), TrackingCache::kNone);
  EXPECT_EQ(cache.Begin(Words("MGET user:1 order:1")), TrackingCache::kNone);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
