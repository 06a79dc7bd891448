#include "backends/redis/fsm/exec_machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/redis/fsm/exec_line_for_test.h"
#include "backends/redis/fsm/request_for_test.h"
#include "backends/redis/protocol/reply_writer_for_test.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

using store::Command;
using store::ErrorKind;
using store::Reply;
using Kind = store::Request::Kind;

TEST(ExecMachine, WritesACommandAndGivesItsReply) {
  Line line;
  RequestForTest get("GET key");
  line.Submit(get);
  EXPECT_EQ(line.pending, "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n");
  line.TakeAll();
  EXPECT_FALSE(get.completed());
  EXPECT_FALSE(line.Receive("$5\r\nvalue\r\n"));
  ExpectReply(get, Reply::Bulk("value"));
  EXPECT_EQ(line.machine.queued(), 0u);
}

TEST(ExecMachine, GivesAnErrorReplyAsAReply) {
  Line line;
  RequestForTest get("GET key");
  line.Submit(get);
  line.TakeAll();
  line.Receive("-WRONGTYPE no\r\n");
  ExpectReply(get, Reply::Error("WRONGTYPE no"));
}

TEST(ExecMachine, WritesNothingBeforeTheTurnEnds) {
  Line line;
  RequestForTest first("PING"), second("PING");
  line.machine.Submit(first);
  line.machine.Submit(second);
  EXPECT_EQ(line.writes, 0);
  line.EndTurn();
  EXPECT_EQ(line.writes, 1);
  EXPECT_EQ(line.pending, std::string(kPing) + std::string(kPing));
}

TEST(ExecMachine, MatchesRepliesInOrder) {
  Line line;
  RequestForTest a("GET a"), b("GET b"), c("GET c");
  for (RequestForTest* request : {&a, &b, &c}) line.machine.Submit(*request);
  line.EndTurn();
  line.TakeAll();
  line.Receive("$1\r\nA\r\n$1\r\nB");
  EXPECT_TRUE(a.completed());
  EXPECT_FALSE(b.completed());
  line.Receive("\r\n$1\r\nC\r\n");
  ExpectReply(a, Reply::Bulk("A"));
  ExpectReply(b, Reply::Bulk("B"));
  ExpectReply(c, Reply::Bulk("C"));
}

TEST(ExecMachine, KeepsOneWriteUnderWayAndGathersTheNext) {
  Line line;
  RequestForTest a("PING"), b("PING"), c("PING");
  line.Submit(a);
  line.Submit(b);
  line.Submit(c);
  EXPECT_EQ(line.writes, 1);
  line.Take(5);
  EXPECT_EQ(line.pending, kPing.substr(5));
  line.Take(kPing.size());
  EXPECT_EQ(line.pending, std::string(kPing) + std::string(kPing));
  line.TakeAll();
  EXPECT_EQ(line.sent, std::string(kPing) + std::string(kPing) + std::string(kPing));
}

TEST(ExecMachine, EndsAWriteAtItsLimit) {
  ExecOptions options = TestOptions();
  options.max_write_bytes = kPing.size() + 1;
  Line line(options);
  RequestForTest a("PING"), b("PING"), c("PING");
  for (RequestForTest* request : {&a, &b, &c}) line.machine.Submit(*request);
  line.EndTurn();
  EXPECT_EQ(line.pending.size(), 2 * kPing.size());
  line.Take(line.pending.size());
  EXPECT_EQ(line.pending.size(), kPing.size());
}

TEST(ExecMachine, GivesAPipelineAsAnArrayOfItsReplies) {
  Line line;
  RequestForTest pipeline(Kind::kPipeline, {"GET a", "INCR b"});
  line.Submit(pipeline);
  line.TakeAll();
  line.Receive("$1\r\nA\r\n");
  EXPECT_FALSE(pipeline.completed());
  line.Receive("-ERR no\r\n");
  ExpectReply(pipeline, Reply::Array({Reply::Bulk("A"), Reply::Error("ERR no")}));
}

