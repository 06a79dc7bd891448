// Reads from replicas, against real clusters and sentinels: which servers answer, and that writes
// never reach a replica.
#include <gtest/gtest.h>

#include <memory>
#include <set>
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
#include "redouble/backends/redis/observe/command_event.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_sentinels.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using store::Reply;

class ReplicaReads : public LiveTest {
 protected:
  // Sends a command; words are split at single spaces. Keeps the nodes to which it was sent.
  Reply Ask(store::Store& store, const std::string& line) {
    nodes.clear();
    return Run(AskTask(store, line));
  }
  base::Task<Reply> AskTask(store::Store& store, std::string line) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    const std::vector<std::string_view> views(words.begin() + 1, words.end());
    const store::Command command = store::Command::Named(words[0], views);
    absl::StatusOr<Reply> reply = co_await store.Execute(command);
    if (!reply.ok()) co_return Reply::Error(std::string(reply.status().message()));
    co_return *std::move(reply);
  }
  // The nodes that answer 100 times the command, as "127.0.0.1:PORT".
  std::set<std::string> NodesOf(store::Store& store, const std::string& line,
                                const Reply& expected) {
    std::set<std::string> all;
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(Ask(store, line), expected);
      all.insert(nodes.back());
    }
    return all;
  }
  // Sends a read until this server answers it. Reads on a connection whose loss was not noticed may
  // fail, and a sentinel may not yet know that a replica follows the master.
  void ReadUntilItIs(store::Store& store, const SpawnedServer& server) {
    while (Ask(store, "GET a") != Reply::Bulk("1") || nodes.back() != AddressOf(server)) {
      Run(clock.Sleep(absl::Milliseconds(20)));
    }
  }
  // Waits until the server has the key's value.
  base::Task<void> AwaitValue(std::string uri, std::string key, std::string value) {
    Options options = Options::Parse(uri).value();
    options.readonly = readonly;
    auto client = co_await Client::Connect(context.get_executor(), options);
    if (!client.ok()) ADD_FAILURE() << client.status();
    while (client.ok() && co_await AskTask(**client, "GET " + key) != Reply::Bulk(value)) {
      co_await clock.Sleep(absl::Milliseconds(5));
    }
  }
  ClientHooks Hooks() {
    ClientHooks hooks;
    hooks.command = [this](const CommandEvent& event) {
      if (event.kind == CommandEvent::Kind::kSend) nodes.push_back(std::string(event.node));
    };
    return hooks;
  }
  static std::string AddressOf(const SpawnedServer& server) {
    return absl::StrCat("127.0.0.1:", server.port());
  }

  std::vector<std::string> nodes;
  bool readonly = false;
  AsioClock clock{context.get_executor()};
};

class ClusterReplicaReads : public ReplicaReads {
 protected:
  void SetUp() override {
    readonly = true;
    auto started = SpawnedCluster::Start({.masters = 3, .replicas = 1});
    ASSERT_THAT(started, IsOk());
    cluster = *std::move(started);
  }
  std::unique_ptr<ClusterClient> With(std::string_view read_from) {
    Options options =
        Options::Parse(absl::StrCat(cluster->uri(), "&read_from=", std::string(read_from))).value();
    options.command_timeout = absl::Seconds(20);
    options.health_check_interval = absl::Milliseconds(200);
    auto client = Run(ClusterClient::Connect(context.get_executor(), options, Hooks()));
    EXPECT_THAT(client, IsOk());
    return client.ok() ? *std::move(client) : nullptr;
  }

  std::unique_ptr<SpawnedCluster> cluster;
};

// The key a belongs to node 2, whose replica is node 5.
TEST_F(ClusterReplicaReads, GoToTheServersOfThePolicyAndWritesToTheMaster) {
  const std::string master = AddressOf(cluster->node(2));
  const std::string replica = AddressOf(cluster->node(5));
  const auto client = With("replica");
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(Ask(*client, "SET a 1"), Reply::Ok());
  EXPECT_EQ(nodes, std::vector<std::string>{master});
  Run(AwaitValue(cluster->node(5).loopback_uri(), "a", "1"));
  EXPECT_EQ(NodesOf(*client, "GET a", Reply::Bulk("1")), std::set<std::string>{replica});
  EXPECT_EQ(client->counters().moved, 0u);
  EXPECT_EQ(NodesOf(*With("replica_preferred"), "GET a", Reply::Bulk("1")),
            std::set<std::string>{replica});
  EXPECT_EQ(NodesOf(*With("any"), "GET a", Reply::Bulk("1")),
            (std::set<std::string>{master, replica}));
  EXPECT_EQ(NodesOf(*With("master"), "GET a", Reply::Bulk("1")), std::set<std::string>{master});

  store::Batch writes(store::Batch::Atomicity::kPipeline);
  writes.Add(store::CommandId::kGet, {"a"});
  writes.Add(store::CommandId::kIncr, {"a"});
  nodes.clear();
  EXPECT_THAT(Run(store::Execute(*client, writes)), IsOk());
  EXPECT_EQ(nodes, std::vector<std::string>{master});
  store::Batch transaction(store::Batch::Atomicity::kTransaction);
  transaction.Add(store::CommandId::kGet, {"a"});
  nodes.clear();
  EXPECT_THAT(Run(store::Execute(*client, transaction)), IsOk());
  EXPECT_EQ(nodes, std::vector<std::string>{master});
}

