// RESP3 and the cache of replies, against redis-server.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/redis/net/asio_clock.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/client/sentinel_client.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_sentinels.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using store::Reply;

class Resp3Test : public LiveTest {
 protected:
  void SetUp() override { StartServer({}); }

  // A client with the query in its URI.
  std::unique_ptr<Client> With(std::string_view query, ClientHooks hooks = {}) {
    auto client = Connect(absl::StrCat(server->uri(), std::string(query)), std::move(hooks));
    EXPECT_THAT(client, IsOk());
    return client.ok() ? *std::move(client) : nullptr;
  }
  // Sends a command; words are split at single spaces.
  Reply Ask(store::Store& store, const std::string& line) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    auto reply = Send(store, std::vector<std::string_view>(words.begin(), words.end()));
    return reply.ok() ? *std::move(reply) : Reply::Error(std::string(reply.status().message()));
  }
  // Waits until the client has received this many invalidations in all.
  void AwaitInvalidations(const Client& client, uint64_t count) {
    Run(Until([&] { return client.counters().cache_invalidations >= count; }));
  }
  template <typename Condition>
  base::Task<void> Until(Condition condition) {
    while (!condition()) co_await clock.Sleep(absl::Milliseconds(2));
  }

  AsioClock clock{context.get_executor()};
};

constexpr std::string_view kCached = "?protocol=3&cache_bytes=1000000";

// Commands that fill the keys, and commands whose replies do not depend on chance or time.
constexpr const char* kFilling[] = {
    "ZADD z 1 a 2.5 b inf c",
    "HSET h f 1 g 2",
    "SADD s m",
    "XADD st 1-1 f v",
    "SET k 3.0",
    "XGROUP CREATE st g 0",
    "RPUSH l a b",
    "GEOADD geo 13.5 38.25 p",
};
constexpr const char* kReading[] = {
    "GET k",
    "GET none",
    "ZRANGE z 0 -1 WITHSCORES",
    "ZRANGE z 0 -1",
    "ZREVRANGE z 0 0 WITHSCORES",
    "ZRANGEBYSCORE z 0 9 WITHSCORES",
    "ZREVRANGEBYSCORE z 9 0 WITHSCORES",
    "ZSCORE z b",
    "ZSCORE z c",
    "ZSCORE z none",
    "ZMSCORE z a none",
    "ZDIFF 1 z WITHSCORES",
    "ZUNION 1 z WITHSCORES",
    "ZINTER 1 z WITHSCORES",
    "HGETALL h",
    "HRANDFIELD none 2 WITHVALUES",
    "SMEMBERS s",
    "SISMEMBER s m",
    "XRANGE st - +",
    "XREAD STREAMS st 0",
    "XREAD STREAMS st 9",
    "XREADGROUP GROUP g c STREAMS st 0",
    "XINFO STREAM st",
    "XINFO STREAM st FULL",
    "XINFO GROUPS st",
    "XPENDING st g",
    "CONFIG GET maxmemory",
    "COMMAND INFO get",
    "COMMAND DOCS get",
    "ACL GETUSER default",
    "GEOPOS geo p",
    "GEOSEARCH geo FROMMEMBER p BYRADIUS 1 km WITHCOORD WITHDIST",
    "LPOS l none",
    "LMPOP 1 none LEFT",
    "ZMPOP 1 none MIN",
    "EXISTS k",
    "OBJECT ENCODING k",
    "MEMORY DOCTOR",
    "LCS k k IDX",
    "FUNCTION STATS",
    "ROLE",
    "PUBSUB NUMSUB a",
    "EVAL return{1,'a',false} 0",
    "INCRBYFLOAT n 0",
    "TYPE k",
    "CLIENT GETNAME",
    "nonsense",
    "INCR h",
};
// Commands that change z2 and h2, which have four members and one field.
constexpr const char* kChanging[] = {
    "ZPOPMIN z2",       "ZPOPMAX z2 2",
    "ZINCRBY z2 1 b",   "HRANDFIELD h2 1 WITHVALUES",
    "ZADD z2 INCR 1 b", "ZRANDMEMBER z2 1 WITHSCORES",
    "BZPOPMIN z2 1",
};

