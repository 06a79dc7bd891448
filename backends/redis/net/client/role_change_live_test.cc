// What the clients do when a server changes its role, or the nodes of a cluster disagree, and no
// connection is lost. The tests change the roles by hand, as an operator does.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/redis/net/asio_clock.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/client/following_subscriber.h"
#include "redouble/backends/redis/net/client/sentinel_client.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/observe/command_event.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_sentinels.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::Batch;
using store::Command;
using store::CommandId;
using store::Reply;

class RoleChange : public LiveTest {
 protected:
  template <typename Condition>
  base::Task<void> Until(Condition condition) {
    while (!condition()) co_await clock.Sleep(absl::Milliseconds(5));
  }

  // Sends a command to a server, over a connection of its own. Words are split at single spaces.
  base::Task<Reply> AskTask(std::string uri, std::string line) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    Options options = Options::Parse(uri).value();
    auto connected = co_await Client::Connect(context.get_executor(), options, Sharing::kDedicated);
    if (!connected.ok()) co_return Reply::Error(std::string(connected.status().message()));
    std::vector<std::string_view> views(words.begin() + 1, words.end());
    const Command command = Command::Named(words[0], views);
    absl::StatusOr<Reply> reply = co_await (*connected)->Execute(command);
    if (!reply.ok()) co_return Reply::Error(std::string(reply.status().message()));
    co_return *std::move(reply);
  }
  Reply Ask(const SpawnedServer& server, const std::string& line) {
    return Run(AskTask(server.uri(), line));
  }

  // Makes server(1) the master, server(0) its replica, and tells it the only sentinel, which then
  // publishes nothing. No connection is lost.
  void SwapRoles(SpawnedSentinels& watched) {
    const std::string old_port = absl::StrCat(watched.server(0).port());
    const std::string new_port = absl::StrCat(watched.server(1).port());
    EXPECT_EQ(Ask(watched.server(1), "REPLICAOF NO ONE"), Reply::Ok());
    EXPECT_EQ(Ask(watched.server(0), absl::StrCat("REPLICAOF 127.0.0.1 ", new_port)), Reply::Ok());
    EXPECT_EQ(Ask(watched.sentinel(0), "SENTINEL REMOVE mymaster"), Reply::Ok());
    EXPECT_EQ(Ask(watched.sentinel(0),
                  absl::StrCat("SENTINEL MONITOR mymaster 127.0.0.1 ", new_port, " 1")),
              Reply::Ok());
  }

  // A client of the master that one sentinel watches, connected to server(0). It reports its
  // commands in `events`.
  std::unique_ptr<SentinelClient> ClientOf(SpawnedSentinels& watched) {
    auto client = Run(SentinelClient::Connect(context.get_executor(),
                                              Options::Parse(watched.uri()).value(), Hooks()));
    EXPECT_THAT(client, IsOk());
    return client.ok() ? *std::move(client) : nullptr;
  }

  ClientHooks Hooks() {
    ClientHooks hooks;
    hooks.command = [this](const CommandEvent& event) {
      static constexpr const char* kNames[] = {"start", "send", "redirect", "end"};
      const std::string_view cause = event.cause.substr(0, event.cause.find(' '));
      events.push_back(absl::StrCat(kNames[static_cast<size_t>(event.kind)], " ",
                                    RequestName(*event.request), " ", std::string(event.node), " ",
                                    event.sends, "/", event.redirects, " ", std::string(cause)));
    };
    return hooks;
  }
  static std::string AddressOf(const SpawnedServer& server) {
    return absl::StrCat("127.0.0.1:", server.port());
  }

  std::vector<Reply> RunBatch(store::Store& store, Batch::Atomicity atomicity) {
    Batch batch(atomicity);
    batch.Add(CommandId::kSet, {"a", "1"});
    batch.Add(CommandId::kIncr, {"a"});
    absl::StatusOr<std::vector<Reply>> replies = Run(store::Execute(store, batch));
    EXPECT_THAT(replies, IsOk());
    return replies.ok() ? *std::move(replies) : std::vector<Reply>{};
  }

  std::vector<std::string> events;
  AsioClock clock{context.get_executor()};
};

constexpr SpawnedSentinelsOptions kPair = {.replicas = 1, .sentinels = 1};