TEST(ExecMachine, GivesExecsReplyForATransaction) {
  Line line;
  RequestForTest transaction(Kind::kTransaction, {"GET a", "INCR b"}), next("PING");
  line.machine.Submit(transaction);
  line.Submit(next);
  EXPECT_EQ(line.pending.substr(0, 15), "*1\r\n$5\r\nMULTI\r\n");
  line.TakeAll();
  line.Receive("+OK\r\n+QUEUED\r\n+QUEUED\r\n");
  EXPECT_FALSE(transaction.completed());
  line.Receive("*2\r\n$1\r\nA\r\n:2\r\n+PONG\r\n");
  ExpectReply(transaction, Reply::Array({Reply::Bulk("A"), Reply::Integer(2)}));
  ExpectReply(next, Reply::Status("PONG"));
}

TEST(ExecMachine, GivesExecabortAndNilOfATransaction) {
  Line line;
  RequestForTest refused(Kind::kTransaction, {"GET"}), unwatched(Kind::kTransaction, {"GET a"});
  line.machine.Submit(refused);
  line.Submit(unwatched);
  line.TakeAll();
  line.Receive("+OK\r\n-ERR wrong number of arguments\r\n-EXECABORT discarded\r\n");
  ExpectReply(refused, Reply::Error("EXECABORT discarded"));
  line.Receive("+OK\r\n+QUEUED\r\n*-1\r\n");
  ExpectReply(unwatched, Reply::Nil());
}

TEST(ExecMachine, ALostConnectionTellsSentFromUnsent) {
  Line line;
  RequestForTest answered("PING"), written("GET a"), halved("GET b"), encoded("GET c");
  for (RequestForTest* request : {&answered, &written, &halved, &encoded}) {
    line.machine.Submit(*request);
  }
  line.EndTurn();
  line.Take(kPing.size() + 20 + 1);
  RequestForTest waiting("GET d");
  line.machine.Submit(waiting);
  line.Receive("+PONG\r\n");
  line.Lose();
  ExpectReply(answered, Reply::Status("PONG"));
  for (RequestForTest* request : {&written, &halved}) {
    ExpectFailure(*request, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                  "the connection to redis://h:6379 was lost (reset) before GET was answered");
  }
  for (RequestForTest* request : {&encoded, &waiting}) {
    ExpectFailure(*request, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                  "the connection to redis://h:6379 was lost (reset) before GET was sent");
  }
}

TEST(ExecMachine, NamesBatchesByTheirSize) {
  Line line;
  RequestForTest pipeline(Kind::kPipeline, {"GET a", "GET b"});
  RequestForTest transaction(Kind::kTransaction, {"GET a"});
  line.machine.Submit(pipeline);
  line.Submit(transaction);
  line.Lose();
  EXPECT_EQ(pipeline.result().status().message(),
            "the connection to redis://h:6379 was lost (reset) before a pipeline of 2 commands was "
            "sent");
  EXPECT_EQ(transaction.result().status().message(),
            "the connection to redis://h:6379 was lost (reset) before a transaction of 1 commands "
            "was sent");
}

TEST(ExecMachine, RefusesRequestsOnceTheConnectionIsLost) {
  Line line;
  line.Lose();
  EXPECT_TRUE(line.machine.closed());
  RequestForTest late("PING");
  line.machine.Submit(late);
  ExpectFailure(late, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "not connected to redis://h:6379: reset");
  EXPECT_TRUE(line.machine.Resume(LineEvent::TurnEnded(0)).close);
}

TEST(ExecMachine, RefusesWhatASharedConnectionMustNotCarry) {
  Line line;
  RequestForTest multi("MULTI");
  line.machine.Submit(multi);
  ASSERT_TRUE(multi.completed());
  EXPECT_EQ(multi.result().status().code(), absl::StatusCode::kFailedPrecondition);
  ExecOptions options = TestOptions();
  options.sharing = Sharing::kDedicated;
  Line dedicated(options);
  RequestForTest allowed("MULTI");
  dedicated.machine.Submit(allowed);
  EXPECT_FALSE(allowed.completed());
}

TEST(ExecMachine, TimesOutAWrittenRequestWithOutcomeUnknown) {
  Line line;
  RequestForTest slow("GET a"), next("GET b");
  line.Submit(slow);
  line.TakeAll();
  line.Pass(kTimeoutUs - 1);
  EXPECT_FALSE(slow.completed());
  line.Submit(next);
  line.TakeAll();
  line.Pass(1);
  ExpectFailure(slow, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "redis://h:6379 did not answer GET within 1ms");
  EXPECT_FALSE(next.completed());
  line.Receive("$1\r\nA\r\n$1\r\nB\r\n");
  ExpectReply(next, Reply::Bulk("B"));
}

