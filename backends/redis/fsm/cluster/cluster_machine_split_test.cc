// Commands over several slots, with Options::split_commands.
#include <gtest/gtest.h>

#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"
#include "redouble/backends/redis/fsm/cluster/scripted_cluster_for_test.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::ErrorKind;
using store::Reply;
using Kind = store::Request::Kind;

Options SplittingOptions() {
  Options options = TestOptions();
  options.split_commands = true;
  return options;
}

TEST(ClusterMachineSplit, SplitsACommandBySlot) {
  Cluster cluster(SplittingOptions());
  cluster.Open();
  RequestForTest mget("MGET a b {a}1");
  cluster.Submit(mget);
  EXPECT_EQ(cluster.TakeLog(), (Log{"n3 < MGET a {a}1", "n1 < MGET b"}));
  cluster.Answer("n1", Reply::Array({Reply::Array({Reply::Bulk("vb")})}));
  EXPECT_FALSE(mget.completed());
  cluster.Answer("n3", Reply::Array({Reply::Array({Reply::Bulk("va"), Reply::Nil()})}));
  ExpectReply(mget, Reply::Array({Reply::Bulk("va"), Reply::Bulk("vb"), Reply::Nil()}));
}

TEST(ClusterMachineSplit, SendsThePartsOfOneNodeTogether) {
  Cluster cluster(SplittingOptions());
  cluster.machine.Start(cluster.now_us);
  cluster.AnswerMap(Reply::Array({Range(0, 16383, "n1")}));
  RequestForTest del("DEL a b c");
  cluster.Submit(del);
  EXPECT_EQ(cluster.TakeLog(), (Log{"n1 < DEL a, DEL b, DEL c"}));
  cluster.Answer("n1", Reply::Array({Reply::Integer(1), Reply::Integer(0), Reply::Integer(1)}));
  ExpectReply(del, Reply::Integer(2));
}

TEST(ClusterMachineSplit, RedirectsThePartOfASlot) {
  Cluster cluster(SplittingOptions());
  cluster.Open();
  RequestForTest mset("MSET a 1 b 2");
  cluster.Submit(mset);
  cluster.Answer("n3", Reply::Array({Reply::Ok()}));
  cluster.TakeLog();
  cluster.Answer("n1", Reply::Array({Reply::Error("ASK 3300 n2:7")}));
  EXPECT_EQ(cluster.TakeLog(), Log{"n2 < ASKING, MSET b 2"});
  cluster.Answer("n2", Reply::Array({Reply::Ok(), Reply::Ok()}));
  ExpectReply(mset, Reply::Ok());
}

TEST(ClusterMachineSplit, ReportsThatAPartOfASplitCommandIsUnknown) {
  Cluster cluster(SplittingOptions());
  cluster.Open();
  RequestForTest mset("MSET a 1 b 2");
  cluster.Submit(mset);
  cluster.Answer("n3", Reply::Array({Reply::Ok()}));
  cluster.Answer("n1", Lost());
  ASSERT_TRUE(mset.completed());
  EXPECT_EQ(store::ErrorKindOf(mset.result().status()), ErrorKind::kOutcomeUnknown);
}

TEST(ClusterMachineSplit, SplitsCommandsOfAPipelineThatWaitedForTheMap) {
  Cluster cluster(SplittingOptions());
  cluster.machine.Start(cluster.now_us);
  RequestForTest pipeline(Kind::kPipeline, {"GET a", "EXISTS a b"});
  cluster.Submit(pipeline);
  cluster.AnswerMap(ThreeShards());
  cluster.Pass(kRefreshUs);
  EXPECT_EQ(cluster.TakeLog(), (Log{"n3 < GET a, EXISTS a", "n1 < EXISTS b"}));
  cluster.Answer("n3", Reply::Array({Reply::Bulk("v"), Reply::Integer(1)}));
  cluster.Answer("n1", Reply::Array({Reply::Integer(1)}));
  ExpectReply(pipeline, Reply::Array({Reply::Bulk("v"), Reply::Integer(2)}));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