TEST_F(RoleChange, ARefusedPipelineIsSentToTheNewMaster) {
  auto watched = SpawnedSentinels::Start(kPair);
  ASSERT_THAT(watched, IsOk());
  const auto client = ClientOf(**watched);
  ASSERT_NE(client, nullptr);
  SwapRoles(**watched);
  EXPECT_EQ(RunBatch(*client, Batch::Atomicity::kPipeline),
            (std::vector<Reply>{Reply::Ok(), Reply::Integer(2)}));
  EXPECT_EQ(client->master()->port, (*watched)->server(1).port());
  EXPECT_EQ(client->counters().masters, 2u);
  EXPECT_EQ(client->traffic().losses, 0u) << "READONLY began the search, not a lost connection";
  const std::string first = AddressOf((*watched)->server(0));
  const std::string second = AddressOf((*watched)->server(1));
  EXPECT_EQ(events, (std::vector<std::string>{"start PIPELINE  0/0 ",
                                              absl::StrCat("send PIPELINE ", first, " 1/0 "),
                                              absl::StrCat("redirect PIPELINE ", first, " 1/1 the"),
                                              absl::StrCat("send PIPELINE ", second, " 2/1 "),
                                              absl::StrCat("end PIPELINE ", second, " 2/1 ")}));
}

TEST_F(RoleChange, ARefusedTransactionIsSentToTheNewMaster) {
  auto watched = SpawnedSentinels::Start(kPair);
  ASSERT_THAT(watched, IsOk());
  const auto client = ClientOf(**watched);
  ASSERT_NE(client, nullptr);
  SwapRoles(**watched);
  EXPECT_EQ(RunBatch(*client, Batch::Atomicity::kTransaction),
            (std::vector<Reply>{Reply::Ok(), Reply::Integer(2)}));
  EXPECT_EQ(client->master()->port, (*watched)->server(1).port());
  EXPECT_EQ(client->counters().masters, 2u);
  EXPECT_EQ(client->traffic().losses, 0u) << "EXECABORT began the search, not a lost connection";
}

// A pipeline of which a part was run is not sent again, but the next master is searched at once.
TEST_F(RoleChange, APartlyRefusedPipelineBeginsTheSearch) {
  auto watched = SpawnedSentinels::Start(kPair);
  ASSERT_THAT(watched, IsOk());
  const auto client = ClientOf(**watched);
  ASSERT_NE(client, nullptr);
  SwapRoles(**watched);
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kEcho, {"read"});
  batch.Add(CommandId::kSet, {"a", "1"});
  const absl::StatusOr<std::vector<Reply>> replies = Run(store::Execute(*client, batch));
  ASSERT_THAT(replies, IsOk());
  EXPECT_EQ((*replies)[0], Reply::Bulk("read"));
  EXPECT_TRUE(absl::StartsWith((*replies)[1].text(), "READONLY "));
  Run(Until(
      [&] { return client->master() && client->master()->port == (*watched)->server(1).port(); }));
  EXPECT_THAT(Run(store::Set(*client, "a", "2")), IsOk());
}

// The messages of a sentinel are followed again after the subscription was refused or lost.
TEST_F(RoleChange, AFailedSubscriptionToTheSameSentinelIsTriedAgain) {
  auto watched = SpawnedSentinels::Start(kPair);
  ASSERT_THAT(watched, IsOk());
  SpawnedServer& sentinel = (*watched)->sentinel(0);
  ASSERT_EQ(Ask(sentinel, "ACL SETUSER default -subscribe"), Reply::Ok());
  const auto client = ClientOf(**watched);
  ASSERT_NE(client, nullptr);
  const auto subscribed = [&]() -> base::Task<bool> {
    const Reply list = co_await AskTask(sentinel.uri(), "CLIENT LIST TYPE pubsub");
    co_return absl::StrContains(list.text(), " sub=1 ");
  };
  const auto until_subscribed = [&]() -> base::Task<void> {
    while (!co_await subscribed()) co_await clock.Sleep(absl::Milliseconds(10));
  };
  // The sentinel names the master while it refuses the subscription.
  const auto refused = [&] {
    const Reply log = Ask(sentinel, "ACL LOG");
    return log.is_array() && !log.elements().empty();
  };
  while (!refused()) Run(clock.Sleep(absl::Milliseconds(10)));
  EXPECT_FALSE(Run(subscribed()));
  ASSERT_EQ(Ask(sentinel, "ACL SETUSER default +subscribe"), Reply::Ok());
  Run(until_subscribed());

  EXPECT_EQ(Ask(sentinel, "CLIENT KILL TYPE pubsub"), Reply::Integer(1));
  Run(until_subscribed());
  // The message tells the idle client where the master is.
  EXPECT_EQ(Ask(sentinel, "SENTINEL FAILOVER mymaster"), Reply::Ok());
  Run(Until(
      [&] { return client->master() && client->master()->port == (*watched)->server(1).port(); }));
}

