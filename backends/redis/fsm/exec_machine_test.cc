#include "redouble/backends/redis/fsm/exec_machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "redouble/backends/redis/fsm/exec_connection_for_test.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/resp/reply_writer_for_test.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::StatusIs;
using store::Command;
using store::ErrorKind;
using store::Reply;
using Kind = store::Request::Kind;

TEST(ExecMachine, WritesACommandAndReturnsItsReply) {
  ExecConnection connection;
  RequestForTest get("GET key");
  connection.Submit(get);
  EXPECT_EQ(connection.pending, "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n");
  connection.TakeAll();
  EXPECT_FALSE(get.completed());
  EXPECT_FALSE(connection.Receive("$5\r\nvalue\r\n"));
  ExpectReply(get, Reply::Bulk("value"));
  EXPECT_EQ(connection.machine.queued(), 0u);
}

TEST(ExecMachine, ReturnsAnErrorReplyAsAReply) {
  ExecConnection connection;
  RequestForTest get("GET key");
  connection.Submit(get);
  connection.TakeAll();
  connection.Receive("-WRONGTYPE no\r\n");
  ExpectReply(get, Reply::Error("WRONGTYPE no"));
}

TEST(ExecMachine, WritesNothingBeforeTheTurnEnds) {
  ExecConnection connection;
  RequestForTest first("PING"), second("PING");
  connection.machine.Submit(first);
  connection.machine.Submit(second);
  EXPECT_EQ(connection.writes, 0);
  connection.EndTurn();
  EXPECT_EQ(connection.writes, 1);
  EXPECT_EQ(connection.pending, std::string(kPing) + std::string(kPing));
}

TEST(ExecMachine, MatchesRepliesInOrder) {
  ExecConnection connection;
  RequestForTest a("GET a"), b("GET b"), c("GET c");
  for (RequestForTest* request : {&a, &b, &c}) connection.machine.Submit(*request);
  connection.EndTurn();
  connection.TakeAll();
  connection.Receive("$1\r\nA\r\n$1\r\nB");
  EXPECT_TRUE(a.completed());
  EXPECT_FALSE(b.completed());
  connection.Receive("\r\n$1\r\nC\r\n");
  ExpectReply(a, Reply::Bulk("A"));
  ExpectReply(b, Reply::Bulk("B"));
  ExpectReply(c, Reply::Bulk("C"));
}

TEST(ExecMachine, KeepsOneWriteUnderWayAndGathersTheNext) {
  ExecConnection connection;
  RequestForTest a("PING"), b("PING"), c("PING");
  connection.Submit(a);
  connection.Submit(b);
  connection.Submit(c);
  EXPECT_EQ(connection.writes, 1);
  connection.Take(5);
  EXPECT_EQ(connection.pending, kPing.substr(5));
  connection.Take(kPing.size());
  EXPECT_EQ(connection.pending, std::string(kPing) + std::string(kPing));
  connection.TakeAll();
  EXPECT_EQ(connection.sent, std::string(kPing) + std::string(kPing) + std::string(kPing));
}

TEST(ExecMachine, EndsAWriteAtItsLimit) {
  ExecOptions options = TestOptions();
  options.max_write_bytes = kPing.size() + 1;
  ExecConnection connection(options);
  RequestForTest a("PING"), b("PING"), c("PING");
  for (RequestForTest* request : {&a, &b, &c}) connection.machine.Submit(*request);
  connection.EndTurn();
  EXPECT_EQ(connection.pending.size(), 2 * kPing.size());
  connection.Take(connection.pending.size());
  EXPECT_EQ(connection.pending.size(), kPing.size());
}

TEST(ExecMachine, ReturnsAPipelineAsAnArrayOfItsReplies) {
  ExecConnection connection;
  RequestForTest pipeline(Kind::kPipeline, {"GET a", "INCR b"});
  connection.Submit(pipeline);
  connection.TakeAll();
  connection.Receive("$1\r\nA\r\n");
  EXPECT_FALSE(pipeline.completed());
  connection.Receive("-ERR no\r\n");
  ExpectReply(pipeline, Reply::Array({Reply::Bulk("A"), Reply::Error("ERR no")}));
}

