// Moves slots between two masters at random, on real servers and on engines that are the same
// nodes: the replies are equal, and so is what each node knows of the slots.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/sim/world/servers/cluster_bus.h"
#include "redouble/sim/world/servers/server_links.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;
using Words = std::vector<std::string>;

constexpr size_t kNodes = 2;
// {b} is in slot 3300, of node 0; {a} in slot 15495, of node 1.
constexpr std::string_view kTags[] = {"{b}", "{a}"};

// The replies of CLUSTER GETKEYSINSLOT are in the order of a hash table.
std::string TextOf(const Words& words, const Reply& reply) {
  if (words.size() < 2 || words[1] != "GETKEYSINSLOT") return reply.DebugString();
  std::vector<std::string> keys;
  for (const Reply& key : reply.elements()) keys.push_back(key.text());
  std::sort(keys.begin(), keys.end());
  return absl::StrJoin(keys, " ");
}

std::string Ask(store::Store& store, const Words& words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  const store::Command command = store::Command::Named(views[0], std::span(views).subspan(1));
  const absl::StatusOr<Reply> reply = base::Run(store.Execute(command));
  return reply.ok() ? TextOf(words, *reply) : reply.status().ToString();
}

// What the node knows: its slots, those that it moves, those of others, and the epochs.
std::string KnownSlots(store::Store& node) {
  const std::string nodes = Ask(node, {"CLUSTER", "NODES"});
  std::vector<std::string> known;
  for (const absl::string_view line : absl::StrSplit(absl::StripPrefix(nodes, "\""), "\\n")) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() < 8) continue;
    known.push_back(absl::StrCat(words[0], " ", words[2], " epoch ", words[6], " ",
                                 absl::StrJoin(words.begin() + 8, words.end(), " ")));
  }
  std::sort(known.begin(), known.end());
  return absl::StrJoin(known, "\n");
}

// The options of an engine that is the first master of the cluster.
memory::ClusterOptions OptionsOf(redis::SpawnedCluster& cluster) {
  const auto address = [&](size_t node) {
    return memory::ClusterAddress{.id = redis::SpawnedCluster::NodeId(node),
                                  .port = cluster.node(node).port()};
  };
  memory::ClusterOptions options;
  options.shards.clear();
  for (size_t i = 0; i < kNodes; ++i) {
    const int first = static_cast<int>(i) * 8192;
    memory::ClusterShard& shard = options.shards.emplace_back();
    shard.master = address(i);
    shard.slots = {{.first = first, .last = first + 8191}};
    shard.epoch = i + 1;
    for (size_t replica = i + kNodes; replica < cluster.size(); replica += kNodes) {
      shard.replicas.push_back(address(replica));
    }
  }
  return options;
}

class ClusterSlotsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = redis::SpawnedCluster::Start({.masters = kNodes});
    ASSERT_THAT(started, base::IsOk());
    cluster_ = *std::move(started);
    memory::ClusterOptions options = OptionsOf(*cluster_);
    for (size_t i = 0; i < kNodes; ++i) {
      options.self = i;
      servers_.push_back(std::make_unique<sim::WorldServer>(
          clock_, absl::StrCat(i), memory::EngineOptions{.cluster = options}));
      servers_.back()->engine().core().administration().set_migration_connector(&links_);
      engines_.push_back(servers_.back()->engine().Connect());
      auto client =
          redis::SyncClient::Connect(absl::StrCat("redis://127.0.0.1:", cluster_->node(i).port()));
      ASSERT_THAT(client, base::IsOk());
      clients_.push_back(*std::move(client));
    }
    bus_.emplace(std::vector<sim::WorldServer*>{servers_[0].get(), servers_[1].get()});
  }

  // The command on both sides, which must agree.
  void Both(size_t node, const Words& words) {
    steps_.push_back(absl::StrCat(node, "> ", absl::StrJoin(words, " ")));
    const std::string real = Ask(*clients_[node], words);
    const std::string ours = Ask(*engines_[node], words);
    ASSERT_EQ(ours, real) << absl::StrJoin(steps_, "\n") << "\nours knows\n"
                          << KnownSlots(*engines_[node]) << "\nthe server knows\n"
                          << KnownSlots(*clients_[node]);
  }

  // Lets the engines hear each other, and waits until the servers have.
  void Settle() {
    while (!bus_->news().empty()) bus_->Tell(bus_->news().front());
    for (size_t node = 0; node < kNodes; ++node) {
      const std::string ours = KnownSlots(*engines_[node]);
      std::string real = KnownSlots(*clients_[node]);
      // A node pings another one about once in a second; a question takes 50 microseconds or more.
      constexpr int kMostQuestions = 1'000'000;
      for (int i = 0; i < kMostQuestions && real != ours; ++i) real = KnownSlots(*clients_[node]);
      ASSERT_EQ(ours, real) << "node " << node << "\n" << absl::StrJoin(steps_, "\n");
    }
  }

  // An engine has the address of the server that it is compared with.
  sim::WorldServer* Find(std::string_view port) const {
    for (size_t i = 0; i < kNodes; ++i) {
      if (port == PortOf(i)) return servers_[i].get();
    }
    return nullptr;
  }
  std::string PortOf(size_t node) const { return absl::StrCat(cluster_->node(node).port()); }

  // One step of the move of a slot, in any order and with any node.
  void ChangeSlot(const std::string& slot) {
    const size_t node = rng_.Below(kNodes);
    const std::string id = redis::SpawnedCluster::NodeId(rng_.Below(kNodes));
    switch (rng_.Below(5)) {
      case 0:
        Both(node, {"CLUSTER", "SETSLOT", slot, "MIGRATING", id});
        break;
      case 1:
        Both(node, {"CLUSTER", "SETSLOT", slot, "IMPORTING", id});
        break;
      case 2:
        Both(node, {"CLUSTER", "SETSLOT", slot, "STABLE"});
        break;
      default:
        Both(node, {"CLUSTER", "SETSLOT", slot, "NODE", id});
    }
    Settle();
  }

  void UseKeys(const std::string& tag, const std::string& slot) {
    const size_t node = rng_.Below(kNodes);
    const std::string key = absl::StrCat(tag, rng_.Below(3));
    const std::string other = absl::StrCat(tag, rng_.Below(3));
    const std::vector<std::vector<Words>> uses = {
        {{"GET", key}},
        {{"SET", key, "1"}},
        {{"SET", key, "1"}},
        {{"DEL", key}},
        {{"MGET", key, other}},
        {{"MSET", key, "2", other, "2"}},
        {{"EXISTS", key, other}},
        {{"EVAL", "return redis.call('incr', KEYS[1])", "1", key}},
        {{"EVAL", "return {redis.call('incr', KEYS[1]), redis.call('incr', KEYS[2])}", "2", key,
          other}},
        {{"EVAL", "return redis.pcall('get', ARGV[1])", "0", key}},
        // What the script has deleted, it does not have any more.
        {{"EVAL", "redis.call('del', KEYS[1]) return redis.call('set', KEYS[1], 'new')", "1", key}},
        {{"MULTI"}, {"INCR", key}, {"INCR", other}, {"EXEC"}},
        {{"WATCH", key}, {"MULTI"}, {"GET", other}, {"EXEC"}, {"UNWATCH"}},
        {{"CLUSTER", "COUNTKEYSINSLOT", slot}},
        {{"CLUSTER", "GETKEYSINSLOT", slot, "10"}},
        {{"MIGRATE", "127.0.0.1", PortOf(1 - node), key, "0", "5000", "REPLACE"}},
        {{"MIGRATE", "127.0.0.1", PortOf(1 - node), "", "0", "5000", "KEYS", key, other}},
        {{"SPUBLISH", key, "x"}},
    };
    if (rng_.Below(3) == 0) Both(node, {"ASKING"});
    for (const Words& words : uses[rng_.Below(uses.size())]) Both(node, words);
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  std::unique_ptr<redis::SpawnedCluster> cluster_;
  sim::ServerLinks links_{[this](std::string_view, std::string_view port) { return Find(port); }};
  std::vector<std::unique_ptr<sim::WorldServer>> servers_;
  std::optional<sim::ClusterBus> bus_;
  std::vector<std::unique_ptr<memory::Session>> engines_;
  std::vector<std::unique_ptr<redis::SyncClient>> clients_;
  base::Rng rng_{2025};
  std::vector<std::string> steps_;
};