TEST(ExecMachine, TakesBackARequestThatTimesOutUnwritten) {
  Line line;
  RequestForTest stuck("PING"), waiting("GET secret");
  line.Submit(stuck);
  line.Submit(waiting);
  line.Pass(kTimeoutUs);
  ExpectFailure(stuck, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "redis://h:6379 did not answer PING within 1ms");
  ExpectFailure(waiting, ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded,
                "GET could not be sent to redis://h:6379 within 1ms");
  line.TakeAll();
  EXPECT_EQ(line.sent, kPing);
}

TEST(ExecMachine, NeedsOneTimerForManyRequests) {
  Line line;
  for (int i = 0; i < 10; ++i) {
    RequestForTest request("PING");
    line.Submit(request);
    line.TakeAll();
    line.Receive("+PONG\r\n");
  }
  EXPECT_EQ(line.timers, 1);
  RequestForTest last("PING");
  line.Pass(kTimeoutUs - 1);
  line.Submit(last);
  line.TakeAll();
  line.Pass(1);
  EXPECT_FALSE(last.completed());
  EXPECT_EQ(line.timers, 2);
  EXPECT_EQ(line.wake_at_us, line.now_us - 1 + kTimeoutUs);
}

TEST(ExecMachine, WantsNoTimerWithoutATimeoutOrWithoutRequests) {
  ExecOptions options = TestOptions();
  options.command_timeout_us = ExecOptions::kNoTimeout;
  Line patient(options);
  RequestForTest request("PING");
  patient.Submit(request);
  EXPECT_EQ(patient.timers, 0);
  Line idle;
  idle.EndTurn();
  EXPECT_EQ(idle.timers, 0);
}

TEST(ExecMachine, DropsTheRepliesOfAnAbandonedRequest) {
  Line line;
  RequestForTest next("GET b");
  {
    RequestForTest gone(Kind::kPipeline, {"GET a", "GET a"});
    line.Submit(gone);
    line.TakeAll();
    line.Receive("$1\r\nA\r\n");
  }
  line.Submit(next);
  line.TakeAll();
  line.Receive("$1\r\nA\r\n$1\r\nB\r\n");
  ExpectReply(next, Reply::Bulk("B"));
}

TEST(ExecMachine, NeverWritesARequestThatWasAbandonedBefore) {
  Line line;
  RequestForTest next("PING");
  {
    RequestForTest gone("FLUSHALL");
    line.machine.Submit(gone);
  }
  line.Submit(next);
  EXPECT_EQ(line.pending, kPing);
  line.TakeAll();
  line.Receive("+PONG\r\n");
  ExpectReply(next, Reply::Status("PONG"));
}

TEST(ExecMachine, DoesNotKeepAbandonedRequestsBehindAStalledWrite) {
  Line line;
  RequestForTest stuck("PING");
  line.Submit(stuck);
  for (int i = 0; i < 10'000; ++i) {
    RequestForTest gone("PING");
    line.Submit(gone);
  }
  EXPECT_LT(line.machine.queued(), 200u);
}

TEST(ExecMachine, FindsAbandonedRequestsInAnyOrder) {
  Line line;
  std::vector<std::unique_ptr<RequestForTest>> requests;
  for (int i = 0; i < 8; ++i) {
    requests.push_back(std::make_unique<RequestForTest>("PING"));
    line.machine.Submit(*requests.back());
  }
  line.EndTurn();
  line.TakeAll();
  for (const int gone : {5, 6, 2, 7, 0}) requests[gone].reset();
  for (int i = 0; i < 8; ++i) line.Receive(":" + std::to_string(i) + "\r\n");
  for (const int kept : {1, 3, 4}) ExpectReply(*requests[kept], Reply::Integer(kept));
}

TEST(ExecMachine, ClosesOnAReplyThatNothingAskedFor) {
  Line line;
  EXPECT_TRUE(line.Receive("+OK\r\n"));
  EXPECT_TRUE(line.machine.closed());
  RequestForTest late("PING");
  line.machine.Submit(late);
  EXPECT_EQ(late.result().status().message(),
            "not connected to redis://h:6379: Redis sent a reply that nothing had asked for");
}

