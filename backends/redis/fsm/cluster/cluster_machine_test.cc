#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "redouble/backends/redis/fsm/cluster/scripted_cluster_for_test.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::ErrorKind;
using store::Reply;
using Kind = store::Request::Kind;

// Starting, and the map.

TEST(ClusterMachine, AsksTheFirstNodeForTheMap) {
  Cluster cluster;
  cluster.machine.Start(cluster.now_us);
  cluster.Collect();
  EXPECT_EQ(cluster.TakeLog(), Log{"seed map"});
  EXPECT_FALSE(cluster.machine.ready());
  cluster.AnswerMap(ThreeShards());
  EXPECT_TRUE(cluster.machine.ready());
  EXPECT_EQ(cluster.TakeLog(), Log{});
}

TEST(ClusterMachine, AsksTheSeedsInTheirOrderWhenOthersFail) {
  Options options = TestOptions();
  options.seeds = {{"seed2", 1}, {"seed3", 1}};
  Cluster cluster(options);
  cluster.machine.Start(cluster.now_us);
  cluster.AnswerMap(NotConnected());
  EXPECT_EQ(cluster.TakeLog(), Log{"seed2 map"});
  cluster.AnswerMap(Reply::Error("ERR This instance has cluster support disabled"));
  EXPECT_EQ(cluster.TakeLog(), Log{"seed3 map"});
  EXPECT_THAT(cluster.machine.start_status(), IsOk());
  cluster.AnswerMap(ThreeShards());
  EXPECT_TRUE(cluster.machine.ready());
}

TEST(ClusterMachine, ReportsWhyNoNodeReturnedAMap) {
  Cluster cluster;
  cluster.machine.Start(cluster.now_us);
  cluster.AnswerMap(Reply::EmptyArray());
  EXPECT_FALSE(cluster.machine.ready());
  EXPECT_EQ(cluster.machine.start_status().message(), "seed:1 belongs to a cluster without slots");
}

TEST(ClusterMachine, KeepsRequestsUntilThereIsAMap) {
  Cluster cluster;
  cluster.machine.Start(cluster.now_us);
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.AnswerMap(ThreeShards());
  cluster.Pass(kRefreshUs);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < GET b"});
}

TEST(ClusterMachine, LimitsHowOftenItAsksForTheMap) {
  Cluster cluster;
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.TakeLog();
  cluster.Answer("n1", Reply::Error("MOVED 3300 n2:7"));
  // refresh_interval has not passed since the first map.
  EXPECT_EQ(cluster.TakeLog(), Log{"n2 < GET b"});
  cluster.Pass(kRefreshUs - 1);
  EXPECT_EQ(cluster.MapAsked(), "");
  cluster.Pass(kPauseUs);
  EXPECT_NE(cluster.MapAsked(), "");
  // The machine asks one node at a time; Collect() expects it.
  cluster.Answer("n2", Reply::Error("MOVED 3300 n3:7"));
  cluster.Pass(kPauseUs);
  cluster.AnswerMap(ThreeShards());
  cluster.Pass(0);
  EXPECT_NE(cluster.MapAsked(), "");
}

TEST(ClusterMachine, AsksNodesThatFailedLast) {
  Cluster cluster;
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.Answer("n1", NotConnected());
  cluster.Pass(kPauseUs);
  std::set<std::string> first;
  for (int i = 0; i < 2; ++i) {
    first.insert(cluster.MapAsked());
    cluster.AnswerMap(NotConnected());
  }
  EXPECT_EQ(first, (std::set<std::string>{"n2", "n3"}));
  EXPECT_EQ(cluster.MapAsked(), "seed");
  cluster.AnswerMap(NotConnected());
  EXPECT_EQ(cluster.MapAsked(), "n1");
  cluster.AnswerMap(NotConnected());
  EXPECT_EQ(cluster.MapAsked(), "");
  cluster.Pass(kRefreshUs - 1);
  EXPECT_EQ(cluster.MapAsked(), "");
  cluster.Pass(3 * kRefreshUs);
  EXPECT_NE(cluster.MapAsked(), "") << "a round without a map is followed by another";
}

