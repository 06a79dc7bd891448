// Reads from replicas: which node a ClusterMachine with Options::read_from sends a request to.
#include <gtest/gtest.h>

#include <string>

#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"
#include "redouble/backends/redis/fsm/cluster/scripted_cluster_for_test.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;
using Kind = store::Request::Kind;

Options OptionsFor(ReadFrom policy) {
  Options options = TestOptions();
  options.read_from = policy;
  options.health_check_interval = absl::Microseconds(50 * kRefreshUs);
  return options;
}

Reply Shard(int64_t first, int64_t last, const std::string& master, const std::string& replica) {
  const auto node = [](const std::string& host) {
    return Reply::Array({Reply::Bulk(host), Reply::Integer(7)});
  };
  return Reply::Array({Reply::Integer(first), Reply::Integer(last), node(master), node(replica)});
}

// Each master has one replica: r1 follows n1, which serves b.
Reply ShardsWithReplicas() {
  return Reply::Array({Shard(0, 5460, "n1", "r1"), Shard(5461, 10922, "n2", "r2"),
                       Shard(10923, 16383, "n3", "r3")});
}

class ReadingCluster : public Cluster {
 public:
  explicit ReadingCluster(ReadFrom policy) : Cluster(OptionsFor(policy)) {
    machine.Start(now_us);
    AnswerMap(ShardsWithReplicas());
    TakeLog();
  }
};

TEST(ClusterMachineRead, SendsReadsToTheReplicaAndWritesToTheMaster) {
  for (const ReadFrom policy : {ReadFrom::kReplica, ReadFrom::kReplicaPreferred}) {
    ReadingCluster cluster(policy);
    RequestForTest get("GET b"), set("SET b 1");
    cluster.Submit(get);
    cluster.Submit(set);
    EXPECT_EQ(cluster.TakeLog(), (Log{"r1 < GET b", "n1 < SET b 1"}));
    cluster.Answer("r1", Reply::Bulk("v"));
    ExpectReply(get, Reply::Bulk("v"));
  }
  ReadingCluster cluster(ReadFrom::kMaster);
  RequestForTest get("GET b");
  cluster.Submit(get);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < GET b"});
}

TEST(ClusterMachineRead, SendsAPipelineToReplicasOnlyIfAllItsCommandsRead) {
  ReadingCluster cluster(ReadFrom::kReplica);
  RequestForTest reads(Kind::kPipeline, {"GET b", "GET c", "EXISTS b"});
  cluster.Submit(reads);
  EXPECT_EQ(cluster.TakeLog(), (Log{"r1 < GET b, EXISTS b", "r2 < GET c"}));
  RequestForTest mixed(Kind::kPipeline, {"GET b", "SET c 1"});
  cluster.Submit(mixed);
  EXPECT_EQ(cluster.TakeLog(), (Log{"n1 < GET b", "n2 < SET c 1"}));
  RequestForTest transaction(Kind::kTransaction, {"GET b"});
  cluster.Submit(transaction);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < multi, GET b, exec"});
  RequestForTest without_keys("DBSIZE");
  cluster.Submit(without_keys);
  EXPECT_EQ(cluster.TakeLog(), (Log{"n1 < DBSIZE", "n2 < DBSIZE", "n3 < DBSIZE"}));
}

TEST(ClusterMachineRead, AReplicaThatCannotBeReachedIsReplacedByTheMasterIfThePolicyAllowsIt) {
  ReadingCluster preferred(ReadFrom::kReplicaPreferred);
  RequestForTest get("GET b");
  preferred.Submit(get);
  preferred.Refuse("r1");
  preferred.TakeLog();
  preferred.PassInSteps(kRefreshUs);
  EXPECT_EQ(preferred.TakeLog().back(), "n1 < GET b");

  ReadingCluster replica(ReadFrom::kReplica);
  RequestForTest other("GET b");
  replica.Submit(other);
  replica.Refuse("r1");
  replica.TakeLog();
  replica.PassInSteps(kRefreshUs);
  EXPECT_EQ(replica.TakeLog().back(), "r1 < GET b");
}

TEST(ClusterMachineRead, AReplicaThatCannotAnswerIsAvoided) {
  for (const char* const error : {"MASTERDOWN Link with MASTER is down", "LOADING Redis is loading",
                                  "CLUSTERDOWN Hash slot not served"}) {
    ReadingCluster cluster(ReadFrom::kReplicaPreferred);
    RequestForTest get("GET b"), again("GET b");
    cluster.Submit(get);
    cluster.Answer("r1", Reply::Error(error));
    cluster.PassInSteps(kRefreshUs);
    EXPECT_EQ(cluster.TakeLog().back(), "n1 < GET b") << error;
    cluster.Submit(again);
    EXPECT_EQ(cluster.TakeLog().back(), "n1 < GET b") << error;
  }
}

TEST(ClusterMachineRead, FollowsTheRedirectionOfANodeThatIsNoReplicaAnyMore) {
  ReadingCluster cluster(ReadFrom::kReplica);
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.TakeLog();
  cluster.Answer("r1", Reply::Error("MOVED 3300 n2:7"));
  EXPECT_EQ(cluster.TakeLog()[0], "n2 < GET b");
}

TEST(ClusterMachineRead, WithoutAReplicaAReadWaitsForOneWithinItsTimeout) {
  Cluster cluster(OptionsFor(ReadFrom::kReplica));
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.PassInSteps(kPauseUs);
  cluster.AnswerMap(ShardsWithReplicas());
  cluster.PassInSteps(kRefreshUs);
  EXPECT_EQ(cluster.TakeLog().back(), "r1 < GET b");

  Cluster never(OptionsFor(ReadFrom::kReplica));
  never.Open();
  RequestForTest late("GET b");
  never.Submit(late);
  never.PassInSteps(kTimeoutUs);
  ExpectFailure(late, store::ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded,
                "the cluster did not answer within 100ms: no replica serves the slot");
}

TEST(ClusterMachineRead, AsksForTheMapAtLeastOnceInTheHealthCheckInterval) {
  ReadingCluster cluster(ReadFrom::kAny);
  cluster.PassInSteps(49 * kRefreshUs);
  EXPECT_EQ(cluster.MapAsked(), "");
  cluster.PassInSteps(kRefreshUs);
  EXPECT_NE(cluster.MapAsked(), "");
  ReadingCluster master(ReadFrom::kMaster);
  master.PassInSteps(1000 * kRefreshUs);
  EXPECT_EQ(master.MapAsked(), "");
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