TEST(ExecMachine, ClosesOnAReplyToWhatIsNotYetWritten) {
  Line line;
  RequestForTest waiting("PING");
  line.machine.Submit(waiting);
  EXPECT_TRUE(line.Receive("+PONG\r\n"));
  EXPECT_EQ(store::ErrorKindOf(waiting.result().status()), ErrorKind::kNotSent);
}

TEST(ExecMachine, AnUnreadableReplyFailsItsRequestAndLosesTheConnection) {
  Line line;
  RequestForTest good("PING"), bad("GET a"), behind("GET b");
  for (RequestForTest* request : {&good, &bad, &behind}) line.machine.Submit(*request);
  line.EndTurn();
  line.TakeAll();
  EXPECT_TRUE(line.Receive("+PONG\r\n?\r\n"));
  ExpectReply(good, Reply::Status("PONG"));
  ExpectFailure(bad, ErrorKind::kProtocol, absl::StatusCode::kInternal,
                "Redis's reply cannot be read: Protocol error, got \"?\" as reply type byte");
  EXPECT_EQ(store::ErrorKindOf(behind.result().status()), ErrorKind::kOutcomeUnknown);
}

TEST(ExecMachine, LetsAWaiterSubmitTheNextRequest) {
  Line line;
  RequestForTest first("PING"), second("PING");
  first.on_complete = [&] { line.machine.Submit(second); };
  line.Submit(first);
  line.TakeAll();
  line.Receive("+PONG\r\n");
  line.EndTurn();
  line.TakeAll();
  line.Receive("+PONG\r\n");
  ExpectReply(second, Reply::Status("PONG"));
}

TEST(ExecMachine, LetsAWaiterAbandonAnother) {
  Line line;
  RequestForTest first("PING"), third("PING");
  auto second = std::make_unique<RequestForTest>("PING");
  first.on_complete = [&] { second.reset(); };
  for (RequestForTest* request : {&first, second.get(), &third}) line.machine.Submit(*request);
  line.EndTurn();
  line.TakeAll();
  line.Receive(":1\r\n:2\r\n:3\r\n");
  ExpectReply(third, Reply::Integer(3));
}

TEST(ExecMachine, LetsAWaiterCloseTheConnection) {
  Line line;
  RequestForTest first("PING"), second("PING");
  first.on_complete = [&] { line.Lose(); };
  line.machine.Submit(first);
  line.Submit(second);
  line.TakeAll();
  EXPECT_TRUE(line.Receive(":1\r\n:2\r\n"));
  ExpectReply(first, Reply::Integer(1));
  EXPECT_EQ(store::ErrorKindOf(second.result().status()), ErrorKind::kOutcomeUnknown);
}

TEST(ExecMachine, FailsWhatAWaiterSubmitsWhileTheConnectionIsLost) {
  Line line;
  RequestForTest first("PING"), retry("PING");
  first.on_complete = [&] { line.machine.Submit(retry); };
  line.Submit(first);
  line.TakeAll();
  line.Lose();
  ExpectFailure(retry, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "not connected to redis://h:6379: reset");
}

TEST(ExecMachine, LetsATimedOutWaiterCloseTheConnection) {
  Line line;
  RequestForTest first("PING"), second("PING");
  first.on_complete = [&] { line.Lose(); };
  line.machine.Submit(first);
  line.Submit(second);
  line.TakeAll();
  EXPECT_TRUE(line.machine.Resume(LineEvent::Timer(line.now_us + kTimeoutUs)).close);
  EXPECT_EQ(second.result().status().code(), absl::StatusCode::kUnavailable);
}

TEST(ExecMachine, FailsWhatIsLeftWhenDestroyed) {
  auto line = std::make_unique<Line>();
  RequestForTest left("PING");
  line->Submit(left);
  line->TakeAll();
  line.reset();
  EXPECT_EQ(left.result().status().message(),
            "the connection to redis://h:6379 was lost (the client was destroyed) before PING was "
            "answered");
}

}  // namespace
}  // namespace redouble::redis
