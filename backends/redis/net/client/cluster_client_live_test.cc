#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/net/await_task.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/net/subscriber.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Batch;
using store::Command;
using store::CommandId;
using store::ErrorKind;
using store::Reply;

// One cluster for all tests, because it needs two seconds before it serves. Each test starts with
// an empty keyspace.
class LiveCluster : public LiveTest {
 protected:
  static void SetUpTestSuite() {
    auto started = SpawnedCluster::Start({.masters = 3});
    ASSERT_THAT(started, IsOk());
    cluster = started->release();
  }
  static void TearDownTestSuite() {
    delete cluster;
    cluster = nullptr;
  }
  void SetUp() override {
    ASSERT_NE(cluster, nullptr);
    client = Connected();
    ASSERT_NE(client, nullptr);
    ASSERT_THAT(Run(store::FlushAll(*client)), IsOk());
  }

  std::unique_ptr<ClusterClient> Connected(std::string_view query = "") {
    const Options options =
        Options::Parse(absl::StrCat(cluster->uri(), std::string(query))).value();
    auto connected = Run(ClusterClient::Connect(context.get_executor(), options));
    EXPECT_THAT(connected, IsOk());
    return connected.ok() ? std::move(connected).value() : nullptr;
  }
  absl::Status FailureOf(const std::string& uri) {
    return Run(ClusterClient::Connect(context.get_executor(), Options::Parse(uri).value()))
        .status();
  }
  Reply Ask(const std::vector<std::string_view>& words) {
    auto ask = [&]() -> base::Task<absl::StatusOr<Reply>> {
      const auto command = Command::Named(words[0], std::span(words).subspan(1));
      co_return co_await client->Execute(command);
    };
    absl::StatusOr<Reply> reply = Run(ask());
    EXPECT_THAT(reply, IsOk()) << words[0] << ": " << reply.status();
    return reply.value_or(Reply::Nil());
  }

  static SpawnedCluster* cluster;
  std::unique_ptr<ClusterClient> client;
};
SpawnedCluster* LiveCluster::cluster = nullptr;

TEST_F(LiveCluster, LooksLikeOneServer) {
  constexpr int kKeys = 100;
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = absl::StrCat("key:", i);
    ASSERT_THAT(Run(store::Set(*client, key, absl::StrCat(i))), IsOk());
  }
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = absl::StrCat("key:", i);
    EXPECT_EQ(Run(store::Get(*client, key)).value(), absl::StrCat(i));
  }
  EXPECT_EQ(Run(store::DbSize(*client)).value(), kKeys);
  EXPECT_EQ(Run(store::Keys(*client, "key:*")).value().size(), static_cast<size_t>(kKeys));
  const auto scanned = Run(store::ScanAll(*client, {}));
  ASSERT_THAT(scanned, IsOk());
  EXPECT_EQ(std::set<std::string>(scanned->begin(), scanned->end()).size(),
            static_cast<size_t>(kKeys));
  ASSERT_THAT(Run(store::FlushDb(*client)), IsOk());
  EXPECT_EQ(Run(store::DbSize(*client)).value(), 0);
  EXPECT_EQ(client->counters().moved, 0u);
}

TEST_F(LiveCluster, PutsThePipelinesRepliesIntoOrder) {
  constexpr int kKeys = 300;
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i) keys.push_back(absl::StrCat("k", i));
  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& key : keys) {
    batch.Add(CommandId::kSet, {key, key});
    batch.Add(CommandId::kGet, {key});
  }
  auto run = [&]() -> base::Task<absl::StatusOr<std::vector<Reply>>> {
    co_return co_await store::Execute(*client, batch);
  };
  const absl::StatusOr<std::vector<Reply>> replies = Run(run());
  ASSERT_THAT(replies, IsOk());
  ASSERT_EQ(replies->size(), 2u * kKeys);
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ((*replies)[2 * i], Reply::Ok());
    EXPECT_EQ((*replies)[2 * i + 1], Reply::Bulk(keys[i]));
  }
}

TEST_F(LiveCluster, SplitsCommandsOverSeveralSlotsIfAskedTo) {
  const std::vector<std::string_view> keys = {"a", "b"};
  EXPECT_THAT(Run(store::MGet(*client, keys)), StatusIs(absl::StatusCode::kFailedPrecondition));
  client = Connected("&split_commands=yes");
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(Ask({"MSET", "a", "1", "b", "2", "c", "3", "{a}x", "4"}), Reply::Ok());
  EXPECT_EQ(Ask({"MGET", "a", "b", "none", "c", "{a}x"}),
            Reply::Array({Reply::Bulk("1"), Reply::Bulk("2"), Reply::Nil(), Reply::Bulk("3"),
                          Reply::Bulk("4")}));
  EXPECT_EQ(Ask({"EXISTS", "a", "b", "none", "a"}), Reply::Integer(3));
  EXPECT_EQ(Ask({"DEL", "a", "b", "none"}), Reply::Integer(2));
  EXPECT_EQ(Ask({"UNLINK", "c", "{a}x"}), Reply::Integer(2));
}

