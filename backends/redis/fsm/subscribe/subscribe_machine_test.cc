#include "redouble/backends/redis/fsm/subscribe/subscribe_machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/resp/reply_writer_for_test.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOkAndHolds;
using store::ErrorKind;
using store::Reply;

constexpr int64_t kTimeoutUs = 1000;

SubscribeOptions TestOptions() {
  SubscribeOptions options;
  options.address = "redis://h:6379";
  options.command_timeout_us = kTimeoutUs;
  options.push_queue = 3;
  return options;
}

std::string Words(std::vector<Reply> words) { return ToResp(Reply::Array(std::move(words))); }

std::string Confirmation(const char* word, const char* channel, int64_t count) {
  return Words({Reply::Bulk(word), Reply::Bulk(channel), Reply::Integer(count)});
}

std::string Message(const char* channel, const char* payload) {
  return Words({Reply::Bulk("message"), Reply::Bulk(channel), Reply::Bulk(payload)});
}

// A machine on a scripted connection that accepts all bytes at once.
class SubscribeConnection {
 public:
  explicit SubscribeConnection(SubscribeOptions options = TestOptions())
      : machine(std::move(options)) {}

  void Connect() { Perform(machine.Resume(ConnectionEvent::Connected(now_us))); }
  void Submit(RequestForTest& request) {
    machine.Submit(request);
    Perform(machine.Resume(ConnectionEvent::TurnEnded(now_us)));
  }
  bool Receive(std::string_view bytes) {
    const ConnectionAction action = machine.Resume(ConnectionEvent::Received(bytes, now_us));
    if (!action.close) Perform(action);
    return action.close;
  }
  void Lose() { EXPECT_TRUE(machine.Resume(ConnectionEvent::Lost("reset")).close); }
  void Pass(int64_t duration_us) {
    now_us += duration_us;
    Perform(machine.Resume(ConnectionEvent::Timer(now_us)));
  }
  // Returns the bytes written since the last call.
  std::string TakeSent() { return std::exchange(sent_, {}); }
  // The next push as text, "gap", or "none".
  std::string NextPush() {
    const std::optional<PushEvent> event = machine.TakePush();
    if (!event) return "none";
    return event->is_gap() ? "gap" : event->push->DebugString();
  }

  SubscribeMachine machine;
  int64_t now_us = 5'000;

 private:
  void Perform(ConnectionAction action) {
    while (!action.write.empty()) {
      sent_ += action.write;
      action = machine.Resume(ConnectionEvent::Written(action.write.size()));
    }
  }
  std::string sent_;
};

class SubscribedConnection : public SubscribeConnection {
 public:
  SubscribedConnection() : request("SUBSCRIBE a") {
    Connect();
    Submit(request);
    TakeSent();
    Receive(Confirmation("subscribe", "a", 1));
  }
  RequestForTest request;
};

void ExpectFailure(RequestForTest& request, ErrorKind kind, absl::StatusCode code,
                   const std::string& message) {
  ASSERT_TRUE(request.completed());
  EXPECT_EQ(store::ErrorKindOf(request.result().status()), kind);
  EXPECT_EQ(request.result().status().code(), code);
  EXPECT_EQ(request.result().status().message(), message);
}

TEST(SubscribeMachine, ReturnsTheFirstConfirmationAsTheReplyAndTheRestAsPushes) {
  SubscribeConnection connection;
  connection.Connect();
  RequestForTest subscribe("SUBSCRIBE a b");
  connection.Submit(subscribe);
  EXPECT_EQ(connection.TakeSent(), "*3\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n$1\r\nb\r\n");
  connection.Receive(Confirmation("subscribe", "a", 1) + Message("a", "early") +
                     Confirmation("subscribe", "b", 2));
  ASSERT_TRUE(subscribe.completed());
  EXPECT_EQ(subscribe.result()->DebugString(), R"(["subscribe", "a", 1])");
  EXPECT_EQ(connection.NextPush(), R"(["message", "a", "early"])");
  EXPECT_EQ(connection.NextPush(), R"(["subscribe", "b", 2])");
  EXPECT_EQ(connection.NextPush(), "none");
  EXPECT_EQ(connection.machine.subscriptions(), 2u);
  EXPECT_EQ(connection.machine.queued(), 0u);
}

