#include "backends/redis/fsm/subscribe_machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/redis/fsm/request_for_test.h"
#include "backends/redis/protocol/reply_writer_for_test.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

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

// A machine with a connection that takes all bytes at once.
class Line {
 public:
  explicit Line(SubscribeOptions options = TestOptions()) : machine(std::move(options)) {}

  void Connect() { Perform(machine.Resume(LineEvent::Connected(now_us))); }
  void Submit(RequestForTest& request) {
    machine.Submit(request);
    Perform(machine.Resume(LineEvent::TurnEnded(now_us)));
  }
  bool Receive(std::string_view bytes) {
    const LineAction action = machine.Resume(LineEvent::Received(bytes, now_us));
    if (!action.close) Perform(action);
    return action.close;
  }
  void Lose() { EXPECT_TRUE(machine.Resume(LineEvent::Lost("reset")).close); }
  void Pass(int64_t duration_us) {
    now_us += duration_us;
    Perform(machine.Resume(LineEvent::Timer(now_us)));
  }
  // What was written since the last call.
  std::string TakeSent() { return std::exchange(sent_, {}); }
  // "gap", or the words of a push.
  std::string NextPush() {
    const std::optional<PushEvent> event = machine.TakePush();
    if (!event) return "none";
    return event->is_gap() ? "gap" : event->push->DebugString();
  }

  SubscribeMachine machine;
  int64_t now_us = 5'000;

 private:
  void Perform(LineAction action) {
    while (!action.write.empty()) {
      sent_ += action.write;
      action = machine.Resume(LineEvent::Written(action.write.size()));
    }
  }
  std::string sent_;
};

