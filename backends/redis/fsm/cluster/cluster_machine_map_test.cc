// Which map a ClusterMachine believes, and which nodes it keeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"
#include "redouble/backends/redis/fsm/cluster/scripted_cluster_for_test.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;

// A cluster that wants a map, after a MOVED.
void WantMap(Cluster& cluster) {
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.Answer("n1", Reply::Error("MOVED 3300 n1:7"));
  cluster.Pass(kPauseUs);
}

Reply AllAt(const std::string& host) { return Reply::Array({Range(0, 16383, host)}); }

const std::string& MasterOfB(const Cluster& cluster) {
  return cluster.machine.map().MasterOf(3300)->host;
}

TEST(ClusterMachine, DoesNotBelieveAMapOfAnOlderEpochIfAnotherNodeHasANewerOne) {
  Cluster cluster;
  cluster.machine.Start(cluster.now_us);
  cluster.AnswerMap(ThreeShards(), Info(5));
  WantMap(cluster);
  cluster.AnswerMap(AllAt("stale"), Info(4));
  EXPECT_EQ(MasterOfB(cluster), "n1");
  EXPECT_NE(cluster.MapAsked(), "") << "the next node is asked";
  cluster.AnswerMap(AllAt("n2"), Info(6));
  EXPECT_EQ(MasterOfB(cluster), "n2");
  EXPECT_EQ(cluster.MapAsked(), "");
}

TEST(ClusterMachine, BelievesANodeWithoutAMajorityOnlyIfAllNodesSayTheSame) {
  Cluster cluster;
  cluster.Open();
  WantMap(cluster);
  // A partitioned node may count its epoch up.
  cluster.AnswerMap(AllAt("stale"), Info(9, "fail"));
  cluster.AnswerMap(AllAt("n2"), Info(2));
  EXPECT_EQ(MasterOfB(cluster), "n2");
  cluster.Pass(kPauseUs);
  Cluster down;
  down.Open();
  WantMap(down);
  while (!down.MapAsked().empty()) down.AnswerMap(AllAt("n3"), Info(1, "fail"));
  EXPECT_EQ(MasterOfB(down), "n3");
}

TEST(ClusterMachine, AsksANodeLastThatSaysClusterdown) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Cluster cluster(TestOptions(), nullptr, base::Rng(seed));
    cluster.Open();
    RequestForTest get("GET b");
    cluster.Submit(get);
    cluster.Answer("n1", Reply::Error("CLUSTERDOWN The cluster is down"));
    cluster.Pass(kPauseUs);
    EXPECT_NE(cluster.MapAsked(), "n1") << seed;
  }
}

TEST(ClusterMachine, AsksTheNodesInRandomOrder) {
  std::set<std::string> first;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Cluster cluster(TestOptions(), nullptr, base::Rng(seed));
    cluster.Open();
    WantMap(cluster);
    first.insert(cluster.MapAsked());
  }
  EXPECT_EQ(first.size(), 3u);
}

TEST(ClusterMachine, BelievesAnOlderEpochWhenAllNodesHaveIt) {
  Cluster cluster;
  cluster.machine.Start(cluster.now_us);
  cluster.AnswerMap(ThreeShards(), Info(5));
  WantMap(cluster);
  while (!cluster.MapAsked().empty()) cluster.AnswerMap(AllAt("new"), Info(1));
  EXPECT_EQ(MasterOfB(cluster), "new") << "the cluster was made anew";
}

TEST(ClusterMachine, BelievesAnOlderEpochAfterAWhileIfSomeNodeDoesNotAnswer) {
  Cluster cluster;
  cluster.machine.Start(cluster.now_us);
  cluster.AnswerMap(ThreeShards(), Info(5));
  WantMap(cluster);
  int rounds = 0;
  for (; rounds < 10 && MasterOfB(cluster) == "n1"; ++rounds) {
    cluster.AnswerMap(NotConnected());
    while (!cluster.MapAsked().empty()) cluster.AnswerMap(AllAt("new"), Info(4));
    cluster.Pass(11 * kRefreshUs);
  }
  EXPECT_EQ(rounds, 4);
}

TEST(ClusterMachine, BelievesANodeThatDoesNotTellItsEpoch) {
  Cluster cluster;
  cluster.machine.Start(cluster.now_us);
  cluster.AnswerMap(ThreeShards(), Info(5));
  WantMap(cluster);
  cluster.AnswerMap(AllAt("n2"), Reply::Error("NOPERM this user has no permissions"));
  EXPECT_EQ(MasterOfB(cluster), "n2");
}

TEST(ClusterMachine, ForgetsNodesThatHaveLeft) {
  Cluster cluster;
  cluster.Open();
  RequestForTest slow("GET c");
  cluster.Submit(slow);
  WantMap(cluster);
  cluster.TakeLog();
  cluster.AnswerMap(AllAt("n4"));
  EXPECT_EQ(cluster.TakeLog(), (Log{"n1 forgotten", "n3 forgotten"})) << "n2 has a request";
  cluster.Answer("n2", Reply::Nil());
  EXPECT_TRUE(slow.completed());
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.Answer("n4", Reply::Error("MOVED 3300 n5:7"));
  cluster.Pass(kPauseUs);
  cluster.AnswerMap(AllAt("n5"));
  const Log log = cluster.TakeLog();
  EXPECT_NE(std::find(log.begin(), log.end(), "n2 forgotten"), log.end());
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