// The name of the server leads to another one: here the port changes hands, and the connection to
// the old server stays.
// A master and its replica. After a failover the name of the master resolves to the other server.
class NamedMaster : public RoleChange {
 protected:
  void SetUp() override {
    SpawnedServerOptions options;
    options.listen_on_loopback = true;
    for (auto* server : {&first, &second}) {
      auto started = SpawnedServer::Start(options);
      ASSERT_THAT(started, IsOk());
      *server = *std::move(started);
    }
    port = absl::StrCat(first->port());
    auto connected = Run(Client::Connect(
        context.get_executor(), Options::Parse(absl::StrCat("redis://localhost:", port)).value()));
    ASSERT_THAT(connected, IsOk());
    client = *std::move(connected);
  }
  void FailOver() {
    ASSERT_EQ(Ask(*first, "CONFIG SET port 0"), Reply::Ok());
    ASSERT_EQ(Ask(*second, absl::StrCat("CONFIG SET port ", port)), Reply::Ok());
    ASSERT_EQ(Ask(*first, absl::StrCat("REPLICAOF 127.0.0.1 ", port)), Reply::Ok());
  }

  std::unique_ptr<SpawnedServer> first, second;
  std::string port;
  std::unique_ptr<Client> client;
};

TEST_F(NamedMaster, IsLeftWhenItBecameAReplica) {
  ASSERT_THAT(Run(store::Set(*client, "before", "1")), IsOk());
  FailOver();
  const absl::Status refused = Run(store::Set(*client, "after", "1")).status();
  EXPECT_EQ(store::ServerErrorCode(refused), "READONLY") << refused;
  EXPECT_THAT(Run(store::Set(*client, "after", "2")), IsOk());
  EXPECT_EQ(Ask(*second, "GET after"), Reply::Bulk("2"));
  EXPECT_EQ(client->counters().connects, 2u);
}

// They have connections of their own.
TEST_F(NamedMaster, IsLeftByBlockingCommands) {
  const Reply popped = Reply::Array({Reply::Bulk("list"), Reply::Bulk("element")});
  ASSERT_EQ(Ask(*first, "RPUSH list element element"), Reply::Integer(2));
  std::vector<base::Task<absl::StatusOr<Reply>>> pops;
  for (int i = 0; i < 2; ++i) pops.push_back(SendWords(*client, {"BLPOP", "list", "0"}));
  for (const auto& reply : Run(base::WhenAll(std::move(pops)))) {
    EXPECT_THAT(reply, IsOkAndHolds(popped));
  }
  FailOver();
  ASSERT_EQ(Ask(*second, "RPUSH list element element"), Reply::Integer(2));
  const auto refused = Send(*client, {"BLPOP", "list", "0"});
  ASSERT_THAT(refused, IsOk());
  EXPECT_TRUE(refused->is_error() && absl::StartsWith(refused->text(), "READONLY ")) << *refused;
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Send(*client, {"BLPOP", "list", "0"}), IsOkAndHolds(popped));
  }
}

