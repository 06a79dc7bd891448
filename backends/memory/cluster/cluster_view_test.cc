#include "redouble/backends/memory/cluster/cluster_view.h"

#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/error_text.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::memory {
namespace {

using Verdict = ClusterView::Verdict;
using base::IsOk;
using base::IsOkAndHolds;
using store::Command;
using store::CommandId;
using store::Reply;

constexpr std::string_view kCrossSlot = "CROSSSLOT Keys in request don't hash to the same slot";

// "b" is in slot 3300, "a" in 15495.
ClusterOptions TwoShards() {
  ClusterOptions options;
  options.shards = {
      {.master = {.id = "b22974ff292d9d3490df0ff19ba4352e43e9f4c2", .port = 7501},
       .slots = {{.first = 0, .last = 9999}},
       .replicas = {{.id = "0604cd1a96d538b054f2914865d2dcb441b2fff7", .port = 7503}}},
      {.master = {.id = "0c47e8719795bc641514cb99f7221f3347df66de", .port = 7502},
       .slots = {{.first = 10000, .last = 16383}}},
  };
  return options;
}

bool NoKey(std::string_view) { return false; }

ClusterView::Keys KeysOf(const ClusterView& view, CommandId id,
                         const std::vector<std::string_view>& arguments) {
  ClusterView::Keys keys(view);
  keys.Add(store::SpecOf(id), arguments, NoKey);
  return keys;
}

TEST(ClusterView, IsOneNodeThatServesEverythingByDefault) {
  const ClusterView view{ClusterOptions()};
  EXPECT_TRUE(view.is_up());
  EXPECT_EQ(view.shards().size(), 1u);
  EXPECT_EQ(view.ShardOf(0), 0);
  EXPECT_EQ(view.ShardOf(16383), 0);
  EXPECT_EQ(KeysOf(view, CommandId::kMGet, {"a", "{a}b"}).verdict({}), Verdict::kServes);
  EXPECT_EQ(KeysOf(view, CommandId::kMGet, {"a", "b"}).verdict({}), Verdict::kCrossSlot);
}

TEST(ClusterView, IsOneNodeWhenNoShardIsNamed) { EXPECT_TRUE(ClusterView({.shards = {}}).is_up()); }

TEST(ClusterView, IsTheLastShardWhenThereAreFewer) {
  ClusterOptions options = TwoShards();
  options.self = 9;
  EXPECT_EQ(ClusterView(options).self(), 1u);
}

TEST(ClusterView, GivesIdsToNodesThatHaveNone) {
  ClusterOptions options;
  options.shards[0].replicas = {{.port = 6380}};
  const ClusterView view(options);
  EXPECT_EQ(view.shards()[0].master.id.size(), 40u);
  EXPECT_EQ(view.shards()[0].replicas[0].id.size(), 40u);
  EXPECT_NE(view.shards()[0].master.id, view.shards()[0].replicas[0].id);
}

TEST(ClusterView, LeavesASlotThatIsNamedTwiceToTheFirstAndForgetsWhatIsNoSlot) {
  ClusterOptions options = TwoShards();
  options.shards[0].slots = {{.first = -5, .last = 0}};
  options.shards[1].slots = {{.first = 0, .last = 20000}};
  const ClusterView view(options);
  EXPECT_EQ(view.ShardOf(0), 0);
  EXPECT_EQ(view.ShardOf(1), 1);
  EXPECT_EQ(view.assigned_slots(), 16384);
}

TEST(ClusterView, SaysMovedToAKeyOfAnotherShard) {
  const ClusterView view(TwoShards());
  const ClusterView::Keys keys = KeysOf(view, CommandId::kGet, {"a"});
  EXPECT_EQ(keys.verdict({}), Verdict::kMoved);
  EXPECT_EQ(view.ErrorText(keys.verdict({}), keys.slot()), "MOVED 15495 127.0.0.1:7502");
  EXPECT_EQ(KeysOf(view, CommandId::kGet, {"b"}).verdict({}), Verdict::kServes);
}

TEST(ClusterView, SaysCrossSlotBeforeMoved) {
  const ClusterView view(TwoShards());
  EXPECT_EQ(KeysOf(view, CommandId::kMGet, {"a", "b"}).verdict({}), Verdict::kCrossSlot);
}

TEST(ClusterView, IsDownWhileASlotIsUnassigned) {
  ClusterOptions options = TwoShards();
  options.shards[1].slots = {{.first = 10000, .last = 15000}};
  const ClusterView view(options);
  EXPECT_FALSE(view.is_up());
  EXPECT_EQ(KeysOf(view, CommandId::kGet, {"b"}).verdict({}), Verdict::kDown);
  EXPECT_EQ(KeysOf(view, CommandId::kGet, {"a"}).verdict({}), Verdict::kNotServed);
  EXPECT_EQ(KeysOf(view, CommandId::kPing, {}).verdict({}), Verdict::kServes);
  EXPECT_EQ(view.ErrorText(Verdict::kDown, 3300), "CLUSTERDOWN The cluster is down");
  EXPECT_EQ(view.ErrorText(Verdict::kNotServed, 15495), "CLUSTERDOWN Hash slot not served");
}

TEST(ClusterView, LeavesUnknownKeysToTheCommand) {
  const ClusterView view{ClusterOptions()};
  EXPECT_EQ(KeysOf(view, CommandId::kZUnionStore, {"a", "x", "b", "c"}).verdict({}),
            Verdict::kServes);
}

TEST(ClusterView, AddsUpTheKeysOfSeveralCommands) {
  const ClusterView view{ClusterOptions()};
  ClusterView::Keys keys(view);
  EXPECT_EQ(keys.slot(), ClusterView::kNoSlot);
  keys.Add(store::SpecOf(CommandId::kPing), {}, NoKey);
  EXPECT_EQ(keys.slot(), ClusterView::kNoSlot);
  const std::vector<std::string_view> a = {"a"};
  const std::vector<std::string_view> b = {"b"};
  keys.Add(store::SpecOf(CommandId::kGet), a, NoKey);
  EXPECT_EQ(keys.slot(), 15495);
  EXPECT_EQ(keys.verdict({}), Verdict::kServes);
  keys.Add(store::SpecOf(CommandId::kGet), b, NoKey);
  EXPECT_EQ(keys.verdict({}), Verdict::kCrossSlot);
}

// The engine as a node. Replies of a single redis-server are in tests/conformance/cluster_cases;
// these cases need a second node, and are recorded from a cluster of three.
class ClusterEngine : public testing::Test {
 protected:
  explicit ClusterEngine(const ClusterOptions& cluster = TwoShards())
      : engine_(clock_, Options(cluster)), session_(engine_.Connect()) {}

