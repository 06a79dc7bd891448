#include "redouble/backends/redis/fsm/sentinel/sentinel_machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/backends/redis/fsm/sentinel/scripted_sentinels_for_test.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::StatusIs;
using store::ErrorKind;
using store::Reply;
using Kind = store::Request::Kind;

void ExpectFailure(RequestForTest& request, ErrorKind kind, absl::StatusCode code,
                   const std::string& message) {
  ASSERT_TRUE(request.completed());
  EXPECT_EQ(store::ErrorKindOf(request.result().status()), kind);
  EXPECT_EQ(request.result().status().code(), code);
  EXPECT_EQ(request.result().status().message(), message);
}

TEST(SentinelMachine, SendsRequestsToTheMaster) {
  Watch watch;
  watch.Open();
  RequestForTest get("GET k");
  watch.Submit(get);
  EXPECT_EQ(watch.TakeLog(), Log{"m1 < GET k"});
  watch.Answer(Reply::Bulk("v"));
  EXPECT_EQ(get.result().value(), Reply::Bulk("v"));
}

TEST(SentinelMachine, KeepsRequestsUntilThereIsAMaster) {
  Watch watch;
  watch.Open();
  RequestForTest first("GET a");
  RequestForTest second("GET b");
  watch.machine.MasterLost(watch.now_us);
  watch.Submit(first);
  watch.Submit(second);
  watch.Pass(kPauseUs);
  watch.Sentinel(MasterAt("m2"));
  watch.TakeLog();
  watch.Role(Master());
  EXPECT_EQ(watch.TakeLog(), (Log{"m2 < GET a", "m2 < GET b"}));
}

TEST(SentinelMachine, KeepsARequestThatDidNotReachTheMaster) {
  Watch watch;
  watch.Open();
  watch.Pass(kPauseUs);
  RequestForTest incr("INCR k");
  watch.Submit(incr);
  watch.TakeLog();
  watch.Refuse();
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
  watch.Sentinel(MasterAt("m2"));
  watch.Role(Master());
  EXPECT_EQ(watch.TakeLog(), (Log{"m2 role", "m2 < INCR k"}));
}

TEST(SentinelMachine, SendsACommandAgainThatADemotedMasterRefused) {
  Watch watch;
  watch.Open();
  watch.Pass(kPauseUs);
  RequestForTest incr("INCR k");
  watch.Submit(incr);
  watch.TakeLog();
  watch.Answer(Reply::Error("READONLY You can't write against a read only replica."));
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
  watch.Sentinel(MasterAt("m2"));
  watch.Role(Master());
  watch.Answer(Reply::Integer(1));
  EXPECT_EQ(incr.result().value(), Reply::Integer(1));
}

TEST(SentinelMachine, FinallyReturnsREADONLYToTheCaller) {
  Watch watch;
  watch.Open();
  const Reply readonly = Reply::Error("READONLY You can't write against a read only replica.");
  RequestForTest incr("INCR k");
  watch.Submit(incr);
  for (int i = 0; i < TestOptions().redirections; ++i) {
    watch.Answer(readonly);
    watch.Pass(kPauseUs);
    watch.Sentinel(MasterAt("m1"));
    watch.Role(Master());
  }
  watch.Answer(readonly);
  ASSERT_TRUE(incr.completed());
  EXPECT_EQ(incr.result().value(), readonly);
}