TEST_F(LiveCluster, RunsATransactionOfOneSlotAndRefusesOthers) {
  Batch one(Batch::Atomicity::kTransaction);
  one.Add(CommandId::kIncr, {"{t}a"});
  one.Add(CommandId::kIncr, {"{t}b"});
  Batch two(Batch::Atomicity::kTransaction);
  two.Add(CommandId::kIncr, {"a"});
  two.Add(CommandId::kIncr, {"b"});
  EXPECT_EQ(Run(store::Execute(*client, one)).value(),
            (std::vector<Reply>{Reply::Integer(1), Reply::Integer(1)}));
  const absl::Status refused = Run(store::Execute(*client, two)).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(store::ErrorKindOf(refused), ErrorKind::kNotSent);
  EXPECT_EQ(Ask({"EXISTS", "a"}), Reply::Integer(0));
}

TEST_F(LiveCluster, LoadsAScriptAtEachNodeThatMissesIt) {
  const store::Script script("return redis.call('INCR', KEYS[1])");
  for (const std::string_view key : {"a", "b", "c", "a", "b", "c"}) {
    const std::string_view keys[] = {key};
    const absl::StatusOr<Reply> reply = Run(script.Run(*client, keys, {}));
    EXPECT_THAT(reply, IsOk());
  }
  EXPECT_EQ(Ask({"GET", "b"}), Reply::Bulk("2"));
}

TEST_F(LiveCluster, ReturnsTheErrorsOfRedis) {
  Ask({"SET", "a", "text"});
  EXPECT_EQ(Ask({"LPUSH", "a", "x"}),
            Reply::Error("WRONGTYPE Operation against a key holding the wrong kind of value"));
  EXPECT_EQ(Ask({"NOSUCH", "a"}),
            Reply::Error("ERR unknown command 'NOSUCH', with args beginning with: 'a' "));
  EXPECT_EQ(Ask({"GET"}), Reply::Error("ERR wrong number of arguments for 'get' command"));
}

TEST_F(LiveCluster, RunsCommandsOfManyCoroutinesAtOnce) {
  constexpr int kActors = 50;
  constexpr int kRounds = 20;
  std::vector<base::Task<int64_t>> actors;
  auto actor = [this](int number) -> base::Task<int64_t> {
    const std::string key = absl::StrCat("counter:", number % 10);
    int64_t good = 0;
    for (int i = 0; i < kRounds; ++i) {
      const absl::StatusOr<int64_t> count = co_await store::Incr(*client, key);
      if (count.ok()) ++good;
    }
    co_return good;
  };
  for (int i = 0; i < kActors; ++i) actors.push_back(actor(i));
  int64_t good = 0;
  for (const int64_t count : Run(base::WhenAll(std::move(actors)))) good += count;
  EXPECT_EQ(good, kActors * kRounds);
  int64_t total = 0;
  for (int i = 0; i < 10; ++i) {
    total += std::stoll(Run(store::Get(*client, absl::StrCat("counter:", i))).value().value());
  }
  EXPECT_EQ(total, good);
}

TEST_F(LiveCluster, LetsACommandBlockWithoutHoldingOthersUp) {
  const std::string_view queue = "queue";
  auto pop = [this, queue]() -> base::Task<std::string> {
    Command command = Command::Named("BLPOP");
    command.Add(queue).Add("10");
    const absl::StatusOr<Reply> popped = co_await client->Execute(command);
    co_return popped.ok() ? popped->DebugString() : popped.status().ToString();
  };
  auto push = [this, queue]() -> base::Task<std::string> {
    // Through the same client, to the same node.
    for (int i = 0; i < 10; ++i) static_cast<void>(co_await store::Get(*client, queue));
    Command command = Command::Named("RPUSH");
    command.Add(queue).Add("item");
    const absl::StatusOr<Reply> pushed = co_await client->Execute(command);
    co_return pushed.ok() ? pushed->DebugString() : pushed.status().ToString();
  };
  std::vector<base::Task<std::string>> both;
  both.push_back(pop());
  both.push_back(push());
  EXPECT_EQ(Run(base::WhenAll(std::move(both))),
            (std::vector<std::string>{"[\"queue\", \"item\"]", "1"}));
}