TEST_F(Resp3Test, RepliesHaveTheSameValuesInBothProtocols) {
  const auto resp2 = With("");
  const auto resp3 = With("?protocol=3");
  ASSERT_TRUE(resp2 != nullptr && resp3 != nullptr);
  for (const char* const line : kFilling) EXPECT_FALSE(Ask(*resp2, line).is_error()) << line;
  for (const char* const line : kReading) {
    EXPECT_EQ(Ask(*resp3, line), Ask(*resp2, line)) << line;
  }
}

TEST_F(Resp3Test, CommandsThatWriteHaveTheSameValuesToo) {
  const auto replies_of = [&](Client& client) {
    for (const char* const line : {"DEL z2 h2", "ZADD z2 1 a 2 b 3 c 4 d", "HSET h2 f v"}) {
      Ask(client, line);
    }
    std::vector<Reply> replies;
    for (const char* const line : kChanging) replies.push_back(Ask(client, line));
    return Reply::Array(std::move(replies));
  };
  EXPECT_EQ(replies_of(*With("?protocol=3")), replies_of(*With("")));
}

TEST_F(Resp3Test, ABatchHasTheSameValuesToo) {
  ASSERT_EQ(Ask(*With(""), "XADD st 1-1 f v"), Reply::Bulk("1-1"));
  const auto replies_of = [&](Client& client, store::Batch::Atomicity atomicity) {
    store::Batch batch(atomicity);
    batch.Add(store::CommandId::kZAdd, {"z", "1", "a"});
    batch.Add(store::CommandId::kZRange, {"z", "0", "-1", "WITHSCORES"});
    batch.Add(store::CommandId::kXRead, {"STREAMS", "st", "0"});
    const auto replies = Run(store::Execute(client, batch));
    EXPECT_THAT(replies, IsOk());
    return Reply::Array(replies.ok() ? std::vector<Reply>(replies->begin() + 1, replies->end())
                                     : std::vector<Reply>());
  };
  for (const auto atomicity :
       {store::Batch::Atomicity::kPipeline, store::Batch::Atomicity::kTransaction}) {
    EXPECT_EQ(replies_of(*With("?protocol=3"), atomicity), replies_of(*With(""), atomicity));
  }
}

TEST_F(Resp3Test, ATransactionByHandHasTheSameValuesToo) {
  const auto ask_all = [&](std::string_view query) {
    const std::string uri = absl::StrCat(server->uri(), std::string(query));
    auto client = Run(
        Client::Connect(context.get_executor(), Options::Parse(uri).value(), Sharing::kDedicated));
    EXPECT_THAT(client, IsOk());
    std::vector<Reply> replies;
    for (const std::string line : {"ZADD z 1 a", "MULTI", "ZRANGE z 0 -1 WITHSCORES", "PING",
                                   "EXEC", "ZRANGE z 0 -1 WITHSCORES"}) {
      if (client.ok()) replies.push_back(Ask(**client, line));
    }
    return Reply::Array(std::vector<Reply>(replies.begin() + 1, replies.end()));
  };
  EXPECT_EQ(ask_all("?protocol=3"), ask_all(""));
}

TEST_F(Resp3Test, AReplyInTheCacheCostsNoRoundTripUntilAnotherClientChangesTheKey) {
  const auto client = With(kCached);
  const auto other = With("");
  ASSERT_TRUE(client != nullptr && other != nullptr);
  Ask(*other, "SET k 1");
  EXPECT_EQ(Ask(*client, "GET k"), Reply::Bulk("1"));
  const uint64_t writes = client->counters().writes;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Ask(*client, "GET k"), Reply::Bulk("1"));
  EXPECT_EQ(client->counters().writes, writes);
  EXPECT_EQ(client->counters().cache_hits, 10u);
  Ask(*other, "SET k 2");
  AwaitInvalidations(*client, 1);
  EXPECT_EQ(Ask(*client, "GET k"), Reply::Bulk("2"));
  EXPECT_EQ(Ask(*client, "GET k"), Reply::Bulk("2"));
  Ask(*other, "FLUSHALL");
  AwaitInvalidations(*client, 2);
  EXPECT_EQ(Ask(*client, "GET k"), Reply::Nil());
  EXPECT_EQ(Ask(*client, "EXISTS k"), Reply::Integer(0));
  Ask(*other, "SET k 3 PX 1");
  AwaitInvalidations(*client, 3);
  Run(Until([&] { return Ask(*other, "EXISTS k") == Reply::Integer(0); }));
  EXPECT_EQ(Ask(*client, "EXISTS k"), Reply::Integer(0));
}