  static EngineOptions Options(const ClusterOptions& cluster) {
    EngineOptions options;
    options.cluster = cluster;
    return options;
  }

  Reply Ask(std::string_view name, const std::vector<std::string_view>& arguments) {
    const Command command = Command::Named(name, arguments);
    const absl::StatusOr<Reply> reply = base::Run(Send(command));
    EXPECT_THAT(reply, IsOk());
    return reply.value_or(Reply());
  }
  base::Task<absl::StatusOr<Reply>> Send(const Command& command) {
    co_return co_await session_->Execute(command);
  }
  base::Task<absl::StatusOr<Reply>> Send(const store::Batch& batch) {
    co_return co_await session_->ExecuteRaw(batch);
  }

  base::VirtualClock clock_{absl::FromUnixMillis(1795226725004)};
  Engine engine_;
  std::unique_ptr<Session> session_;
};

TEST_F(ClusterEngine, SendsAClientToAnotherNode) {
  EXPECT_EQ(Ask("GET", {"a"}), Reply::Error("MOVED 15495 127.0.0.1:7502"));
  EXPECT_EQ(Ask("GET", {"b"}), Reply::Nil());
  EXPECT_EQ(Ask("SPUBLISH", {"a", "x"}), Reply::Error("MOVED 15495 127.0.0.1:7502"));
}

TEST_F(ClusterEngine, RefusesATransactionAfterMoved) {
  EXPECT_EQ(Ask("MULTI", {}), Reply::Ok());
  EXPECT_EQ(Ask("SET", {"{b}1", "1"}), Reply::Status("QUEUED"));
  EXPECT_EQ(Ask("SET", {"a", "1"}), Reply::Error("MOVED 15495 127.0.0.1:7502"));
  EXPECT_EQ(Ask("EXEC", {}), Reply::Error(error_text::kExecAbort));
}

TEST_F(ClusterEngine, RefusesABatchOfSeveralSlotsWhole) {
  store::Batch batch(store::Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kSet, {"{b}1", "1"});
  batch.Add(CommandId::kSet, {"{c}1", "1"});
  EXPECT_THAT(base::Run(Send(batch)), IsOkAndHolds(Reply::Error(kCrossSlot)));
  EXPECT_EQ(Ask("GET", {"{b}1"}), Reply::Nil());
  EXPECT_EQ(Ask("EXEC", {}), Reply::Error("ERR EXEC without MULTI"));
}

TEST_F(ClusterEngine, LetsNoScriptReachAnotherNode) {
  EXPECT_EQ(Ask("EVAL", {"return redis.pcall('get', 'a')", "0"}),
            Reply::Error("ERR Script attempted to access a non local key in a cluster node"));
  EXPECT_EQ(Ask("EVAL", {"return redis.pcall('get', '{c}1')", "1", "b"}), Reply::Nil());
}

class ClusterMigration : public ClusterEngine {
 protected:
  ClusterMigration() : ClusterEngine({.migrates_in_scripts = true}) {}
};

// As observed on redis-server 7.0.15.
TEST_F(ClusterMigration, RefusesAKeyThatTheScriptHasDeletedAfterWhatItHasWritten) {
  EXPECT_EQ(Ask("MSET", {"{t}a", "1", "{t}b", "1"}), Reply::Ok());
  const std::string_view script =
      "redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[2], '2') "
      "return redis.call('GET', KEYS[1])";
  EXPECT_THAT(Ask("EVAL", {script, "2", "{t}a", "{t}b"}).text(),
              testing::StartsWith(
                  "ERR Script attempted to access a non local key in a cluster node script: "));
  EXPECT_EQ(Ask("GET", {"{t}b"}), Reply::Bulk("2"));
  EXPECT_EQ(Ask("EVAL", {script, "2", "{t}a", "{t}b"}), Reply::Nil())
      << "without a key, the script waits for the end of the migration";
}

TEST_F(ClusterMigration, LeavesTransactionsWhole) {
  EXPECT_EQ(Ask("SET", {"a", "1"}), Reply::Ok());
  EXPECT_EQ(Ask("MULTI", {}), Reply::Ok());
  EXPECT_EQ(Ask("DEL", {"a"}), Reply::Status("QUEUED"));
  EXPECT_EQ(Ask("GET", {"a"}), Reply::Status("QUEUED"));
  EXPECT_EQ(Ask("EXEC", {}).elements().back(), Reply::Nil());
}

TEST_F(ClusterEngine, DescribesNodes) {
  EXPECT_EQ(Ask("CLUSTER", {"NODES"}).text(),
            "b22974ff292d9d3490df0ff19ba4352e43e9f4c2 127.0.0.1:7501@17501 myself,master - 0 0 0 "
            "connected 0-9999\n"
            "0604cd1a96d538b054f2914865d2dcb441b2fff7 127.0.0.1:7503@17503 slave "
            "b22974ff292d9d3490df0ff19ba4352e43e9f4c2 0 1795226725004 0 connected\n"
            "0c47e8719795bc641514cb99f7221f3347df66de 127.0.0.1:7502@17502 master - 0 "
            "1795226725004 1 connected 10000-16383\n");
}

TEST_F(ClusterEngine, DescribesSlots) {
  EXPECT_EQ(Ask("CLUSTER", {"SLOTS"}).DebugString(),
            "[[0, 9999, [\"127.0.0.1\", 7501, \"b22974ff292d9d3490df0ff19ba4352e43e9f4c2\", []], "
            "[\"127.0.0.1\", 7503, \"0604cd1a96d538b054f2914865d2dcb441b2fff7\", []]], "
            "[10000, 16383, [\"127.0.0.1\", 7502, \"0c47e8719795bc641514cb99f7221f3347df66de\", "
            "[]]]]");
}

TEST_F(ClusterEngine, DescribesShards) {
  const Reply shards = Ask("CLUSTER", {"SHARDS"});
  ASSERT_EQ(shards.elements().size(), 2u);
  EXPECT_EQ(shards.elements()[0].elements()[1].DebugString(), "[0, 9999]");
  EXPECT_EQ(shards.elements()[0].elements()[3].elements()[1].DebugString(),
            "[\"id\", \"0604cd1a96d538b054f2914865d2dcb441b2fff7\", \"port\", 7503, \"ip\", "
            "\"127.0.0.1\", \"endpoint\", \"127.0.0.1\", \"role\", \"replica\", "
            "\"replication-offset\", 0, \"health\", \"online\"]");
  EXPECT_EQ(shards.elements()[1].elements()[1].DebugString(), "[10000, 16383]");
}

TEST_F(ClusterEngine, CountsNodesAndShards) {
  const Reply info = Ask("CLUSTER", {"INFO"});
  EXPECT_NE(info.text().find("cluster_known_nodes:3\r\ncluster_size:2\r\n"), std::string::npos);
  EXPECT_NE(info.text().find("cluster_current_epoch:1\r\ncluster_my_epoch:0\r\n"),
            std::string::npos);
}

// The ids of TwoShards().
constexpr std::string_view kSelf = "b22974ff292d9d3490df0ff19ba4352e43e9f4c2";
constexpr std::string_view kReplica = "0604cd1a96d538b054f2914865d2dcb441b2fff7";
constexpr std::string_view kOther = "0c47e8719795bc641514cb99f7221f3347df66de";

TEST_F(ClusterEngine, DescribesReplicas) {
  const Reply lines = Reply::Array(
      {Reply::Bulk("0604cd1a96d538b054f2914865d2dcb441b2fff7 127.0.0.1:7503@17503 slave "
                   "b22974ff292d9d3490df0ff19ba4352e43e9f4c2 0 1795226725004 0 connected")});
  EXPECT_EQ(Ask("CLUSTER", {"REPLICAS", kSelf}), lines);
  EXPECT_EQ(Ask("CLUSTER", {"SLAVES", kSelf}), lines);
  EXPECT_EQ(Ask("CLUSTER", {"REPLICAS", kOther}), Reply::EmptyArray());
  EXPECT_EQ(Ask("CLUSTER", {"REPLICAS", kReplica}),
            Reply::Error("ERR The specified node is not a master"));
  EXPECT_EQ(Ask("CLUSTER", {"COUNT-FAILURE-REPORTS", kReplica}), Reply::Integer(0));
}

TEST_F(ClusterEngine, RefusesWhatANodeRefusesToDoWithOtherNodes) {
  const Reply not_a_master = Reply::Error("ERR Target node is not a master");
  EXPECT_EQ(Ask("CLUSTER", {"SETSLOT", "12000", "IMPORTING", kReplica}), not_a_master);
  EXPECT_EQ(Ask("CLUSTER", {"SETSLOT", "1", "MIGRATING", kReplica}), not_a_master);
  EXPECT_EQ(Ask("CLUSTER", {"SETSLOT", "1", "NODE", kReplica}), not_a_master);
  EXPECT_EQ(Ask("CLUSTER", {"SETSLOT", "12000", "MIGRATING", kOther}),
            Reply::Error("ERR I'm not the owner of hash slot 12000"));
  EXPECT_EQ(Ask("CLUSTER", {"REPLICATE", kReplica}),
            Reply::Error("ERR I can only replicate a master, not a replica."));
  EXPECT_EQ(Ask("CLUSTER", {"REPLICATE", kOther}),
            Reply::Error("ERR To set a master the node must be empty and without assigned slots."));
  EXPECT_EQ(Ask("CLUSTER", {"SET-CONFIG-EPOCH", "5"}),
            Reply::Error("ERR The user can assign a config epoch only when the node does not know "
                         "any other node."));
  Ask("SET", {"b", "1"});
  EXPECT_EQ(Ask("CLUSTER", {"SETSLOT", "3300", "NODE", kOther}),
            Reply::Error("ERR Can't assign hashslot 3300 to a different node while I still hold "
                         "keys for this hash slot."));
}

TEST_F(ClusterEngine, DoesWhatChangesNothing) {
  EXPECT_EQ(Ask("CLUSTER", {"SETSLOT", "12000", "NODE", kOther}), Reply::Ok());
  EXPECT_EQ(Ask("CLUSTER", {"SETSLOT", "1", "STABLE"}), Reply::Ok());
}

class NewestClusterEngine : public ClusterEngine {
 protected:
  static ClusterOptions Newest() {
    ClusterOptions options = TwoShards();
    options.self = 1;
    return options;
  }
  NewestClusterEngine() : ClusterEngine(Newest()) {}
};

TEST_F(NewestClusterEngine, HasTheNewestEpochAlready) {
  EXPECT_EQ(Ask("CLUSTER", {"BUMPEPOCH"}), Reply::Status("STILL 1"));
}

TEST_F(ClusterEngine, SaysThatItsNodesNeverChange) {
  const std::vector<std::vector<std::string_view>> changes = {
      {"FORGET", kOther}, {"FORGET", kReplica}, {"MEET", "127.0.0.1", "7504"},
      {"RESET"},          {"RESET", "HARD"},    {"MEET", "::1", "7504", "7505"},
  };
  const std::string nodes = Ask("CLUSTER", {"NODES"}).text();
  for (const std::vector<std::string_view>& change : changes) {
    EXPECT_EQ(Ask("CLUSTER", change),
              Reply::Error("ERR not done: the nodes of a simulated cluster never change"))
        << change[0];
  }
  EXPECT_EQ(Ask("CLUSTER", {"NODES"}).text(), nodes);
  EXPECT_EQ(Ask("CLUSTER", {"SAVECONFIG"}), Reply::Error(error_text::kNothingIsSaved));
}

TEST_F(ClusterEngine, ChangesItsSlots) {
  EXPECT_EQ(Ask("CLUSTER", {"DELSLOTS", "1", "2"}), Reply::Ok());
  EXPECT_EQ(Ask("CLUSTER", {"DELSLOTSRANGE", "5", "9", "16382", "16383"}), Reply::Ok());
  EXPECT_EQ(Ask("GET", {"b"}), Reply::Error("CLUSTERDOWN The cluster is down"));
  EXPECT_EQ(Ask("CLUSTER", {"ADDSLOTS", "2", "16383"}), Reply::Ok());
  EXPECT_EQ(Ask("CLUSTER", {"ADDSLOTSRANGE", "1", "1", "5", "9", "16382", "16382"}), Reply::Ok());
  EXPECT_EQ(Ask("GET", {"b"}), Reply::Nil());
  const std::string nodes = Ask("CLUSTER", {"NODES"}).text();
  EXPECT_NE(nodes.find("connected 0-9999 16382-16383\n"), std::string::npos) << nodes;
  EXPECT_EQ(Ask("CLUSTER", {"FLUSHSLOTS"}), Reply::Ok());
  EXPECT_EQ(Ask("GET", {"b"}), Reply::Error("CLUSTERDOWN Hash slot not served"));
}

TEST_F(ClusterEngine, EndsTheWaitOfAClientWhoseSlotHasMoved) {
  const std::unique_ptr<Session> other = engine_.Connect();
  const Command pop(CommandId::kBLPop, {"b", "0"});
  base::Task<absl::StatusOr<Reply>> waiting =
      [](Session& session, const Command& command) -> base::Task<absl::StatusOr<Reply>> {
    co_return co_await session.Execute(command);
  }(*other, pop);
  waiting.Start();
  EXPECT_EQ(Ask("CLUSTER", {"SETSLOT", "3300", "MIGRATING", kOther}), Reply::Ok());
  EXPECT_FALSE(waiting.done());
  EXPECT_EQ(Ask("CLUSTER", {"SETSLOT", "3300", "NODE", kOther}), Reply::Ok());
  ASSERT_TRUE(waiting.done());
  EXPECT_THAT(waiting.TakeResult(), IsOkAndHolds(Reply::Error("MOVED 3300 127.0.0.1:7502")));
}

class LonelyClusterEngine : public ClusterEngine {
 protected:
  LonelyClusterEngine() : ClusterEngine(ClusterOptions()) {}
};

TEST_F(LonelyClusterEngine, HasTheEpochThatItIsGivenOnce) {
  EXPECT_EQ(Ask("CLUSTER", {"SET-CONFIG-EPOCH", "5"}), Reply::Ok());
  EXPECT_EQ(Ask("CLUSTER", {"SET-CONFIG-EPOCH", "6"}),
            Reply::Error("ERR Node config epoch is already non-zero"));
  EXPECT_EQ(Ask("CLUSTER", {"BUMPEPOCH"}), Reply::Status("STILL 5"));
}

TEST_F(LonelyClusterEngine, BumpsItsFirstEpoch) {
  EXPECT_EQ(Ask("CLUSTER", {"BUMPEPOCH"}), Reply::Status("BUMPED 1"));
  EXPECT_EQ(Ask("CLUSTER", {"BUMPEPOCH"}), Reply::Status("STILL 1"));
}

TEST_F(ClusterEngine, AllowsEverythingThatNamesNoKey) {
  EXPECT_EQ(Ask("DBSIZE", {}), Reply::Integer(0));
  EXPECT_EQ(Ask("KEYS", {"*"}), Reply::EmptyArray());
}

class DownClusterEngine : public ClusterEngine {
 protected:
  static ClusterOptions Gap() {
    ClusterOptions options = TwoShards();
    options.shards[1].slots = {{.first = 10000, .last = 15000}, {.first = 15002, .last = 15002}};
    return options;
  }
  DownClusterEngine() : ClusterEngine(Gap()) {}
};

TEST_F(DownClusterEngine, ServesNothingWhileASlotIsUnassigned) {
  EXPECT_EQ(Ask("GET", {"b"}), Reply::Error("CLUSTERDOWN The cluster is down"));
  EXPECT_EQ(Ask("GET", {"a"}), Reply::Error("CLUSTERDOWN Hash slot not served"));
  EXPECT_EQ(Ask("EVAL", {"return redis.pcall('get', 'b')", "0"}),
            Reply::Error("ERR Script attempted to execute a command while the cluster is down"));
  EXPECT_EQ(Ask("CLUSTER", {"ADDSLOTS", "15001", "15001"}),
            Reply::Error("ERR Slot 15001 specified multiple times"));
  EXPECT_EQ(Ask("CLUSTER", {"ADDSLOTS", "15000", "15001"}),
            Reply::Error("ERR Slot 15000 is already busy"));
  EXPECT_EQ(Ask("CLUSTER", {"ADDSLOTSRANGE", "16000", "16010", "16010", "16020"}),
            Reply::Error("ERR Slot 16010 specified multiple times"));
  EXPECT_EQ(Ask("CLUSTER", {"DELSLOTS", "1", "15001"}),
            Reply::Error("ERR Slot 15001 is already unassigned"));
  EXPECT_TRUE(Ask("CLUSTER", {"INFO"})
                  .text()
                  .starts_with("cluster_state:fail\r\ncluster_slots_assigned:15002\r\n"));
  const std::string nodes = Ask("CLUSTER", {"NODES"}).text();
  EXPECT_TRUE(nodes.ends_with(" connected 10000-15000 15002\n")) << nodes;
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