Reply AllAt(const std::string& host) { return Reply::Array({Range(0, 16383, host)}); }

// Routing.

TEST(ClusterMachine, SendsACommandToTheMasterOfItsSlot) {
  Cluster cluster;
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < GET b"});
  cluster.Answer("n1", Reply::Bulk("v"));
  ExpectReply(get, Reply::Bulk("v"));
}

TEST(ClusterMachine, PutsTheRepliesOfAPipelineIntoTheCallersOrder) {
  Cluster cluster;
  cluster.Open();
  RequestForTest batch(Kind::kPipeline, {"GET a", "GET b", "INCR a", "GET c", "INCR b"});
  cluster.Submit(batch);
  EXPECT_EQ(cluster.TakeLog(), (Log{"n3 < GET a, INCR a", "n1 < GET b, INCR b", "n2 < GET c"}));
  cluster.Answer("n2", Reply::Array({Reply::Bulk("4")}));
  cluster.Answer("n1", Reply::Array({Reply::Bulk("2"), Reply::Integer(5)}));
  EXPECT_FALSE(batch.completed());
  cluster.Answer("n3", Reply::Array({Reply::Bulk("1"), Reply::Integer(3)}));
  ExpectReply(batch, Reply::Array({Reply::Bulk("1"), Reply::Bulk("2"), Reply::Integer(3),
                                   Reply::Bulk("4"), Reply::Integer(5)}));
}