TEST_F(Resp3Test, AClientReadsItsOwnWritesAtOnce) {
  const auto client = With(kCached);
  ASSERT_NE(client, nullptr);
  for (int i = 0; i < 100; ++i) {
    const std::string value = std::to_string(i);
    EXPECT_EQ(Ask(*client, "SET k " + value), Reply::Ok());
    EXPECT_EQ(Ask(*client, "GET k"), Reply::Bulk(value));
    EXPECT_EQ(Ask(*client, "GET k"), Reply::Bulk(value));
  }
  EXPECT_EQ(Ask(*client, "EVAL return(redis.call('set',KEYS[1],'x')) 1 k"), Reply::Ok());
  EXPECT_EQ(Ask(*client, "GET k"), Reply::Bulk("x"));
}

TEST_F(Resp3Test, BroadcastsInvalidateKeysWithAPrefix) {
  const auto client =
      With("?protocol=3&cache_bytes=1000000&cache_broadcast=yes&cache_prefixes=user:,cart:");
  const auto other = With("");
  ASSERT_TRUE(client != nullptr && other != nullptr);
  EXPECT_EQ(Ask(*client, "GET user:1"), Reply::Nil());
  EXPECT_EQ(Ask(*client, "GET order:1"), Reply::Nil());
  Ask(*other, "SET order:1 x");
  Ask(*other, "SET user:2 x");
  Ask(*other, "SET user:1 x");
  AwaitInvalidations(*client, 2);
  EXPECT_EQ(client->counters().cache_invalidations, 2u);
  EXPECT_EQ(Ask(*client, "GET user:1"), Reply::Bulk("x"));
  EXPECT_EQ(Ask(*client, "GET order:1"), Reply::Bulk("x"));
  EXPECT_EQ(client->counters().cache_hits, 0u);
  EXPECT_EQ(Ask(*client, "GET user:1"), Reply::Bulk("x"));
  EXPECT_EQ(client->counters().cache_hits, 1u);
}

TEST_F(Resp3Test, ALostConnectionEmptiesTheCache) {
  const auto client = With(absl::StrCat(std::string(kCached), "&client_name=cached"));
  const auto other = With("");
  ASSERT_TRUE(client != nullptr && other != nullptr);
  Ask(*other, "SET k 1");
  EXPECT_EQ(Ask(*client, "GET k"), Reply::Bulk("1"));
  EXPECT_EQ(Ask(*client, "GET k"), Reply::Bulk("1"));
  const Reply id = Ask(*client, "CLIENT ID");
  Ask(*other, absl::StrCat("CLIENT KILL ID ", id.integer()));
  Ask(*other, "SET k 2");
  Run(Until([&] { return client->counters().connects == 2; }));
  EXPECT_EQ(Ask(*client, "GET k"), Reply::Bulk("2"));
  // The new connection is tracked as well.
  EXPECT_EQ(Ask(*client, "GET k"), Reply::Bulk("2"));
  EXPECT_EQ(client->counters().cache_hits, 2u);
  Ask(*other, "SET k 3");
  AwaitInvalidations(*client, 1);
  EXPECT_EQ(Ask(*client, "GET k"), Reply::Bulk("3"));
}

TEST_F(Resp3Test, PassesPushesToTheHook) {
  std::vector<std::string> pushes;
  ClientHooks hooks;
  hooks.push = [&](const Reply& push) { pushes.push_back(push.DebugString()); };
  const auto client = With(kCached, hooks);
  const auto other = With("");
  ASSERT_TRUE(client != nullptr && other != nullptr);
  Ask(*client, "GET k");
  Ask(*other, "SET k 1");
  AwaitInvalidations(*client, 1);
  EXPECT_EQ(pushes, std::vector<std::string>{"[\"invalidate\", [\"k\"]]"});
  EXPECT_EQ(client->counters().pushes, 1u);
}

// A blocking command uses a connection of its own, which is not tracked.
TEST_F(Resp3Test, BlockingCommandsWorkBesideTheCache) {
  const auto client = With(kCached);
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(Ask(*client, "RPUSH l a b"), Reply::Integer(2));
  EXPECT_EQ(Ask(*client, "LLEN l"), Reply::Integer(2));
  EXPECT_EQ(Ask(*client, "BLPOP l 1"), Reply::Array({Reply::Bulk("l"), Reply::Bulk("a")}));
  EXPECT_EQ(Ask(*client, "LLEN l"), Reply::Integer(1));
}