// Two nodes that each say that the other one serves the slot.
TEST_F(RoleChange, ACircularRedirectionIsFollowedSlowlyUntilItIsHealed) {
  auto cluster = SpawnedCluster::Start({.masters = 3});
  ASSERT_THAT(cluster, IsOk());
  const auto client = Run(ClusterClient::Connect(
      context.get_executor(), Options::Parse((*cluster)->uri()).value(), Hooks()));
  ASSERT_THAT(client, IsOk());
  ASSERT_THAT(Run(store::Set(**client, "a{0}", "1")), IsOk());
  const std::string slot = absl::StrCat(base::KeySlot("a{0}"));
  size_t owner = 0;
  while ((*cluster)->node(owner).port() != (*client)->map().MasterOf(base::KeySlot("a{0}"))->port) {
    ++owner;
  }
  const size_t other = (owner + 1) % 3;
  ASSERT_EQ(Ask((*cluster)->node(owner), "DEL a{0}"), Reply::Integer(1))
      << "a node does not give away a slot that has keys";
  const auto assign = [&](size_t node, size_t to) {
    const std::string id = SpawnedCluster::NodeId(to);
    EXPECT_EQ(Ask((*cluster)->node(node), absl::StrCat("CLUSTER SETSLOT ", slot, " NODE ", id)),
              Reply::Ok());
  };
  assign(owner, other);

  const absl::Time start = clock.Now();
  const uint64_t moved_before = (*client)->counters().moved;
  const absl::Status failed = Run(store::Incr(**client, "a{0}")).status();
  EXPECT_EQ(store::ServerErrorCode(failed), "MOVED") << failed;
  const std::string from = AddressOf((*cluster)->node(owner));
  const std::string to = AddressOf((*cluster)->node(other));
  ASSERT_GE(events.size(), 8u);
  EXPECT_EQ(std::vector<std::string>(events.begin() + 3, events.begin() + 8),
            (std::vector<std::string>{"start INCR  0/0 ", absl::StrCat("send INCR ", from, " 1/0 "),
                                      absl::StrCat("redirect INCR ", from, " 1/1 MOVED"),
                                      absl::StrCat("send INCR ", to, " 2/1 "),
                                      absl::StrCat("redirect INCR ", to, " 2/2 MOVED")}));
  const Options& options = (*client)->options();
  EXPECT_EQ((*client)->counters().moved - moved_before,
            static_cast<uint64_t>(options.redirections));
  // Only the first time that each node redirects it, the command is sent on at once.
  EXPECT_GE(clock.Now() - start, (options.redirections - 3) * options.refresh_interval);

  base::Task<absl::StatusOr<int64_t>> healed = store::Incr(**client, "a{0}");
  healed.Start();
  Run(Until([&] { return healed.done() || (*client)->counters().moved > moved_before + 18; }));
  EXPECT_FALSE(healed.done());
  assign(owner, owner);
  Run(Until([&] { return healed.done(); }));
  EXPECT_THAT(healed.TakeResult(), IsOkAndHolds(1));
}

// The nodes announce a name that the client cannot resolve, as behind NAT.
TEST_F(RoleChange, NodesAreReachedAtTheirMappedAddresses) {
  SpawnedClusterOptions hidden;
  hidden.config = {"cluster-announce-hostname nodes.invalid",
                   "cluster-preferred-endpoint-type hostname"};
  auto cluster = SpawnedCluster::Start(hidden);
  ASSERT_THAT(cluster, IsOk());
  const auto connect = [&](const std::string& query) {
    return Run(ClusterClient::Connect(
        context.get_executor(),
        Options::Parse(absl::StrCat((*cluster)->uri(), "&command_timeout=20s", query)).value()));
  };
  auto client = connect("&address_map=nodes.invalid~127.0.0.1");
  ASSERT_THAT(client, IsOk());
  // Each node learns the names of the others within some milliseconds.
  const auto all_named = [&] {
    const std::vector<TcpAddress> masters = (*client)->map().Masters();
    return std::all_of(masters.begin(), masters.end(),
                       [](const TcpAddress& master) { return master.host == "nodes.invalid"; });
  };
  while (!all_named()) {
    Run(clock.Sleep(absl::Milliseconds(20)));
    client = connect("&address_map=nodes.invalid~127.0.0.1");
    ASSERT_THAT(client, IsOk());
  }
  for (const std::string key : {"a", "b", "c"}) {
    EXPECT_THAT(Run(store::Set(**client, key, "1")), IsOk());
    ASSERT_OK_AND_ASSIGN(const Options master, (*client)->OptionsOfMaster(key));
    EXPECT_EQ(std::get<TcpAddress>(master.address).host, "127.0.0.1");
  }
  const auto subscriber =
      Run(FollowingSubscriber::Connect(context.get_executor(), (*client)->options()));
  ASSERT_THAT(subscriber, IsOk());
  const std::string_view channels[] = {"a", "b", "c"};
  ASSERT_THAT(Run(store::SSubscribe(**subscriber, channels)), IsOk());
  RunUntil([&] { return (*subscriber)->confirmed() == 3; });
  const auto unmapped = connect("&reconnect=no");
  ASSERT_THAT(unmapped, IsOk()) << "the node of the options gives the map";
  EXPECT_FALSE(Run(store::Set(**unmapped, "a", "2")).ok());
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