TEST(ClusterMachine, SendsNothingOfABatchWithACommandOfSeveralSlots) {
  Cluster cluster;
  cluster.Open();
  RequestForTest batch(Kind::kPipeline, {"GET a", "DEL a b"});
  cluster.Submit(batch);
  EXPECT_EQ(cluster.TakeLog(), Log{});
  ASSERT_TRUE(batch.completed());
  EXPECT_THAT(batch.result(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ClusterMachine, SendsATransactionWholeToOneNode) {
  Cluster cluster;
  cluster.Open();
  RequestForTest transaction(Kind::kTransaction, {"INCR b", "EXPIRE b 5"});
  cluster.Submit(transaction);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < multi, INCR b, EXPIRE b 5, exec"});
  const Reply done = Reply::Array({Reply::Integer(1), Reply::Integer(1)});
  cluster.Answer(
      "n1", Reply::Array({Reply::Ok(), Reply::Status("QUEUED"), Reply::Status("QUEUED"), done}));
  ExpectReply(transaction, done);
}

TEST(ClusterMachine, RefusesATransactionOfSeveralSlotsBeforeSending) {
  Cluster cluster;
  cluster.Open();
  RequestForTest transaction(Kind::kTransaction, {"SET a 1", "SET b 2"});
  cluster.Submit(transaction);
  EXPECT_EQ(cluster.TakeLog(), Log{});
  ASSERT_TRUE(transaction.completed());
  EXPECT_EQ(store::ErrorKindOf(transaction.result().status()), ErrorKind::kNotSent);
}

TEST(ClusterMachine, RefusesWhatWouldChangeASharedConnection) {
  Cluster cluster;
  cluster.Open();
  RequestForTest watch("WATCH a");
  cluster.Submit(watch);
  ASSERT_TRUE(watch.completed());
  EXPECT_THAT(watch.result(), StatusIs(absl::StatusCode::kFailedPrecondition));
  RequestForTest blocking(Kind::kPipeline, {"BLPOP b 1"});
  cluster.Submit(blocking);
  ASSERT_TRUE(blocking.completed());
  EXPECT_THAT(blocking.result(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ClusterMachine, AsksAllMastersAndMergesTheirReplies) {
  Cluster cluster;
  cluster.Open();
  RequestForTest batch(Kind::kPipeline, {"DBSIZE", "GET b"});
  cluster.Submit(batch);
  EXPECT_EQ(cluster.TakeLog(), (Log{"n1 < DBSIZE, GET b", "n2 < DBSIZE", "n3 < DBSIZE"}));
  cluster.Answer("n3", Reply::Array({Reply::Integer(100)}));
  cluster.Answer("n1", Reply::Array({Reply::Integer(1), Reply::Bulk("v")}));
  cluster.Answer("n2", Reply::Array({Reply::Integer(10)}));
  ExpectReply(batch, Reply::Array({Reply::Integer(111), Reply::Bulk("v")}));
}

TEST(ClusterMachine, ScansOneMasterAfterTheOther) {
  Cluster cluster;
  cluster.Open();
  RequestForTest first("SCAN 0 COUNT 5");
  cluster.Submit(first);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < SCAN 0 COUNT 5"});
  cluster.Answer("n1", Reply::Array({Reply::Array({Reply::Bulk("0"), Reply::EmptyArray()})}));
  ExpectReply(first, Reply::Array({Reply::Bulk("1"), Reply::EmptyArray()}));
  RequestForTest second("SCAN 1 COUNT 5");
  cluster.Submit(second);
  EXPECT_EQ(cluster.TakeLog(), Log{"n2 < SCAN 0 COUNT 5"});
  cluster.Answer("n2", Reply::Array({Reply::Array({Reply::Bulk("6"), Reply::EmptyArray()})}));
  ExpectReply(second, Reply::Array({Reply::Bulk("19"), Reply::EmptyArray()}));
}

// Redirections.

TEST(ClusterMachine, FollowsASlotThatMovedAndRemembersIt) {
  Cluster cluster;
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.Answer("n1", Reply::Error("MOVED 3300 n4:7"));
  cluster.Answer("n4", Reply::Bulk("v"));
  ExpectReply(get, Reply::Bulk("v"));
  cluster.TakeLog();
  RequestForTest again("GET b");
  cluster.Submit(again);
  EXPECT_EQ(cluster.TakeLog(), Log{"n4 < GET b"});
  EXPECT_EQ(cluster.machine.counters().moved, 1u);
}

TEST(ClusterMachine, AsksWhereAKeyIsBeingMovedTo) {
  Cluster cluster;
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.TakeLog();
  cluster.Answer("n1", Reply::Error("ASK 3300 n2:7"));
  EXPECT_EQ(cluster.TakeLog(), Log{"n2 < ASKING, GET b"});
  cluster.Answer("n2", Reply::Array({Reply::Ok(), Reply::Bulk("v")}));
  ExpectReply(get, Reply::Bulk("v"));
  // ASK applies to one command only.
  RequestForTest again("GET b");
  cluster.Submit(again);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < GET b"});
  EXPECT_EQ(cluster.machine.counters().asked, 1u);
}

TEST(ClusterMachine, SendsOnOnlyThoseOfAPipelineThatWereNotRun) {
  Cluster cluster;
  cluster.Open();
  RequestForTest batch(Kind::kPipeline, {"GET b", "INCR {b}x", "INCR {b}y", "GET {b}z"});
  cluster.Submit(batch);
  cluster.TakeLog();
  cluster.Answer("n1", Reply::Array({Reply::Bulk("v"), Reply::Error("ASK 3300 n2:7"),
                                     Reply::Error("ASK 3300 n2:7"), Reply::Bulk("z")}));
  EXPECT_EQ(cluster.TakeLog(), Log{"n2 < ASKING, INCR {b}x, ASKING, INCR {b}y"});
  cluster.Answer("n2",
                 Reply::Array({Reply::Ok(), Reply::Integer(1), Reply::Ok(), Reply::Integer(2)}));
  ExpectReply(batch, Reply::Array({Reply::Bulk("v"), Reply::Integer(1), Reply::Integer(2),
                                   Reply::Bulk("z")}));
}

TEST(ClusterMachine, SendsATransactionOnThatWasDiscardedForARedirection) {
  Cluster cluster;
  cluster.Open();
  RequestForTest transaction(Kind::kTransaction, {"INCR b"});
  cluster.Submit(transaction);
  cluster.TakeLog();
  const Reply abort = Reply::Error("EXECABORT Transaction discarded because of previous errors.");
  cluster.Answer("n1", Reply::Array({Reply::Ok(), Reply::Error("ASK 3300 n2:7"), abort}));
  EXPECT_EQ(cluster.TakeLog(), Log{"n2 < ASKING, multi, INCR b, exec"});
  cluster.Answer("n2",
                 Reply::Array({Reply::Ok(), Reply::Ok(), Reply::Error("MOVED 3300 n3:7"), abort}));
  EXPECT_EQ(cluster.TakeLog(), Log{"n3 < multi, INCR b, exec"});
  // EXEC itself may reply with a redirection.
  cluster.Answer(
      "n3", Reply::Array({Reply::Ok(), Reply::Status("QUEUED"), Reply::Error("MOVED 3300 n1:7")}));
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < multi, INCR b, exec"});
  cluster.Answer("n1", Reply::Array({Reply::Ok(), Reply::Error("ERR unknown"), abort}));
  ExpectReply(transaction, abort);
}

TEST(ClusterMachine, TriesAgainLaterWhileKeysAreMoving) {
  Cluster cluster;
  cluster.Open();
  RequestForTest mget("MGET b {b}x");
  cluster.Submit(mget);
  cluster.TakeLog();
  cluster.Answer("n1", Reply::Error("TRYAGAIN Multiple keys request during rehashing of slot"));
  EXPECT_EQ(cluster.TakeLog(), Log{});
  cluster.Pass(kRefreshUs);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < MGET b {b}x"});
  cluster.Answer("n1", Reply::EmptyArray());
  ExpectReply(mget, Reply::EmptyArray());
}

TEST(ClusterMachine, WaitsForAClusterThatIsDownAndLooksForItsMap) {
  Cluster cluster;
  cluster.Open();
  cluster.Pass(kPauseUs);
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.TakeLog();
  cluster.Answer("n1", Reply::Error("CLUSTERDOWN The cluster is down"));
  cluster.Pass(0);
  cluster.AnswerMap(Reply::Array({Range(0, 16383, "n2")}));
  cluster.TakeLog();
  cluster.Pass(kRefreshUs);
  EXPECT_EQ(cluster.TakeLog(), Log{"n2 < GET b"});
}

TEST(ClusterMachine, WaitsForAClusterThatIsDownAsLongAsItsTimeAllows) {
  Cluster cluster;
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  const Reply down = Reply::Error("CLUSTERDOWN The cluster is down");
  for (int64_t passed_us = 0; passed_us < kTimeoutUs; passed_us += kRefreshUs) {
    ASSERT_FALSE(get.completed()) << "after " << passed_us;
    if (!cluster.sent.empty()) cluster.Answer(cluster.sent.begin()->second, down);
    if (!cluster.MapAsked().empty()) cluster.AnswerMap(ThreeShards());
    cluster.Pass(kRefreshUs);
  }
  ASSERT_TRUE(get.completed());
  EXPECT_THAT(get.result(), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(ClusterMachine, ReturnsTheLastErrorAfterTooManyRedirections) {
  Cluster cluster;
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.Answer("n1", Reply::Error("MOVED 3300 n2:7"));
  cluster.Answer("n2", Reply::Error("MOVED 3300 n3:7"));
  cluster.Answer("n3", Reply::Error("MOVED 3300 n4:7"));
  EXPECT_FALSE(get.completed());
  cluster.Answer("n4", Reply::Error("MOVED 3300 n5:7"));
  ExpectReply(get, Reply::Error("MOVED 3300 n5:7"));
}

TEST(ClusterMachine, SlowsDownACommandThatNodesSendInACircle) {
  Cluster cluster;
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.Answer("n1", Reply::Error("MOVED 3300 n2:7"));
  cluster.TakeLog();
  cluster.Answer("n2", Reply::Error("MOVED 3300 n1:7"));
  EXPECT_EQ(cluster.TakeLog(), Log{});
  cluster.Pass(kRefreshUs);
  EXPECT_EQ(cluster.sent.begin()->second, "n1");
  cluster.Answer("n1", Reply::Error("MOVED 3300 n2:7"));
  cluster.TakeLog();
  EXPECT_TRUE(cluster.sent.empty());
  cluster.Pass(kRefreshUs);
  cluster.Answer("n2", Reply::Error("MOVED 3300 n1:7"));
  ExpectReply(get, Reply::Error("MOVED 3300 n1:7"));
}

TEST(ClusterMachine, WaitsForAnUnservedSlotAsLongAsItsTimeAllows) {
  Options options = TestOptions();
  options.redirections = 0;
  Cluster cluster(options);
  cluster.machine.Start(cluster.now_us);
  cluster.AnswerMap(Reply::Array({Range(0, 5460, "n1")}));
  RequestForTest get("GET a");
  RequestForTest ping("PING");
  cluster.Submit(get);
  cluster.Submit(ping);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < PING"});
  for (int64_t passed_us = 0; passed_us < kTimeoutUs; passed_us += kRefreshUs) {
    EXPECT_FALSE(get.completed());
    cluster.Pass(kRefreshUs);
  }
  ExpectFailure(get, ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded,
                "the cluster did not answer within 100ms: no node serves the slot");
}

// Failures.

TEST(ClusterMachine, FailsALostRequestAndReadsTheMapAgain) {
  Cluster cluster;
  cluster.Open();
  cluster.Pass(kPauseUs);
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.TakeLog();
  cluster.Answer("n1", Lost());
  ExpectFailure(get, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the connection was lost");
  cluster.Pass(0);
  EXPECT_NE(cluster.MapAsked(), "");
  EXPECT_NE(cluster.MapAsked(), "n1");
}

TEST(ClusterMachine, SendsAgainWhatWasNotSentOnlyWhenAskedTo) {
  RequestForTest incr("INCR b");
  Cluster never;
  never.Open();
  never.Submit(incr);
  never.Answer("n1", NotConnected());
  ExpectFailure(incr, ErrorKind::kNotSent, absl::StatusCode::kUnavailable, "no way to the node");

  Options options = TestOptions();
  options.retry = RetryPolicy::kNotSent;
  Cluster asked(options);
  asked.Open();
  RequestForTest again("INCR b");
  asked.Submit(again);
  asked.TakeLog();
  asked.Answer("n1", NotConnected());
  asked.Pass(kRefreshUs);
  EXPECT_EQ(asked.TakeLog().back(), "n1 < INCR b");
  asked.Answer("n1", Lost());
  ExpectFailure(again, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the connection was lost");
}

TEST(ClusterMachine, KeepsWhatHasNoNodeUntilTheMapNamesOne) {
  Cluster cluster;
  cluster.Open();
  RequestForTest incr("INCR b");
  cluster.Submit(incr);
  for (int i = 0; i < 2 * TestOptions().redirections; ++i) {
    cluster.Refuse("n1");
    cluster.Pass(kPauseUs);
    cluster.AnswerMap(ThreeShards());
  }
  cluster.Refuse("n1");
  cluster.Pass(kPauseUs);
  cluster.AnswerMap(AllAt("n2"));
  cluster.Refuse("n1");
  cluster.Pass(kPauseUs);
  EXPECT_EQ(cluster.sent.begin()->second, "n2");
}

TEST(ClusterMachine, ReportsTheReasonOfATimeout) {
  Cluster cluster;
  cluster.Open();
  RequestForTest incr("INCR b");
  cluster.Submit(incr);
  cluster.Refuse("n1");
  cluster.Pass(kTimeoutUs);
  ExpectFailure(incr, ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded,
                "the cluster did not answer within 100ms: no way to the node");
}

TEST(ClusterMachine, FailsAtOnceWithoutANodeWhenItShallNotReconnect) {
  Options options = TestOptions();
  options.reconnect = false;
  Cluster cluster(options);
  cluster.Open();
  RequestForTest incr("INCR b");
  cluster.Submit(incr);
  cluster.Refuse("n1");
  ExpectFailure(incr, ErrorKind::kNotSent, absl::StatusCode::kUnavailable, "no way to the node");
}

TEST(ClusterMachine, DoesNotTryAgainWhatANodeRefused) {
  Options options = TestOptions();
  options.retry = RetryPolicy::kIdempotent;
  Cluster cluster(options);
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.Answer("n1",
                 store::NotSentError("the queue is full", absl::StatusCode::kResourceExhausted));
  ExpectFailure(get, ErrorKind::kNotSent, absl::StatusCode::kResourceExhausted,
                "the queue is full");
}

TEST(ClusterMachine, SendsAgainWhatOnlyReadsWhenThatIsAskedFor) {
  Options options = TestOptions();
  options.retry = RetryPolicy::kIdempotent;
  options.attempts = 2;
  Cluster cluster(options);
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.Answer("n1", Lost());
  EXPECT_FALSE(get.completed());
  cluster.Pass(kRefreshUs);
  cluster.Answer("n1", Lost());
  EXPECT_TRUE(get.completed());
  RequestForTest incr("INCR b");
  cluster.Submit(incr);
  cluster.Answer("n1", Lost());
  EXPECT_TRUE(incr.completed());
}

TEST(ClusterMachine, SendsAgainWhatIsDeclaredIdempotent) {
  Options options = TestOptions();
  options.retry = RetryPolicy::kIdempotent;
  Cluster cluster(options, [](const store::Request& request) {
    return request.commands()[0].id() == store::CommandId::kSet;
  });
  cluster.Open();
  RequestForTest set("SET b 1");
  RequestForTest incr("INCR b");
  cluster.Submit(set);
  cluster.Submit(incr);
  cluster.Answer("n1", Lost());
  cluster.Answer("n1", Lost());
  EXPECT_FALSE(set.completed());
  EXPECT_TRUE(incr.completed());
  cluster.Pass(kRefreshUs);
  cluster.Answer("n1", Reply::Ok());
  EXPECT_TRUE(set.completed());
}

TEST(ClusterMachine, DoesNotCallAPipelineNotSentOfWhichAPartWas) {
  Cluster cluster;
  cluster.Open();
  RequestForTest batch(Kind::kPipeline, {"INCR a", "INCR b"});
  cluster.Submit(batch);
  cluster.Answer("n1", NotConnected());
  EXPECT_FALSE(batch.completed());
  cluster.Answer("n3", Reply::Array({Reply::Integer(1)}));
  ExpectFailure(batch, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "a part of the request was answered, another was not sent: no way to the node");
}

TEST(ClusterMachine, LetsAnUnknownOutcomeOutweighWhatWasNotSent) {
  Cluster cluster;
  cluster.Open();
  RequestForTest batch(Kind::kPipeline, {"INCR a", "INCR b", "INCR c"});
  cluster.Submit(batch);
  cluster.Answer("n1", NotConnected());
  cluster.Answer("n2", Lost());
  cluster.Answer("n3", NotConnected());
  ExpectFailure(batch, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the connection was lost");
}

TEST(ClusterMachine, FailsAPartWithTheWrongNumberOfReplies) {
  Cluster cluster;
  cluster.Open();
  RequestForTest batch(Kind::kPipeline, {"INCR b", "INCR b"});
  cluster.Submit(batch);
  cluster.Answer("n1", Reply::Array({Reply::Integer(1)}));
  ExpectFailure(batch, ErrorKind::kProtocol, absl::StatusCode::kInternal,
                "a node gave another number of replies than it was asked for");
}

TEST(ClusterMachine, EndsARequestAfterItsTimeWhateverItWaitsFor) {
  Cluster cluster;
  cluster.Open();
  RequestForTest sent("INCR b");
  RequestForTest waiting("INCR c");
  cluster.Submit(sent);
  cluster.Submit(waiting);
  cluster.Pass(kTimeoutUs - 1);
  cluster.Answer("n2", Reply::Error("TRYAGAIN"));
  cluster.TakeLog();
  cluster.Pass(1);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 drop"});
  ExpectFailure(sent, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "the cluster did not answer within 100ms");
  ExpectFailure(waiting, ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded,
                "the cluster did not answer within 100ms: TRYAGAIN");
  cluster.Pass(kRefreshUs);
  EXPECT_TRUE(cluster.sent.empty());
}

TEST(ClusterMachine, LimitsABlockingCommandByItsOwnTimeout) {
  Cluster cluster;
  cluster.Open();
  RequestForTest pop("BLPOP b 0.05");
  cluster.Submit(pop);
  for (int64_t passed_us = 0; passed_us < 150'000; passed_us += kRefreshUs) {
    EXPECT_FALSE(pop.completed());
    if (!cluster.sent.empty()) cluster.Refuse("n1");
    if (!cluster.MapAsked().empty()) cluster.AnswerMap(ThreeShards());
    cluster.Pass(kRefreshUs);
  }
  ASSERT_TRUE(pop.completed());
  EXPECT_THAT(pop.result(), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(ClusterMachine, EndsABlockingCommandAtTheLimitForAll) {
  Options options = TestOptions();
  options.blocking_timeout = absl::Milliseconds(200);
  Cluster cluster(options);
  cluster.Open();
  RequestForTest pop("BLPOP b 0");
  cluster.Submit(pop);
  cluster.Pass(200'000);
  ExpectFailure(pop, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "the cluster did not answer within 200ms");
}

TEST(ClusterMachine, RefusesRequestsBeyondItsLimits) {
  Options options = TestOptions();
  options.queue_limit = 2;
  Cluster cluster(options);
  cluster.machine.Start(cluster.now_us);
  RequestForTest first("GET a"), second("GET b"), third("GET c");
  cluster.Submit(first);
  cluster.Submit(second);
  cluster.Submit(third);
  ExpectFailure(third, ErrorKind::kNotSent, absl::StatusCode::kResourceExhausted,
                "2 requests wait for the cluster already");
}

TEST(ClusterMachine, RefusesRequestsBehindTooManyBytes) {
  Options options = TestOptions();
  options.queue_bytes = 9;
  Cluster cluster(options);
  cluster.Open();
  RequestForTest first("SET b value"), second("GET b"), third("GET b");
  cluster.Submit(first);
  cluster.Submit(second);
  ExpectFailure(second, ErrorKind::kNotSent, absl::StatusCode::kResourceExhausted,
                "requests of 9 bytes wait for the cluster already");
  cluster.Answer("n1", Reply::Ok());
  cluster.Submit(third);
  EXPECT_FALSE(third.completed());
}

TEST(ClusterMachine, AsksAllMastersAlsoForWhatWasSubmittedBeforeTheMap) {
  Cluster cluster;
  cluster.machine.Start(cluster.now_us);
  RequestForTest size("DBSIZE");
  cluster.Submit(size);
  cluster.AnswerMap(ThreeShards());
  EXPECT_EQ(cluster.TakeLog(), (Log{"n1 < DBSIZE", "n2 < DBSIZE", "n3 < DBSIZE"}));
}

TEST(ClusterMachine, CountsNoMasterTwiceWhenTheMastersBecomeFewer) {
  Cluster cluster;
  cluster.Open();
  RequestForTest size("DBSIZE");
  cluster.Submit(size);
  cluster.Answer("n1", Reply::Integer(1));
  cluster.Answer("n2", Reply::Integer(10));
  cluster.Refuse("n3");
  cluster.Pass(kPauseUs);
  cluster.AnswerMap(Reply::Array({Range(0, 8000, "n1"), Range(8001, 16383, "n2")}));
  // The copy for n3 may have been sent to it again before the map arrived.
  if (!cluster.sent.empty()) cluster.Refuse("n3");
  cluster.Pass(kPauseUs);
  ExpectReply(size, Reply::Integer(11));
}

TEST(ClusterMachine, CallsAPipelineUnknownOfWhichAPartWasAnsweredWhenItIsClosed) {
  Cluster cluster;
  cluster.Open();
  RequestForTest batch(Kind::kPipeline, {"INCR a", "INCR b"});
  cluster.Submit(batch);
  cluster.Answer("n3", Reply::Array({Reply::Integer(1)}));
  cluster.Answer("n1", Reply::Array({Reply::Error("TRYAGAIN")}));
  cluster.machine.Close("over");
  ExpectFailure(batch, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable, "over");
}

TEST(ClusterMachine, LetsABlockingCommandTakeItsTime) {
  Cluster cluster;
  cluster.Open();
  RequestForTest pop("BLPOP b 0");
  cluster.Submit(pop);
  cluster.Pass(2 * kTimeoutUs);
  EXPECT_FALSE(pop.completed());
  cluster.Answer("n1", Reply::Nil());
  ExpectReply(pop, Reply::Nil());
}

TEST(ClusterMachine, RefusesAPipelineWithACommandThatBlocks) {
  Cluster cluster;
  cluster.Open();
  RequestForTest batch(Kind::kPipeline, {"GET b", "BLPOP b 0"});
  cluster.Submit(batch);
  ExpectFailure(batch, ErrorKind::kNotSent, absl::StatusCode::kFailedPrecondition,
                "BLPOP may block, and with it what shares its connection: send it by itself");
  EXPECT_TRUE(cluster.sent.empty());
  RequestForTest transaction(Kind::kTransaction, {"BLPOP b 0"});
  cluster.Submit(transaction);
  EXPECT_EQ(cluster.sent.size(), 1u) << "in a transaction nothing blocks";
}

TEST(ClusterMachine, WaitsWithABlockingCommandUntilItsSlotHasMoved) {
  Cluster cluster;
  cluster.Open();
  RequestForTest pop("BLPOP b 0");
  cluster.Submit(pop);
  cluster.Answer("n1", Reply::Error("ASK 3300 n2:7"));
  cluster.TakeLog();
  cluster.Pass(kRefreshUs);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < BLPOP b 0"});
  cluster.Answer("n1", Reply::Error("MOVED 3300 n2:7"));
  EXPECT_EQ(cluster.TakeLog(), Log{"n2 < BLPOP b 0"});
}

TEST(ClusterMachine, DropsWhatAnAbandonedRequestHadUnderWay) {
  Cluster cluster;
  cluster.Open();
  auto batch = std::make_unique<RequestForTest>(
      Kind::kPipeline, std::initializer_list<std::string_view>{"MGET a {a}x", "GET b"});
  cluster.Submit(*batch);
  cluster.Answer("n3", Reply::Array({Reply::Error("TRYAGAIN")}));
  cluster.TakeLog();
  batch.reset();
  cluster.Collect();
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 drop"});
  cluster.Pass(kTimeoutUs);
  EXPECT_EQ(cluster.TakeLog(), Log{});
}

TEST(ClusterMachine, FailsEverythingWhenItIsClosed) {
  Cluster cluster;
  cluster.Open();
  RequestForTest sent("INCR b");
  RequestForTest waiting("INCR c");
  RequestForTest blocked("BLPOP a 0");
  cluster.Submit(sent);
  cluster.Submit(waiting);
  cluster.Submit(blocked);
  cluster.Answer("n2", Reply::Error("TRYAGAIN"));
  cluster.machine.Close("the client was closed");
  ExpectFailure(sent, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the client was closed");
  ExpectFailure(waiting, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "the client was closed");
  ExpectFailure(blocked, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the client was closed");
  RequestForTest late("GET b");
  cluster.Submit(late);
  ExpectFailure(late, ErrorKind::kNotSent, absl::StatusCode::kUnavailable, "the client was closed");
}

TEST(ClusterMachine, LetsAWaiterSubmitMoreAndAbandonOthers) {
  Cluster cluster;
  cluster.Open();
  RequestForTest first("GET b");
  RequestForTest second("GET b");
  auto third = std::make_unique<RequestForTest>("GET c");
  first.on_complete = [&] {
    cluster.Submit(second);
    third.reset();
  };
  cluster.Submit(first);
  cluster.Submit(*third);
  cluster.TakeLog();
  cluster.Answer("n1", Reply::Nil());
  EXPECT_EQ(cluster.TakeLog(), (Log{"n1 < GET b", "n2 drop"}));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