class SubscribedLine : public Line {
 public:
  SubscribedLine() : request("SUBSCRIBE a") {
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

TEST(SubscribeMachine, GivesTheFirstConfirmationAsTheReplyAndTheRestAsPushes) {
  Line line;
  line.Connect();
  RequestForTest subscribe("SUBSCRIBE a b");
  line.Submit(subscribe);
  EXPECT_EQ(line.TakeSent(), "*3\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n$1\r\nb\r\n");
  line.Receive(Confirmation("subscribe", "a", 1) + Message("a", "early") +
               Confirmation("subscribe", "b", 2));
  ASSERT_TRUE(subscribe.completed());
  EXPECT_EQ(subscribe.result()->DebugString(), R"(["subscribe", "a", 1])");
  EXPECT_EQ(line.NextPush(), R"(["message", "a", "early"])");
  EXPECT_EQ(line.NextPush(), R"(["subscribe", "b", 2])");
  EXPECT_EQ(line.NextPush(), "none");
  EXPECT_EQ(line.machine.subscriptions(), 2u);
  EXPECT_EQ(line.machine.queued(), 0u);
}

TEST(SubscribeMachine, SubscribesAgainAfterALossAndThenTellsTheGap) {
  Line line;
  line.Connect();
  RequestForTest channels("SUBSCRIBE a b"), patterns("PSUBSCRIBE p*"), shards("SSUBSCRIBE s");
  line.Submit(channels);
  line.Submit(patterns);
  line.Submit(shards);
  line.Receive(Confirmation("subscribe", "a", 1) + Confirmation("subscribe", "b", 2) +
               Confirmation("psubscribe", "p*", 3) + Confirmation("ssubscribe", "s", 1));
  while (line.machine.has_push()) line.NextPush();
  line.TakeSent();
  line.Lose();
  EXPECT_FALSE(line.machine.connected());
  EXPECT_EQ(line.NextPush(), "none");
  line.Connect();
  EXPECT_EQ(line.TakeSent(),
            "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n$1\r\nb\r\n"
            "*2\r\n$10\r\npsubscribe\r\n$2\r\np*\r\n*2\r\n$10\r\nssubscribe\r\n$1\r\ns\r\n");
  line.Receive(Confirmation("subscribe", "a", 1) + Message("a", "1") +
               Confirmation("subscribe", "b", 2) + Confirmation("psubscribe", "p*", 3));
  EXPECT_EQ(line.NextPush(), R"(["message", "a", "1"])");
  EXPECT_EQ(line.NextPush(), "none") << "confirmations that nobody asked for are not told";
  line.Receive(Confirmation("ssubscribe", "s", 1));
  EXPECT_EQ(line.NextPush(), "gap");
  EXPECT_EQ(line.NextPush(), "none");
}

TEST(SubscribeMachine, HasNoGapWithoutSubscriptions) {
  Line line;
  line.Connect();
  line.Lose();
  line.Connect();
  EXPECT_EQ(line.TakeSent(), "");
  EXPECT_EQ(line.NextPush(), "none");
}

TEST(SubscribeMachine, ForgetsWhatWasUnsubscribed) {
  SubscribedLine line;
  RequestForTest unsubscribe("UNSUBSCRIBE a");
  line.Submit(unsubscribe);
  line.Receive(Confirmation("unsubscribe", "a", 0));
  EXPECT_TRUE(unsubscribe.completed());
  EXPECT_EQ(line.machine.subscriptions(), 0u);
  line.TakeSent();
  line.Lose();
  line.Connect();
  EXPECT_EQ(line.TakeSent(), "");
}

TEST(SubscribeMachine, UnsubscribingFromAllIsConfirmedForEachOrOnceForNone) {
  Line line;
  line.Connect();
  RequestForTest subscribe("SUBSCRIBE a b"), all("UNSUBSCRIBE"), none("UNSUBSCRIBE"), ping("PING");
  line.Submit(subscribe);
  line.Receive(Confirmation("subscribe", "a", 1) + Confirmation("subscribe", "b", 2));
  for (RequestForTest* request : {&all, &none, &ping}) line.Submit(*request);
  line.Receive(Confirmation("unsubscribe", "b", 1) + Confirmation("unsubscribe", "a", 0));
  EXPECT_TRUE(all.completed());
  EXPECT_FALSE(none.completed());
  line.Receive(Words({Reply::Bulk("unsubscribe"), Reply::Nil(), Reply::Integer(0)}));
  EXPECT_TRUE(none.completed());
  line.Receive("+PONG\r\n");
  EXPECT_EQ(*ping.result(), Reply::Status("PONG"));
}

TEST(SubscribeMachine, TakesThePongOfASubscribedConnection) {
  SubscribedLine line;
  RequestForTest ping("PING");
  line.machine.Ping();
  line.Submit(ping);
  const std::string pong = Words({Reply::Bulk("pong"), Reply::Bulk("")});
  line.Receive(pong);
  EXPECT_FALSE(ping.completed()) << "the first was the machine's own";
  line.Receive(pong);
  EXPECT_TRUE(ping.completed());
}

TEST(SubscribeMachine, DropsTheOldestAndTellsItAsAGap) {
  SubscribedLine line;
  for (const char* payload : {"1", "2", "3", "4", "5"}) line.Receive(Message("a", payload));
  EXPECT_EQ(line.NextPush(), "gap");
  EXPECT_EQ(line.NextPush(), R"(["message", "a", "3"])");
  EXPECT_EQ(line.NextPush(), R"(["message", "a", "4"])");
  EXPECT_EQ(line.NextPush(), R"(["message", "a", "5"])");
  EXPECT_EQ(line.NextPush(), "none");
}

TEST(SubscribeMachine, CountsPushesAndThoseDropped) {
  Counters counters;
  SubscribeOptions options = TestOptions();
  options.counters = &counters;
  Line line(options);
  line.Connect();
  RequestForTest subscribe("SUBSCRIBE a");
  line.Submit(subscribe);
  line.Receive(Confirmation("subscribe", "a", 1));
  for (int i = 0; i < 5; ++i) line.Receive(Message("a", "x"));
  EXPECT_EQ(counters.pushes, 5u);
  EXPECT_EQ(counters.pushes_dropped, 2u);
  EXPECT_EQ(counters.answered, 1u);
  EXPECT_EQ(counters.in_flight, 0u);
}

TEST(SubscribeMachine, TellsEachLossAsOneGapUntilItIsRead) {
  SubscribedLine line;
  for (int i = 0; i < 2; ++i) {
    line.Lose();
    line.Connect();
    line.Receive(Confirmation("subscribe", "a", 1));
  }
  EXPECT_EQ(line.NextPush(), "gap");
  EXPECT_EQ(line.NextPush(), "none");
}

TEST(SubscribeMachine, ALossFailsWhatWasNotConfirmed) {
  Line line;
  RequestForTest early("SUBSCRIBE a");
  line.Connect();
  line.Submit(early);
  line.Lose();
  ExpectFailure(early, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the connection to redis://h:6379 was lost (reset) before SUBSCRIBE was answered");
  RequestForTest waiting("SUBSCRIBE b");
  line.Submit(waiting);
  line.Lose();
  EXPECT_FALSE(waiting.completed()) << "an attempt that fails is no loss";
  line.TakeSent();
  line.Connect();
  EXPECT_EQ(line.TakeSent(), "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nb\r\n");
}

TEST(SubscribeMachine, AnErrorIsTheReplyOfItsRequest) {
  Line line;
  line.Connect();
  RequestForTest subscribe("SUBSCRIBE a b"), ping("PING");
  line.Submit(subscribe);
  line.Submit(ping);
  line.Receive("-NOPERM no\r\n+PONG\r\n");
  EXPECT_EQ(*subscribe.result(), Reply::Error("NOPERM no"));
  EXPECT_TRUE(ping.completed());
  EXPECT_EQ(line.machine.subscriptions(), 0u);
}

TEST(SubscribeMachine, GivesUpAConnectionThatRefusesWhatWasGranted) {
  SubscribedLine line;
  line.Lose();
  line.Connect();
  EXPECT_TRUE(line.Receive("-NOPERM no\r\n"));
  EXPECT_FALSE(line.machine.connected());
  EXPECT_FALSE(line.machine.closed());
}

TEST(SubscribeMachine, RefusesOtherCommands) {
  Line line;
  line.Connect();
  RequestForTest get("GET a"), none("SUBSCRIBE"),
      batch(store::Request::Kind::kPipeline, {"SUBSCRIBE a"});
  for (RequestForTest* request : {&get, &none, &batch}) {
    line.Submit(*request);
    ExpectFailure(*request, ErrorKind::kNotSent, absl::StatusCode::kFailedPrecondition,
                  "a connection for subscriptions carries SUBSCRIBE, UNSUBSCRIBE, their kin and "
                  "PING only");
  }
}

TEST(SubscribeMachine, TimesOutAndGivesTheLateConfirmationAsAPush) {
  Line line;
  line.Connect();
  RequestForTest subscribe("SUBSCRIBE a");
  line.Submit(subscribe);
  line.Pass(kTimeoutUs);
  ExpectFailure(subscribe, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "redis://h:6379 did not answer SUBSCRIBE within 1ms");
  line.Receive(Confirmation("subscribe", "a", 1));
  EXPECT_EQ(line.NextPush(), R"(["subscribe", "a", 1])");
  EXPECT_EQ(line.machine.subscriptions(), 1u);
}

TEST(SubscribeMachine, TakesBackWhatWasNotSentInTime) {
  Line line;
  RequestForTest subscribe("SUBSCRIBE a");
  line.Submit(subscribe);
  line.Pass(kTimeoutUs);
  ExpectFailure(subscribe, ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded,
                "SUBSCRIBE could not be sent to redis://h:6379 within 1ms");
  line.Connect();
  EXPECT_EQ(line.TakeSent(), "");
}

TEST(SubscribeMachine, KeepsTheSubscriptionOfAWaiterThatWentAway) {
  Line line;
  line.Connect();
  auto subscribe = std::make_unique<RequestForTest>("SUBSCRIBE a");
  line.Submit(*subscribe);
  subscribe.reset();
  line.Receive(Confirmation("subscribe", "a", 1));
  EXPECT_EQ(line.machine.subscriptions(), 1u);
}

TEST(SubscribeMachine, ClosesOnWhatNothingAskedFor) {
  for (const char* bytes : {"+OK\r\n", ":1\r\n", "*0\r\n", "what?\r\n", "-ERR x\r\n"}) {
    Line line;
    line.Connect();
    EXPECT_TRUE(line.Receive(bytes)) << bytes;
    EXPECT_FALSE(line.machine.connected()) << bytes;
  }
}

TEST(SubscribeMachine, TakesAnEndThatTheClusterDecided) {
  Line line;
  line.Connect();
  RequestForTest subscribe("SSUBSCRIBE s");
  line.Submit(subscribe);
  line.Receive(Confirmation("ssubscribe", "s", 1) + Confirmation("sunsubscribe", "s", 0));
  EXPECT_EQ(line.NextPush(), R"(["sunsubscribe", "s", 0])");
  EXPECT_EQ(line.machine.subscriptions(), 0u);
}

TEST(SubscribeMachine, FailsEverythingOnceClosed) {
  Line line;
  RequestForTest waiting("PING"), late("PING");
  line.Submit(waiting);
  EXPECT_TRUE(line.machine.Resume(LineEvent::Closed("over")).close);
  ExpectFailure(waiting, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "the connection to redis://h:6379 was lost (over) before PING was sent");
  line.Submit(late);
  ExpectFailure(late, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "not connected to redis://h:6379: over");
}

}  // namespace
}  // namespace redouble::redis