TEST(SubscribeMachine, SubscribesAgainAfterALossAndThenReportsTheGap) {
  SubscribeConnection connection;
  connection.Connect();
  RequestForTest channels("SUBSCRIBE a b"), patterns("PSUBSCRIBE p*"), shards("SSUBSCRIBE s");
  connection.Submit(channels);
  connection.Submit(patterns);
  connection.Submit(shards);
  connection.Receive(Confirmation("subscribe", "a", 1) + Confirmation("subscribe", "b", 2) +
                     Confirmation("psubscribe", "p*", 3) + Confirmation("ssubscribe", "s", 1));
  while (connection.machine.has_push()) connection.NextPush();
  connection.TakeSent();
  connection.Lose();
  EXPECT_FALSE(connection.machine.connected());
  EXPECT_EQ(connection.NextPush(), "none");
  connection.Connect();
  EXPECT_EQ(connection.TakeSent(),
            "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n$1\r\nb\r\n"
            "*2\r\n$10\r\npsubscribe\r\n$2\r\np*\r\n*2\r\n$10\r\nssubscribe\r\n$1\r\ns\r\n");
  connection.Receive(Confirmation("subscribe", "a", 1) + Message("a", "1") +
                     Confirmation("subscribe", "b", 2) + Confirmation("psubscribe", "p*", 3));
  EXPECT_EQ(connection.NextPush(), R"(["message", "a", "1"])");
  EXPECT_EQ(connection.NextPush(), "none") << "confirmations that nobody asked for are not told";
  connection.Receive(Confirmation("ssubscribe", "s", 1));
  EXPECT_EQ(connection.NextPush(), "gap");
  EXPECT_EQ(connection.NextPush(), "none");
}

TEST(SubscribeMachine, HasNoGapWithoutSubscriptions) {
  SubscribeConnection connection;
  connection.Connect();
  connection.Lose();
  connection.Connect();
  EXPECT_EQ(connection.TakeSent(), "");
  EXPECT_EQ(connection.NextPush(), "none");
}

TEST(SubscribeMachine, ForgetsWhatWasUnsubscribed) {
  SubscribedConnection connection;
  RequestForTest unsubscribe("UNSUBSCRIBE a");
  connection.Submit(unsubscribe);
  connection.Receive(Confirmation("unsubscribe", "a", 0));
  EXPECT_TRUE(unsubscribe.completed());
  EXPECT_EQ(connection.machine.subscriptions(), 0u);
  connection.TakeSent();
  connection.Lose();
  connection.Connect();
  EXPECT_EQ(connection.TakeSent(), "");
}

TEST(SubscribeMachine, UnsubscribingFromAllIsConfirmedForEachOrOnceForNone) {
  SubscribeConnection connection;
  connection.Connect();
  RequestForTest subscribe("SUBSCRIBE a b"), all("UNSUBSCRIBE"), none("UNSUBSCRIBE"), ping("PING");
  connection.Submit(subscribe);
  connection.Receive(Confirmation("subscribe", "a", 1) + Confirmation("subscribe", "b", 2));
  for (RequestForTest* request : {&all, &none, &ping}) connection.Submit(*request);
  connection.Receive(Confirmation("unsubscribe", "b", 1) + Confirmation("unsubscribe", "a", 0));
  EXPECT_TRUE(all.completed());
  EXPECT_FALSE(none.completed());
  connection.Receive(Words({Reply::Bulk("unsubscribe"), Reply::Nil(), Reply::Integer(0)}));
  EXPECT_TRUE(none.completed());
  connection.Receive("+PONG\r\n");
  EXPECT_THAT(ping.result(), IsOkAndHolds(Reply::Status("PONG")));
}

TEST(SubscribeMachine, TakesThePongOfASubscribedConnection) {
  SubscribedConnection connection;
  RequestForTest ping("PING");
  connection.machine.Ping();
  connection.Submit(ping);
  const std::string pong = Words({Reply::Bulk("pong"), Reply::Bulk("")});
  connection.Receive(pong);
  EXPECT_FALSE(ping.completed()) << "the first was the machine's own";
  connection.Receive(pong);
  EXPECT_TRUE(ping.completed());
}