TEST_F(Resp3Test, AUserWithoutTrackingHasNoCache) {
  const auto admin = With("");
  ASSERT_NE(admin, nullptr);
  EXPECT_EQ(Ask(*admin, "ACL SETUSER ann on >pw ~* +@all -client|tracking"), Reply::Ok());
  Options options = Options::Parse(absl::StrCat(server->uri(), std::string(kCached))).value();
  options.user = "ann";
  options.password = "pw";
  auto client = Run(Client::Connect(context.get_executor(), options));
  ASSERT_THAT(client, IsOk());
  EXPECT_EQ(Ask(**client, "SET k 1"), Reply::Ok());
  EXPECT_EQ(Ask(**client, "GET k"), Reply::Bulk("1"));
  EXPECT_EQ(Ask(**client, "GET k"), Reply::Bulk("1"));
  EXPECT_EQ((*client)->counters().cache_hits, 0u);
  EXPECT_EQ(Ask(**client, "ZADD z 1 a"), Reply::Integer(1));
  EXPECT_EQ(Ask(**client, "ZRANGE z 0 -1 WITHSCORES"),
            Reply::Array({Reply::Bulk("a"), Reply::Bulk("1")}));
}

class Resp3Refused : public LiveTest {
 protected:
  void SetUp() override {
    SpawnedServerOptions old;
    old.config = {"rename-command HELLO \"\""};
    StartServer(old);
  }
};

TEST_F(Resp3Refused, AServerWithoutHelloIsUsedWithResp2AndWithoutACache) {
  const auto client = Connect(absl::StrCat(server->uri(), std::string(kCached)));
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT(Send(**client, {"ZADD", "z", "1", "a"}), base::IsOkAndHolds(Reply::Integer(1)));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Send(**client, {"ZRANGE", "z", "0", "-1", "WITHSCORES"}),
                base::IsOkAndHolds(Reply::Array({Reply::Bulk("a"), Reply::Bulk("1")})));
  }
  EXPECT_EQ((*client)->counters().cache_hits, 0u);
}

TEST_F(Resp3Test, EachNodeOfAClusterHasACache) {
  auto cluster = SpawnedCluster::Start();
  ASSERT_THAT(cluster, IsOk());
  const Options options =
      Options::Parse(absl::StrCat((*cluster)->uri(), "&protocol=3&cache_bytes=100000")).value();
  auto client = Run(ClusterClient::Connect(context.get_executor(), options));
  auto other = Run(
      ClusterClient::Connect(context.get_executor(), Options::Parse((*cluster)->uri()).value()));
  ASSERT_THAT(client, IsOk());
  ASSERT_THAT(other, IsOk());
  for (const std::string key : {"a", "b", "c"}) {
    Ask(**other, "SET " + key + " 1");
    EXPECT_EQ(Ask(**client, "GET " + key), Reply::Bulk("1"));
    EXPECT_EQ(Ask(**client, "GET " + key), Reply::Bulk("1"));
  }
  EXPECT_EQ((*client)->traffic().cache_hits, 3u);
  Ask(**other, "SET b 2");
  Run(Until([&] { return (*client)->traffic().cache_invalidations == 1; }));
  EXPECT_EQ(Ask(**client, "GET b"), Reply::Bulk("2"));
  EXPECT_EQ(Ask(**client, "GET a"), Reply::Bulk("1"));
  EXPECT_EQ((*client)->traffic().cache_hits, 4u);
}

TEST_F(Resp3Test, TheMasterOfSentinelsHasACache) {
  auto watched = SpawnedSentinels::Start({.replicas = 1, .sentinels = 1});
  ASSERT_THAT(watched, IsOk());
  const Options options =
      Options::Parse(absl::StrCat((*watched)->uri(), "&protocol=3&cache_bytes=100000")).value();
  auto client = Run(SentinelClient::Connect(context.get_executor(), options));
  ASSERT_THAT(client, IsOk());
  EXPECT_EQ(Ask(**client, "SET k 1"), Reply::Ok());
  EXPECT_EQ(Ask(**client, "GET k"), Reply::Bulk("1"));
  EXPECT_EQ(Ask(**client, "GET k"), Reply::Bulk("1"));
  EXPECT_EQ((*client)->traffic().cache_hits, 1u);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