TEST_F(ClusterSlotsTest, AreMovedAsByRealServers) {
  constexpr int kSteps = 1500;
  for (int step = 0; step < kSteps && !HasFatalFailure(); ++step) {
    const std::string tag(kTags[rng_.Below(std::size(kTags))]);
    const std::string slot = absl::StrCat(base::KeySlot(tag));
    if (rng_.Below(6) == 0) {
      ChangeSlot(slot);
    } else {
      UseKeys(tag, slot);
    }
  }
}

TEST_F(ClusterSlotsTest, RedirectAClientThatIsBlocked) {
  const Words pop = {"BLPOP", "{b}0", "0"};
  auto client = redis::SyncClient::Connect(cluster_->node(0).uri());
  ASSERT_THAT(client, base::IsOk());
  std::string real;
  std::thread waiting([&] { real = Ask(**client, pop); });
  while (!absl::StrContains(Ask(*clients_[0], {"INFO", "clients"}), "blocked_clients:1")) {
  }
  const std::unique_ptr<memory::Session> session = servers_[0]->engine().Connect();
  const store::Command command(store::CommandId::kBLPop, {pop[1], pop[2]});
  auto task = [](store::Store& store,
                 const store::Command& sent) -> base::Task<absl::StatusOr<Reply>> {
    co_return co_await store.Execute(sent);
  }(*session, command);
  task.Start();

  const std::string slot = absl::StrCat(base::KeySlot(kTags[0]));
  const std::string target = redis::SpawnedCluster::NodeId(1);
  Both(1, {"CLUSTER", "SETSLOT", slot, "IMPORTING", redis::SpawnedCluster::NodeId(0)});
  Both(0, {"CLUSTER", "SETSLOT", slot, "MIGRATING", target});
  EXPECT_FALSE(task.done());
  Both(1, {"CLUSTER", "SETSLOT", slot, "NODE", target});
  Both(0, {"CLUSTER", "SETSLOT", slot, "NODE", target});
  waiting.join();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.TakeResult()->DebugString(), real);
}

TEST(ClusterReplica, ServesReadsAfterReadOnly) {
  auto cluster = redis::SpawnedCluster::Start({.masters = kNodes, .replicas = 1});
  ASSERT_THAT(cluster, base::IsOk());
  memory::ClusterOptions options = OptionsOf(**cluster);
  options.self_replica = 0;
  base::VirtualClock clock(absl::FromUnixSeconds(1'700'000'000));
  memory::Engine engine(clock, {.cluster = options});
  const std::unique_ptr<memory::Session> session = engine.Connect();
  auto client = redis::SyncClient::Connect((*cluster)->node(kNodes).uri());
  ASSERT_THAT(client, base::IsOk());
  EXPECT_EQ(KnownSlots(*session), KnownSlots(**client));
  const std::vector<Words> steps = {
      {"GET", "{b}1"},
      {"CLUSTER", "MYID"},
      {"READONLY"},
      {"GET", "{b}1"},
      {"MGET", "{b}1", "{b}2"},
      {"GET", "{a}1"},
      {"SET", "{b}1", "1"},
      {"EVAL", "return redis.call('get', KEYS[1])", "1", "{b}1"},
      {"EVAL_RO", "return redis.call('get', KEYS[1])", "1", "{b}1"},
      {"EVAL_RO", "return redis.call('get', KEYS[1])", "1", "{a}1"},
      {"MULTI"},
      {"GET", "{b}1"},
      {"EXEC"},
      {"MULTI"},
      {"GET", "{b}1"},
      {"SET", "{b}1", "1"},
      {"EXEC"},
      {"CLUSTER", "SETSLOT", "3300", "STABLE"},
      {"CLUSTER", "COUNTKEYSINSLOT", "3300"},
      {"READWRITE"},
      {"GET", "{b}1"},
      {"READONLY"},
      {"RESET"},
      {"GET", "{b}1"},
  };
  for (const Words& words : steps) {
    EXPECT_EQ(Ask(*session, words), Ask(**client, words)) << absl::StrJoin(words, " ");
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