TEST_F(LiveCluster, RefusesAPipelineWithACommandThatBlocks) {
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kIncr, {"a"});
  batch.Add(CommandId::kBLPop, {"queue", "0"});
  const absl::Status refused = Run(store::Execute(*client, batch)).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(refused.message(),
            "BLPOP may block, and with it what shares its connection: send it by itself");
  EXPECT_EQ(Ask({"EXISTS", "a"}), Reply::Integer(0));
}

// The next event of a subscriber in one word.
std::string EventText(const absl::StatusOr<PushEvent>& event) {
  if (!event.ok()) return "closed";
  if (event->is_gap()) return "gap";
  const auto message = store::ReadMessage(*event->push);
  return message ? message->payload : event->push->elements()[0].text();
}

TEST_F(LiveCluster, ReceivesTheMessagesOfAllNodes) {
  const Options options = Options::Parse(absl::StrCat(cluster->uri(), "&backoff_base=1ms")).value();
  auto subscriber = Run(Subscriber::Connect(context.get_executor(), options));
  ASSERT_THAT(subscriber, IsOk());
  const std::string_view patterns[] = {"*"};
  ASSERT_THAT(Run(store::PSubscribe(**subscriber, patterns)), IsOk());
  // The channels have slots of three nodes, so three nodes publish them.
  for (const std::string_view channel : {"a", "b", "c"}) {
    ASSERT_THAT(Run(store::Publish(*client, channel, channel)), IsOk());
    EXPECT_EQ(EventText(Run((*subscriber)->Next())), channel);
  }
}

TEST_F(LiveCluster, ListensAtTheNextNodeWhenOneIsLost) {
  auto own = SpawnedCluster::Start({.masters = 3});
  ASSERT_THAT(own, IsOk());
  const Options options = Options::Parse(absl::StrCat((*own)->uri(), "&backoff_base=1ms")).value();
  auto subscriber = Run(Subscriber::Connect(context.get_executor(), options));
  ASSERT_THAT(subscriber, IsOk());
  const std::string_view channels[] = {"a"};
  ASSERT_THAT(Run(store::Subscribe(**subscriber, channels)), IsOk());
  (*own)->node(0).Kill();
  EXPECT_EQ(EventText(Run((*subscriber)->Next())), "gap");
  Options third = options;
  third.address = options.seeds[1];
  auto publisher = Run(ClusterClient::Connect(context.get_executor(), third));
  ASSERT_THAT(publisher, IsOk());
  // The third node publishes the message and forwards it to the node of the subscriber.
  ASSERT_THAT(Run(store::Publish(**publisher, "a", "news")), IsOk());
  EXPECT_EQ(EventText(Run((*subscriber)->Next())), "news");
  // The same if the first node is unreachable from the start.
  auto another = Run(Subscriber::Connect(context.get_executor(), options));
  EXPECT_THAT(another, IsOk());
}

TEST_F(LiveCluster, ReceivesAShardChannelAtItsMasterOnly) {
  const absl::StatusOr<Options> options = client->OptionsOfMaster("news");
  ASSERT_THAT(options, IsOk());
  auto subscriber = Run(Subscriber::Connect(context.get_executor(), *options));
  ASSERT_THAT(subscriber, IsOk());
  const std::string_view channels[] = {"news"};
  ASSERT_THAT(Run(store::SSubscribe(**subscriber, channels)), IsOk());
  EXPECT_EQ(Run(store::SPublish(*client, "news", "first")).value(), 1);
  EXPECT_EQ(EventText(Run((*subscriber)->Next())), "first");
  for (const std::string_view other : {"a", "b", "c"}) {
    if (client->OptionsOfMaster(other).value().address == options->address) continue;
    const std::string_view elsewhere[] = {other};
    const absl::Status moved = Run(store::SSubscribe(**subscriber, elsewhere));
    EXPECT_EQ(store::ServerErrorCode(moved), "MOVED") << moved;
  }
  (*subscriber)->Close();
  EXPECT_EQ(EventText(Run((*subscriber)->Next())), "closed");
}

TEST_F(LiveCluster, LogsEventsAndCountsItsTraffic) {
  std::vector<std::string> log;
  ClientHooks hooks;
  hooks.log = [&](const LogEvent& event) { log.emplace_back(LogEventName(event.kind)); };
  auto watched = Run(ClusterClient::Connect(context.get_executor(),
                                            Options::Parse(cluster->uri()).value(), hooks));
  ASSERT_THAT(watched, IsOk());
  for (const std::string_view key : {"a", "b", "c"}) {
    ASSERT_THAT(Run(store::Incr(**watched, key)), IsOk());
  }
  EXPECT_EQ(log, (std::vector<std::string>{"connected", "connected", "connected"}));
  const Counters traffic = (*watched)->traffic();
  EXPECT_EQ(traffic.connects, 3u);
  EXPECT_EQ(traffic.answered, 4u) << "the map is a request, too";
  EXPECT_EQ(traffic.in_flight, 0u);
  EXPECT_EQ(traffic.latency.count(), 4u);
}