TEST(SubscribeMachine, DropsTheOldestPushAndReportsAGap) {
  SubscribedConnection connection;
  for (const char* payload : {"1", "2", "3", "4", "5"}) connection.Receive(Message("a", payload));
  EXPECT_EQ(connection.NextPush(), "gap");
  EXPECT_EQ(connection.NextPush(), R"(["message", "a", "3"])");
  EXPECT_EQ(connection.NextPush(), R"(["message", "a", "4"])");
  EXPECT_EQ(connection.NextPush(), R"(["message", "a", "5"])");
  EXPECT_EQ(connection.NextPush(), "none");
}

TEST(SubscribeMachine, CountsPushesAndThoseDropped) {
  Counters counters;
  SubscribeOptions options = TestOptions();
  options.counters = &counters;
  SubscribeConnection connection(options);
  connection.Connect();
  RequestForTest subscribe("SUBSCRIBE a");
  connection.Submit(subscribe);
  connection.Receive(Confirmation("subscribe", "a", 1));
  for (int i = 0; i < 5; ++i) connection.Receive(Message("a", "x"));
  EXPECT_EQ(counters.pushes, 5u);
  EXPECT_EQ(counters.pushes_dropped, 2u);
  EXPECT_EQ(counters.answered, 1u);
  EXPECT_EQ(counters.in_flight, 0u);
}

TEST(SubscribeMachine, ReportsEachLossAsOneGapUntilItIsRead) {
  SubscribedConnection connection;
  for (int i = 0; i < 2; ++i) {
    connection.Lose();
    connection.Connect();
    connection.Receive(Confirmation("subscribe", "a", 1));
  }
  EXPECT_EQ(connection.NextPush(), "gap");
  EXPECT_EQ(connection.NextPush(), "none");
}