TEST(ExecMachine, ReturnsTheReplyToExecForATransaction) {
  ExecConnection connection;
  RequestForTest transaction(Kind::kTransaction, {"GET a", "INCR b"}), next("PING");
  connection.machine.Submit(transaction);
  connection.Submit(next);
  EXPECT_EQ(connection.pending.substr(0, 15), "*1\r\n$5\r\nMULTI\r\n");
  connection.TakeAll();
  connection.Receive("+OK\r\n+QUEUED\r\n+QUEUED\r\n");
  EXPECT_FALSE(transaction.completed());
  connection.Receive("*2\r\n$1\r\nA\r\n:2\r\n+PONG\r\n");
  ExpectReply(transaction, Reply::Array({Reply::Bulk("A"), Reply::Integer(2)}));
  ExpectReply(next, Reply::Status("PONG"));
}

TEST(ExecMachine, ReturnsExecabortAndNilOfATransaction) {
  ExecConnection connection;
  RequestForTest refused(Kind::kTransaction, {"GET"}), unwatched(Kind::kTransaction, {"GET a"});
  connection.machine.Submit(refused);
  connection.Submit(unwatched);
  connection.TakeAll();
  connection.Receive("+OK\r\n-ERR wrong number of arguments\r\n-EXECABORT discarded\r\n");
  ExpectReply(refused, Reply::Error("EXECABORT discarded"));
  connection.Receive("+OK\r\n+QUEUED\r\n*-1\r\n");
  ExpectReply(unwatched, Reply::Nil());
}

TEST(ExecMachine, ALostConnectionDistinguishesSentFromUnsent) {
  ExecConnection connection;
  RequestForTest answered("PING"), written("GET a"), halved("GET b"), encoded("GET c");
  for (RequestForTest* request : {&answered, &written, &halved, &encoded}) {
    connection.machine.Submit(*request);
  }
  connection.EndTurn();
  connection.Take(kPing.size() + 20 + 1);
  RequestForTest waiting("GET d");
  connection.machine.Submit(waiting);
  connection.Receive("+PONG\r\n");
  connection.Lose();
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
  ExecConnection connection;
  RequestForTest pipeline(Kind::kPipeline, {"GET a", "GET b"});
  RequestForTest transaction(Kind::kTransaction, {"GET a"});
  connection.machine.Submit(pipeline);
  connection.Submit(transaction);
  connection.Lose();
  EXPECT_EQ(pipeline.result().status().message(),
            "the connection to redis://h:6379 was lost (reset) before a pipeline of 2 commands was "
            "sent");
  EXPECT_EQ(transaction.result().status().message(),
            "the connection to redis://h:6379 was lost (reset) before a transaction of 1 commands "
            "was sent");
}

TEST(ExecMachine, RefusesRequestsOnceTheConnectionIsLost) {
  ExecConnection connection;
  connection.Lose();
  EXPECT_TRUE(connection.machine.closed());
  RequestForTest late("PING");
  connection.machine.Submit(late);
  ExpectFailure(late, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "not connected to redis://h:6379: reset");
  EXPECT_TRUE(connection.machine.Resume(ConnectionEvent::TurnEnded(0)).close);
}

TEST(ExecMachine, RefusesWhatASharedConnectionMustNotCarry) {
  ExecConnection connection;
  RequestForTest multi("MULTI");
  connection.machine.Submit(multi);
  ASSERT_TRUE(multi.completed());
  EXPECT_THAT(multi.result(), StatusIs(absl::StatusCode::kFailedPrecondition));
  ExecOptions options = TestOptions();
  options.sharing = Sharing::kDedicated;
  ExecConnection dedicated(options);
  RequestForTest allowed("MULTI");
  dedicated.machine.Submit(allowed);
  EXPECT_FALSE(allowed.completed());
}

TEST(ExecMachine, TimesOutAWrittenRequestWithOutcomeUnknown) {
  ExecConnection connection;
  RequestForTest slow("GET a"), next("GET b");
  connection.Submit(slow);
  connection.TakeAll();
  connection.Pass(kTimeoutUs - 1);
  EXPECT_FALSE(slow.completed());
  connection.Submit(next);
  connection.TakeAll();
  connection.Pass(1);
  ExpectFailure(slow, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "redis://h:6379 did not answer GET within 1ms");
  EXPECT_FALSE(next.completed());
  connection.Receive("$1\r\nA\r\n$1\r\nB\r\n");
  ExpectReply(next, Reply::Bulk("B"));
}