TEST_F(LiveCluster, CountsWhatTheConnectionsThatAreGoneDid) {
  auto own = SpawnedCluster::Start({.masters = 1});
  ASSERT_THAT(own, IsOk());
  std::vector<std::string> log;
  ClientHooks hooks;
  hooks.log = [&](const LogEvent& event) { log.emplace_back(LogEventName(event.kind)); };
  auto watched = Run(ClusterClient::Connect(
      context.get_executor(), Options::Parse((*own)->uri() + "&refresh_interval=1ms").value(),
      hooks));
  ASSERT_THAT(watched, IsOk());
  ASSERT_THAT(Run(store::Incr(**watched, "a")), IsOk());
  (*own)->node(0).Kill();
  while ((*watched)->traffic().losses == 0) ASSERT_GT(context.run_one(), 0u);
  base::Task<absl::StatusOr<int64_t>> waiting = store::Incr(**watched, "a");
  waiting.Start();
  while ((*watched)->traffic().connect_failures == 0) ASSERT_GT(context.run_one(), 0u);
  ASSERT_THAT((*own)->node(0).Restart(), IsOk());
  while (!waiting.done()) ASSERT_GT(context.run_one(), 0u);
  const Counters traffic = (*watched)->traffic();
  EXPECT_EQ(traffic.connects, 2u);
  EXPECT_EQ(traffic.losses, 1u);
  EXPECT_GE(traffic.answered, 2u);
  EXPECT_EQ(log.front(), "connected");
  EXPECT_EQ(log[1], "lost");
  EXPECT_EQ(log[2], "connect failed");
  EXPECT_EQ(log.back(), "connected");
}

TEST_F(LiveCluster, MeetsAServerThatIsNoCluster) {
  SpawnedServerOptions options;
  options.listen_on_loopback = true;
  auto server = SpawnedServer::Start(options);
  ASSERT_THAT(server, IsOk());
  EXPECT_EQ(FailureOf(absl::StrCat((*server)->loopback_uri(), "?cluster=yes")).message(),
            "ERR This instance has cluster support disabled");
}

TEST_F(LiveCluster, FindsNoNode) {
  // A reserved port without a listener.
  auto port = LoopbackPort::Reserve();
  ASSERT_THAT(port, IsOk());
  const absl::Status status =
      FailureOf(absl::StrCat("redis://127.0.0.1:", (*port)->number(), "?cluster=yes"));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(store::ErrorKindOf(status), ErrorKind::kNotSent);
}

TEST_F(LiveCluster, FindsTheClusterThroughASeed) {
  auto port = LoopbackPort::Reserve();
  ASSERT_THAT(port, IsOk());
  const Options options =
      Options::Parse(absl::StrCat("redis://127.0.0.1:", (*port)->number(),
                                  "?cluster=yes&seeds=127.0.0.1:", cluster->node(2).port()))
          .value();
  const auto found = Run(ClusterClient::Connect(context.get_executor(), options));
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ((*found)->map().Masters().size(), 3u);
}

TEST_F(LiveCluster, RefusesOptionsThatAreNotOfACluster) {
  EXPECT_EQ(FailureOf("redis://127.0.0.1:1").message(),
            "ClusterClient needs options with cluster=yes");
  Options contradictory;
  contradictory.cluster = true;
  contradictory.database = 1;
  EXPECT_THAT(Run(ClusterClient::Connect(context.get_executor(), contradictory)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(LiveCluster, FailsWhatIsUnderWayWhenItIsClosed) {
  std::vector<base::Task<absl::StatusOr<int64_t>>> both;
  both.push_back(store::Incr(*client, "a"));
  both.push_back(store::Incr(*client, "b"));
  auto all = base::WhenAll(std::move(both));
  all.Start();
  client->Close();
  ASSERT_TRUE(all.done());
  for (const auto& result : all.TakeResult()) {
    EXPECT_THAT(result, StatusIs(absl::StatusCode::kUnavailable)) << result.status();
  }
  EXPECT_EQ(store::ErrorKindOf(Run(store::Incr(*client, "a")).status()), ErrorKind::kNotSent);
}

TEST_F(LiveCluster, MayBeDestroyedByAWaiter) {
  auto task = [this]() -> base::Task<void> {
    static_cast<void>(co_await store::Incr(*client, "a"));
    client.reset();
  };
  Run(task());
  EXPECT_EQ(client, nullptr);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