TEST(SubscribeMachine, ALossFailsWhatWasNotConfirmed) {
  SubscribeConnection connection;
  RequestForTest early("SUBSCRIBE a");
  connection.Connect();
  connection.Submit(early);
  connection.Lose();
  ExpectFailure(early, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the connection to redis://h:6379 was lost (reset) before SUBSCRIBE was answered");
  RequestForTest waiting("SUBSCRIBE b");
  connection.Submit(waiting);
  connection.Lose();
  EXPECT_FALSE(waiting.completed()) << "an attempt that fails is no loss";
  connection.TakeSent();
  connection.Connect();
  EXPECT_EQ(connection.TakeSent(), "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nb\r\n");
}

TEST(SubscribeMachine, AnErrorIsTheReplyOfItsRequest) {
  SubscribeConnection connection;
  connection.Connect();
  RequestForTest subscribe("SUBSCRIBE a b"), ping("PING");
  connection.Submit(subscribe);
  connection.Submit(ping);
  connection.Receive("-NOPERM no\r\n+PONG\r\n");
  EXPECT_THAT(subscribe.result(), IsOkAndHolds(Reply::Error("NOPERM no")));
  EXPECT_TRUE(ping.completed());
  EXPECT_EQ(connection.machine.subscriptions(), 0u);
}

TEST(SubscribeMachine, GivesUpAConnectionThatRefusesAnEarlierSubscription) {
  SubscribedConnection connection;
  connection.Lose();
  connection.Connect();
  EXPECT_TRUE(connection.Receive("-NOPERM no\r\n"));
  EXPECT_FALSE(connection.machine.connected());
  EXPECT_FALSE(connection.machine.closed());
}

TEST(SubscribeMachine, RefusesOtherCommands) {
  SubscribeConnection connection;
  connection.Connect();
  RequestForTest get("GET a"), none("SUBSCRIBE"),
      batch(store::Request::Kind::kPipeline, {"SUBSCRIBE a"});
  for (RequestForTest* request : {&get, &none, &batch}) {
    connection.Submit(*request);
    ExpectFailure(*request, ErrorKind::kNotSent, absl::StatusCode::kFailedPrecondition,
                  "a connection for subscriptions carries SUBSCRIBE, UNSUBSCRIBE, their kin and "
                  "PING only");
  }
}

TEST(SubscribeMachine, TimesOutAndReturnsTheLateConfirmationAsAPush) {
  SubscribeConnection connection;
  connection.Connect();
  RequestForTest subscribe("SUBSCRIBE a");
  connection.Submit(subscribe);
  connection.Pass(kTimeoutUs);
  ExpectFailure(subscribe, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "redis://h:6379 did not answer SUBSCRIBE within 1ms");
  connection.Receive(Confirmation("subscribe", "a", 1));
  EXPECT_EQ(connection.NextPush(), R"(["subscribe", "a", 1])");
  EXPECT_EQ(connection.machine.subscriptions(), 1u);
}

TEST(SubscribeMachine, ForgetsAnAbandonedRequestThatCannotBeSentInTime) {
  SubscribeConnection connection;
  auto early = std::make_unique<RequestForTest>("SUBSCRIBE a");
  connection.Submit(*early);
  early.reset();
  connection.Pass(kTimeoutUs / 2);
  auto late = std::make_unique<RequestForTest>("SUBSCRIBE b");
  connection.Submit(*late);
  late.reset();
  connection.Pass(kTimeoutUs / 2);
  EXPECT_EQ(connection.machine.queued(), 1u);
  connection.Connect();
  EXPECT_EQ(connection.TakeSent(), "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nb\r\n");
}

TEST(SubscribeMachine, TakesBackWhatWasNotSentInTime) {
  SubscribeConnection connection;
  RequestForTest subscribe("SUBSCRIBE a");
  connection.Submit(subscribe);
  connection.Pass(kTimeoutUs);
  ExpectFailure(subscribe, ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded,
                "SUBSCRIBE could not be sent to redis://h:6379 within 1ms");
  connection.Connect();
  EXPECT_EQ(connection.TakeSent(), "");
}

TEST(SubscribeMachine, KeepsTheSubscriptionOfAWaiterThatWentAway) {
  SubscribeConnection connection;
  connection.Connect();
  auto subscribe = std::make_unique<RequestForTest>("SUBSCRIBE a");
  connection.Submit(*subscribe);
  subscribe.reset();
  connection.Receive(Confirmation("subscribe", "a", 1));
  EXPECT_EQ(connection.machine.subscriptions(), 1u);
}

TEST(SubscribeMachine, ClosesOnWhatNothingAskedFor) {
  for (const char* bytes : {"+OK\r\n", ":1\r\n", "*0\r\n", "what?\r\n", "-ERR x\r\n"}) {
    SubscribeConnection connection;
    connection.Connect();
    EXPECT_TRUE(connection.Receive(bytes)) << bytes;
    EXPECT_FALSE(connection.machine.connected()) << bytes;
  }
}

TEST(SubscribeMachine, TakesAnEndThatTheClusterDecided) {
  SubscribeConnection connection;
  connection.Connect();
  RequestForTest subscribe("SSUBSCRIBE s");
  connection.Submit(subscribe);
  connection.Receive(Confirmation("ssubscribe", "s", 1) + Confirmation("sunsubscribe", "s", 0));
  EXPECT_EQ(connection.NextPush(), R"(["sunsubscribe", "s", 0])");
  EXPECT_EQ(connection.machine.subscriptions(), 0u);
}

TEST(SubscribeMachine, FailsEverythingOnceClosed) {
  SubscribeConnection connection;
  RequestForTest waiting("PING"), late("PING");
  connection.Submit(waiting);
  EXPECT_TRUE(connection.machine.Resume(ConnectionEvent::Closed("over")).close);
  ExpectFailure(waiting, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "the connection to redis://h:6379 was lost (over) before PING was sent");
  connection.Submit(late);
  ExpectFailure(late, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "not connected to redis://h:6379: over");
}

TEST(SubscribeMachine, RefusesRequestsBeyondItsLimits) {
  SubscribeOptions options;
  options.queue = {2, 20};
  SubscribeMachine machine(options);
  RequestForTest first("SUBSCRIBE a"), second("SUBSCRIBE b");
  machine.Submit(first);
  machine.Submit(second);
  ASSERT_TRUE(second.completed());
  EXPECT_EQ(second.result().status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(store::ErrorKindOf(second.result().status()), store::ErrorKind::kNotSent);
  // Encoded requests hold no bytes, but they still count.
  machine.Resume(ConnectionEvent::Connected(1));
  RequestForTest third("SUBSCRIBE c"), fourth("SUBSCRIBE d");
  machine.Submit(third);
  EXPECT_FALSE(third.completed());
  machine.Submit(fourth);
  ASSERT_TRUE(fourth.completed());
  EXPECT_EQ(fourth.result().status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