TEST(ExecMachine, TakesBackARequestThatTimesOutUnwritten) {
  ExecConnection connection;
  RequestForTest stuck("PING"), waiting("GET secret");
  connection.Submit(stuck);
  connection.Submit(waiting);
  connection.Pass(kTimeoutUs);
  ExpectFailure(stuck, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "redis://h:6379 did not answer PING within 1ms");
  ExpectFailure(waiting, ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded,
                "GET could not be sent to redis://h:6379 within 1ms");
  connection.TakeAll();
  EXPECT_EQ(connection.sent, kPing);
}

TEST(ExecMachine, NeedsOneTimerForManyRequests) {
  ExecConnection connection;
  for (int i = 0; i < 10; ++i) {
    RequestForTest request("PING");
    connection.Submit(request);
    connection.TakeAll();
    connection.Receive("+PONG\r\n");
  }
  EXPECT_EQ(connection.timers, 1);
  RequestForTest last("PING");
  connection.Pass(kTimeoutUs - 1);
  connection.Submit(last);
  connection.TakeAll();
  connection.Pass(1);
  EXPECT_FALSE(last.completed());
  EXPECT_EQ(connection.timers, 2);
  EXPECT_EQ(connection.wake_at_us, connection.now_us - 1 + kTimeoutUs);
}

TEST(ExecMachine, NeedsNoTimerWithoutATimeoutOrWithoutRequests) {
  ExecOptions options = TestOptions();
  options.command_timeout_us = ExecOptions::kNoTimeout;
  ExecConnection patient(options);
  RequestForTest request("PING");
  patient.Submit(request);
  EXPECT_EQ(patient.timers, 0);
  ExecConnection idle;
  idle.EndTurn();
  EXPECT_EQ(idle.timers, 0);
}

TEST(ExecMachine, DropsTheRepliesOfAnAbandonedRequest) {
  ExecConnection connection;
  RequestForTest next("GET b");
  {
    RequestForTest gone(Kind::kPipeline, {"GET a", "GET a"});
    connection.Submit(gone);
    connection.TakeAll();
    connection.Receive("$1\r\nA\r\n");
  }
  connection.Submit(next);
  connection.TakeAll();
  connection.Receive("$1\r\nA\r\n$1\r\nB\r\n");
  ExpectReply(next, Reply::Bulk("B"));
}

TEST(ExecMachine, NeverWritesARequestThatWasAbandonedBefore) {
  ExecConnection connection;
  RequestForTest next("PING");
  {
    RequestForTest gone("FLUSHALL");
    connection.machine.Submit(gone);
  }
  connection.Submit(next);
  EXPECT_EQ(connection.pending, kPing);
  connection.TakeAll();
  connection.Receive("+PONG\r\n");
  ExpectReply(next, Reply::Status("PONG"));
}

TEST(ExecMachine, DoesNotKeepAbandonedRequestsBehindAStalledWrite) {
  ExecConnection connection;
  RequestForTest stuck("PING");
  connection.Submit(stuck);
  for (int i = 0; i < 10'000; ++i) {
    RequestForTest gone("PING");
    connection.Submit(gone);
  }
  EXPECT_LT(connection.machine.queued(), 200u);
}

TEST(ExecMachine, FindsAbandonedRequestsInAnyOrder) {
  ExecConnection connection;
  std::vector<std::unique_ptr<RequestForTest>> requests;
  for (int i = 0; i < 8; ++i) {
    requests.push_back(std::make_unique<RequestForTest>("PING"));
    connection.machine.Submit(*requests.back());
  }
  connection.EndTurn();
  connection.TakeAll();
  for (const int gone : {5, 6, 2, 7, 0}) requests[gone].reset();
  for (int i = 0; i < 8; ++i) connection.Receive(":" + std::to_string(i) + "\r\n");
  for (const int kept : {1, 3, 4}) ExpectReply(*requests[kept], Reply::Integer(kept));
}

TEST(ExecMachine, ClosesOnAReplyThatNothingAskedFor) {
  ExecConnection connection;
  EXPECT_TRUE(connection.Receive("+OK\r\n"));
  EXPECT_TRUE(connection.machine.closed());
  RequestForTest late("PING");
  connection.machine.Submit(late);
  EXPECT_EQ(late.result().status().message(),
            "not connected to redis://h:6379: Redis sent a reply that nothing had asked for");
}