TEST_F(ClusterReplicaReads, ContinueWithoutAReplicaOrAMaster) {
  const auto preferred = With("replica_preferred");
  const auto replica = With("replica");
  ASSERT_TRUE(preferred != nullptr && replica != nullptr);
  EXPECT_EQ(Ask(*preferred, "SET a 1"), Reply::Ok());
  Run(AwaitValue(cluster->node(5).loopback_uri(), "a", "1"));
  EXPECT_EQ(Ask(*preferred, "GET a"), Reply::Bulk("1"));
  EXPECT_EQ(nodes.back(), AddressOf(cluster->node(5)));
  cluster->node(5).Kill();
  ReadUntilItIs(*preferred, cluster->node(2));
  // The replica comes back, and reads with it.
  ASSERT_THAT(cluster->node(5).Restart(), IsOk());
  ASSERT_THAT(cluster->WaitUntilServing(), IsOk());
  ReadUntilItIs(*preferred, cluster->node(5));
  // A read from replicas needs no master.
  cluster->node(2).Kill();
  ReadUntilItIs(*replica, cluster->node(5));
}

class SentinelReplicaReads : public ReplicaReads {
 protected:
  void SetUp() override {
    auto started = SpawnedSentinels::Start({.replicas = 2, .sentinels = 1});
    ASSERT_THAT(started, IsOk());
    watched = *std::move(started);
  }
  std::unique_ptr<SentinelClient> With(std::string_view read_from) {
    Options options =
        Options::Parse(absl::StrCat(watched->uri(), "&read_from=", std::string(read_from))).value();
    options.command_timeout = absl::Seconds(20);
    options.health_check_interval = absl::Milliseconds(200);
    auto client = Run(SentinelClient::Connect(context.get_executor(), options, Hooks()));
    EXPECT_THAT(client, IsOk());
    return client.ok() ? *std::move(client) : nullptr;
  }

  std::unique_ptr<SpawnedSentinels> watched;
};

TEST_F(SentinelReplicaReads, GoToTheServersOfThePolicyAndWritesToTheMaster) {
  const std::string master = AddressOf(watched->server(0));
  const std::set<std::string> replicas = {AddressOf(watched->server(1)),
                                          AddressOf(watched->server(2))};
  std::set<std::string> all = replicas;
  all.insert(master);
  const auto client = With("replica");
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(Ask(*client, "SET a 1"), Reply::Ok());
  EXPECT_EQ(nodes, std::vector<std::string>{master});
  Run(AwaitValue(watched->server(1).uri(), "a", "1"));
  Run(AwaitValue(watched->server(2).uri(), "a", "1"));
  ReadUntilItIs(*client, watched->server(1));
  ReadUntilItIs(*client, watched->server(2));
  EXPECT_EQ(NodesOf(*client, "GET a", Reply::Bulk("1")), replicas);
  EXPECT_EQ(NodesOf(*With("replica_preferred"), "GET a", Reply::Bulk("1")), replicas);
  EXPECT_EQ(NodesOf(*With("any"), "GET a", Reply::Bulk("1")), all);
  EXPECT_EQ(NodesOf(*With("master"), "GET a", Reply::Bulk("1")), std::set<std::string>{master});
}

TEST_F(SentinelReplicaReads, ContinueWithoutReplicasOrAMaster) {
  const auto preferred = With("replica_preferred");
  const auto replica = With("replica");
  ASSERT_TRUE(preferred != nullptr && replica != nullptr);
  EXPECT_EQ(Ask(*preferred, "SET a 1"), Reply::Ok());
  Run(AwaitValue(watched->server(1).uri(), "a", "1"));
  Run(AwaitValue(watched->server(2).uri(), "a", "1"));
  EXPECT_EQ(Ask(*replica, "GET a"), Reply::Bulk("1"));
  watched->server(1).Kill();
  ReadUntilItIs(*preferred, watched->server(2));
  EXPECT_EQ(NodesOf(*preferred, "GET a", Reply::Bulk("1")),
            std::set<std::string>{AddressOf(watched->server(2))});
  watched->server(2).Kill();
  ReadUntilItIs(*preferred, watched->server(0));
  EXPECT_EQ(NodesOf(*preferred, "GET a", Reply::Bulk("1")),
            std::set<std::string>{AddressOf(watched->server(0))});
  ASSERT_THAT(watched->server(2).Restart(), IsOk());
  ReadUntilItIs(*replica, watched->server(2));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