TEST(SentinelMachine, FailsALostRequest) {
  Watch watch;
  watch.Open();
  watch.Pass(kPauseUs);
  RequestForTest incr("INCR k");
  RequestForTest other("INCR k");
  watch.Submit(incr);
  watch.Submit(other);
  watch.TakeLog();
  watch.Answer(Lost());
  ExpectFailure(incr, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the connection was lost");
  watch.Answer(NotConnected());
  ExpectFailure(other, ErrorKind::kNotSent, absl::StatusCode::kUnavailable, "no way there");
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
}

TEST(SentinelMachine, SendsAgainWhatItIsAllowedTo) {
  Options options = TestOptions();
  options.retry = RetryPolicy::kIdempotent;
  options.attempts = 2;
  Watch watch(options);
  watch.Open();
  RequestForTest get("GET k");
  RequestForTest incr("INCR k");
  RequestForTest set("SET k v");
  watch.Submit(get);
  watch.Submit(incr);
  watch.Submit(set);
  watch.Answer(Lost());
  watch.Answer(Lost());
  watch.Answer(NotConnected());
  EXPECT_TRUE(incr.completed());
  watch.Pass(kPauseUs);
  watch.Sentinel(MasterAt("m2"));
  watch.TakeLog();
  watch.Role(Master());
  EXPECT_EQ(watch.TakeLog(), (Log{"m2 < GET k", "m2 < SET k v"}));
  watch.Answer(Lost());
  EXPECT_TRUE(get.completed());
}

TEST(SentinelMachine, SendsAgainWhatIsDeclaredIdempotent) {
  Options options = TestOptions();
  options.retry = RetryPolicy::kIdempotent;
  Watch watch(options, [](const store::Request& request) {
    return request.commands()[0].id() == store::CommandId::kSet;
  });
  watch.Open();
  RequestForTest set("SET k 1");
  watch.Submit(set);
  watch.Answer(Lost());
  EXPECT_FALSE(set.completed());
}

TEST(SentinelMachine, SendsAPipelineThatMayBlockAndLetsItTakeItsTime) {
  Watch watch;
  watch.Open();
  RequestForTest batch(Kind::kPipeline, {"GET k", "BLPOP k 0"});
  watch.Submit(batch);
  watch.Pass(2 * kTimeoutUs);
  EXPECT_FALSE(batch.completed());
  watch.Answer(Reply::Array({Reply::Nil(), Reply::NilArray()}));
  EXPECT_TRUE(batch.completed());
}

TEST(SentinelMachine, LimitsABlockingRequestByItsOwnTimeout) {
  Watch watch;
  watch.Open();
  watch.machine.MasterLost(watch.now_us);
  RequestForTest blocked("BLPOP k 0.05");
  RequestForTest plain("GET k");
  watch.Submit(blocked);
  watch.Submit(plain);
  watch.Pass(kTimeoutUs);
  EXPECT_TRUE(plain.completed());
  EXPECT_FALSE(blocked.completed());
  watch.Pass(50'000);
  ExpectFailure(blocked, ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded,
                "there was no master within 150ms");
}

TEST(SentinelMachine, EndsABlockingRequestAtTheLimitForAll) {
  Options options = TestOptions();
  options.blocking_timeout = absl::Milliseconds(200);
  Watch watch(options);
  watch.Open();
  RequestForTest blocked("BLPOP k 0");
  watch.Submit(blocked);
  watch.Pass(200'000 - 1);
  EXPECT_FALSE(blocked.completed());
  watch.Pass(1);
  ExpectFailure(blocked, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "the master did not answer within 200ms");
}

TEST(SentinelMachine, RefusesRequestsBeyondItsLimits) {
  Options options = TestOptions();
  options.queue_limit = 2;
  options.queue_bytes = 12;
  Watch watch(options);
  watch.Start();
  auto first = std::make_unique<RequestForTest>("GET a");
  RequestForTest second("SET a value"), third("GET a");
  watch.Submit(*first);
  watch.Submit(second);
  watch.Submit(third);
  ExpectFailure(third, ErrorKind::kNotSent, absl::StatusCode::kResourceExhausted,
                "2 requests wait for the master already");
  first.reset();
  RequestForTest fourth("GET a"), fifth("GET a");
  watch.Submit(fourth);
  EXPECT_FALSE(fourth.completed());
  second.on_complete = [&] { watch.Submit(fifth); };
  watch.machine.Close("over");
  EXPECT_EQ(watch.machine.queued(), 0u);
}

TEST(SentinelMachine, RefusesRequestsBehindTooManyBytes) {
  Options options = TestOptions();
  options.queue_bytes = 9;
  Watch watch(options);
  watch.Open();
  RequestForTest first("SET a value"), second("GET a"), third("GET a");
  watch.Submit(first);
  watch.Submit(second);
  ExpectFailure(second, ErrorKind::kNotSent, absl::StatusCode::kResourceExhausted,
                "requests of 9 bytes wait for the master already");
  watch.Answer(Reply::Ok());
  watch.Submit(third);
  EXPECT_FALSE(third.completed());
}

const Reply kReadOnly = Reply::Error("READONLY You can't write against a read only replica.");
const Reply kAbort = Reply::Error("EXECABORT Transaction discarded because of previous errors.");

TEST(SentinelMachine, SendsAPipelineAgainOfWhichADemotedMasterRanNothing) {
  Watch watch;
  watch.Open();
  watch.Pass(kPauseUs);
  RequestForTest batch(Kind::kPipeline, {"INCR a", "INCR b"});
  watch.Submit(batch);
  watch.TakeLog();
  watch.Answer(Reply::Array({kReadOnly, kReadOnly}));
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
  watch.Sentinel(MasterAt("m2"));
  watch.Role(Master());
  EXPECT_EQ(watch.TakeLog(), (Log{"m2 role", "m2 < INCR a, INCR b"}));
}

TEST(SentinelMachine, ReturnsAPipelineOfWhichADemotedMasterRanAPart) {
  Watch watch;
  watch.Open();
  watch.Pass(kPauseUs);
  RequestForTest batch(Kind::kPipeline, {"GET a", "INCR b"});
  watch.Submit(batch);
  watch.TakeLog();
  const Reply replies = Reply::Array({Reply::Nil(), kReadOnly});
  watch.Answer(replies);
  EXPECT_EQ(batch.result().value(), replies);
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"}) << "the next master is searched all the same";
}

TEST(SentinelMachine, SendsATransactionAgainThatADemotedMasterDiscarded) {
  Watch watch;
  watch.Open();
  watch.Pass(kPauseUs);
  RequestForTest transaction(Kind::kTransaction, {"INCR a"});
  watch.Submit(transaction);
  EXPECT_EQ(watch.TakeLog(), Log{"m1 < multi, INCR a, exec"});
  watch.Answer(Reply::Array({Reply::Ok(), kReadOnly, kAbort}));
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
  watch.Sentinel(MasterAt("m2"));
  watch.Role(Master());
  const Reply done = Reply::Array({Reply::Integer(1)});
  watch.Answer(Reply::Array({Reply::Ok(), Reply::Status("QUEUED"), done}));
  EXPECT_EQ(transaction.result().value(), done);
}

TEST(SentinelMachine, ReturnsATransactionThatFailedForAnotherReason) {
  Watch watch;
  watch.Open();
  RequestForTest transaction(Kind::kTransaction, {"INCR"});
  watch.Submit(transaction);
  watch.Answer(Reply::Array({Reply::Ok(), Reply::Error("ERR wrong number of arguments"), kAbort}));
  EXPECT_EQ(transaction.result().value(), kAbort);
  EXPECT_TRUE(watch.machine.master().has_value());
}

TEST(SentinelMachine, LooksForTheMasterWhenAScriptInATransactionWasRefused) {
  Watch watch;
  watch.Open();
  RequestForTest transaction(Kind::kTransaction, {"GET a", "EVAL s 0"});
  watch.Submit(transaction);
  const Reply result = Reply::Array({Reply::Nil(), kReadOnly});
  watch.Answer(
      Reply::Array({Reply::Ok(), Reply::Status("QUEUED"), Reply::Status("QUEUED"), result}));
  EXPECT_EQ(transaction.result().value(), result);
  EXPECT_FALSE(watch.machine.master().has_value());
}

TEST(SentinelMachine, FailsABatchWithTheWrongNumberOfReplies) {
  Watch watch;
  watch.Open();
  RequestForTest batch(Kind::kPipeline, {"INCR a", "INCR b"});
  watch.Submit(batch);
  watch.Answer(Reply::Array({Reply::Integer(1)}));
  ExpectFailure(batch, ErrorKind::kProtocol, absl::StatusCode::kInternal,
                "the master gave another number of replies than it was asked for");
}

// The subscription.

TEST(SentinelMachine, ReturnsOtherFailuresToTheCaller) {
  Options options = TestOptions();
  options.retry = RetryPolicy::kIdempotent;
  Watch watch(options);
  watch.Open();
  RequestForTest get("GET k");
  watch.Submit(get);
  watch.Answer(store::ProtocolError("no reply"));
  ExpectFailure(get, ErrorKind::kProtocol, absl::StatusCode::kInternal, "no reply");
  EXPECT_TRUE(watch.machine.master().has_value());
}

TEST(SentinelMachine, FailsAtOnceWithoutAMasterWhenItShallNotReconnect) {
  Options options = TestOptions();
  options.reconnect = false;
  Watch watch(options);
  watch.Open();
  RequestForTest first("GET k");
  watch.Submit(first);
  watch.Refuse();
  ExpectFailure(first, ErrorKind::kNotSent, absl::StatusCode::kUnavailable, "no way there");
  RequestForTest second("GET k");
  watch.Submit(second);
  ExpectFailure(second, ErrorKind::kNotSent, absl::StatusCode::kUnavailable, "no master is known");
}

TEST(SentinelMachine, RefusesWhatWouldChangeASharedConnection) {
  Watch watch;
  watch.Open();
  RequestForTest watch_key("WATCH k");
  watch.Submit(watch_key);
  ASSERT_TRUE(watch_key.completed());
  EXPECT_THAT(watch_key.result(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(SentinelMachine, EndsARequestAfterItsTime) {
  Watch watch;
  watch.Open();
  RequestForTest sent("GET a");
  RequestForTest waiting("GET b");
  RequestForTest blocked("BLPOP q 0");
  watch.Submit(sent);
  watch.machine.MasterLost(watch.now_us);
  watch.Submit(waiting);
  watch.Submit(blocked);
  watch.Pass(kPauseUs);
  watch.Sentinel(NotConnected());
  watch.TakeLog();
  watch.Pass(kTimeoutUs - kPauseUs);
  EXPECT_EQ(watch.TakeLog(), Log{"drop GET a"});
  ExpectFailure(sent, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "the master did not answer within 100ms");
  ExpectFailure(waiting, ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded,
                "there was no master within 100ms: no way there");
  EXPECT_FALSE(blocked.completed());
}

TEST(SentinelMachine, DropsWhatIsAbandoned) {
  Watch watch;
  watch.Open();
  auto sent = std::make_unique<RequestForTest>("GET a");
  watch.Submit(*sent);
  watch.TakeLog();
  sent.reset();
  EXPECT_EQ(watch.TakeLog(), Log{"drop GET a"});
  watch.machine.MasterLost(watch.now_us);
  auto waiting = std::make_unique<RequestForTest>("GET b");
  watch.Submit(*waiting);
  waiting.reset();
  watch.Pass(kPauseUs);
  watch.Sentinel(MasterAt("m1"));
  watch.TakeLog();
  watch.Role(Master());
  EXPECT_EQ(watch.TakeLog(), Log{});
}

TEST(SentinelMachine, FailsEverythingWhenItIsClosed) {
  Watch watch;
  watch.Open();
  RequestForTest sent("GET a");
  watch.Submit(sent);
  watch.machine.MasterLost(watch.now_us);
  RequestForTest waiting("GET b");
  watch.Submit(waiting);
  watch.machine.Close("the client was closed");
  ExpectFailure(sent, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the client was closed");
  ExpectFailure(waiting, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "the client was closed");
  RequestForTest late("GET c");
  watch.Submit(late);
  ExpectFailure(late, ErrorKind::kNotSent, absl::StatusCode::kUnavailable, "the client was closed");
}

TEST(SentinelMachine, KeepsTheNewMasterWhenTheFormerOneFailsItsRequests) {
  Watch watch;
  watch.Open();
  RequestForTest first("INCR k"), second("INCR k");
  watch.Submit(first);
  watch.Submit(second);
  watch.Switched("mymaster m1 6379 m2 6379");
  watch.Role(Master());
  watch.Pass(kPauseUs);
  watch.TakeLog();
  watch.Answer(Lost());
  ExpectFailure(first, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the connection was lost");
  watch.Answer(Reply::Error("READONLY You can't write against a read only replica."));
  EXPECT_EQ(watch.TakeLog(), Log{"m2 < INCR k"});
  EXPECT_EQ(watch.machine.counters().rounds, 1u);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