TEST(ExecMachine, ClosesOnAReplyToWhatIsNotYetWritten) {
  ExecConnection connection;
  RequestForTest waiting("PING");
  connection.machine.Submit(waiting);
  EXPECT_TRUE(connection.Receive("+PONG\r\n"));
  EXPECT_EQ(store::ErrorKindOf(waiting.result().status()), ErrorKind::kNotSent);
}

TEST(ExecMachine, AnUnreadableReplyFailsItsRequestAndLosesTheConnection) {
  ExecConnection connection;
  RequestForTest good("PING"), bad("GET a"), behind("GET b");
  for (RequestForTest* request : {&good, &bad, &behind}) connection.machine.Submit(*request);
  connection.EndTurn();
  connection.TakeAll();
  EXPECT_TRUE(connection.Receive("+PONG\r\n?\r\n"));
  ExpectReply(good, Reply::Status("PONG"));
  ExpectFailure(bad, ErrorKind::kProtocol, absl::StatusCode::kInternal,
                "Redis's reply cannot be read: a reply begins with byte 63");
  EXPECT_EQ(store::ErrorKindOf(behind.result().status()), ErrorKind::kOutcomeUnknown);
}

TEST(ExecMachine, LetsAWaiterSubmitTheNextRequest) {
  ExecConnection connection;
  RequestForTest first("PING"), second("PING");
  first.on_complete = [&] { connection.machine.Submit(second); };
  connection.Submit(first);
  connection.TakeAll();
  connection.Receive("+PONG\r\n");
  connection.EndTurn();
  connection.TakeAll();
  connection.Receive("+PONG\r\n");
  ExpectReply(second, Reply::Status("PONG"));
}

TEST(ExecMachine, LetsAWaiterAbandonAnother) {
  ExecConnection connection;
  RequestForTest first("PING"), third("PING");
  auto second = std::make_unique<RequestForTest>("PING");
  first.on_complete = [&] { second.reset(); };
  for (RequestForTest* request : {&first, second.get(), &third})
    connection.machine.Submit(*request);
  connection.EndTurn();
  connection.TakeAll();
  connection.Receive(":1\r\n:2\r\n:3\r\n");
  ExpectReply(third, Reply::Integer(3));
}

TEST(ExecMachine, LetsAWaiterCloseTheConnection) {
  ExecConnection connection;
  RequestForTest first("PING"), second("PING");
  first.on_complete = [&] { connection.Lose(); };
  connection.machine.Submit(first);
  connection.Submit(second);
  connection.TakeAll();
  EXPECT_TRUE(connection.Receive(":1\r\n:2\r\n"));
  ExpectReply(first, Reply::Integer(1));
  EXPECT_EQ(store::ErrorKindOf(second.result().status()), ErrorKind::kOutcomeUnknown);
}

TEST(ExecMachine, FailsWhatAWaiterSubmitsWhileTheConnectionIsLost) {
  ExecConnection connection;
  RequestForTest first("PING"), retry("PING");
  first.on_complete = [&] { connection.machine.Submit(retry); };
  connection.Submit(first);
  connection.TakeAll();
  connection.Lose();
  ExpectFailure(retry, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "not connected to redis://h:6379: reset");
}

TEST(ExecMachine, LetsATimedOutWaiterCloseTheConnection) {
  ExecConnection connection;
  RequestForTest first("PING"), second("PING");
  first.on_complete = [&] { connection.Lose(); };
  connection.machine.Submit(first);
  connection.Submit(second);
  connection.TakeAll();
  EXPECT_TRUE(
      connection.machine.Resume(ConnectionEvent::Timer(connection.now_us + kTimeoutUs)).close);
  EXPECT_THAT(second.result(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(ExecMachine, FailsWhatIsLeftWhenDestroyed) {
  auto connection = std::make_unique<ExecConnection>();
  RequestForTest left("PING");
  connection->Submit(left);
  connection->TakeAll();
  connection.reset();
  EXPECT_EQ(left.result().status().message(),
            "the connection to redis://h:6379 was lost (the client was destroyed) before PING was "
            "answered");
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
