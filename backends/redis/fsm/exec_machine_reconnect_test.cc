// What an ExecMachine does when its connection is lost and another one comes, and how often it
// writes a request then.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/redis/fsm/exec_line_for_test.h"
#include "backends/redis/fsm/exec_machine.h"
#include "backends/redis/fsm/request_for_test.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

using store::ErrorKind;
using store::Reply;
using Kind = store::Request::Kind;

ExecOptions ReconnectingOptions(RetryPolicy retry = RetryPolicy::kNever) {
  ExecOptions options = TestOptions();
  options.reconnects = true;
  options.retry = retry;
  options.attempts = 2;
  return options;
}

TEST(ExecMachine, KeepsWhatIsSubmittedWithoutAConnectionForTheNext) {
  ExecOptions options = ReconnectingOptions();
  options.connected = false;
  Line line(options);
  RequestForTest get("GET key");
  line.Submit(get);
  EXPECT_EQ(line.pending, "");
  EXPECT_FALSE(line.machine.connected());
  line.LoseForNow();
  EXPECT_FALSE(get.completed()) << "an attempt that fails is no loss";
  line.Connect();
  EXPECT_EQ(line.pending, "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n");
  line.TakeAll();
  line.Receive("$1\r\nx\r\n");
  ExpectReply(get, Reply::Bulk("x"));
}

TEST(ExecMachine, SaysWhyThereWasNoConnectionInTime) {
  Line line(ReconnectingOptions());
  line.LoseForNow();
  RequestForTest get("GET key");
  line.Submit(get);
  line.Pass(kTimeoutUs);
  ExpectFailure(get, ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded,
                "GET could not be sent to redis://h:6379 within 1ms (not connected: reset)");
}

TEST(ExecMachine, SendsNothingTwiceUnlessAsked) {
  Line line(ReconnectingOptions());
  RequestForTest sent("GET key"), unsent("GET key");
  line.Submit(sent);
  line.TakeAll();
  line.Submit(unsent);
  line.LoseForNow();
  ExpectFailure(sent, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the connection to redis://h:6379 was lost (reset) before GET was answered");
  ExpectFailure(unsent, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "the connection to redis://h:6379 was lost (reset) before GET was sent");
  line.Connect();
  EXPECT_EQ(line.pending, "");
}

TEST(ExecMachine, KeepsTheCertainlyUnsentWhenAsked) {
  Line line(ReconnectingOptions(RetryPolicy::kNotSent));
  RequestForTest sent("GET a"), unsent("INCR b");
  line.Submit(sent);
  line.Take(1);
  line.machine.Submit(unsent);
  line.EndTurn();
  line.LoseForNow();
  EXPECT_EQ(store::ErrorKindOf(sent.result().status()), ErrorKind::kOutcomeUnknown)
      << "one byte is enough to be in doubt";
  EXPECT_FALSE(unsent.completed());
  line.Connect();
  line.TakeAll();
  line.Receive(":1\r\n");
  ExpectReply(unsent, Reply::Integer(1));
}

TEST(ExecMachine, WritesAgainWhatOnlyReadsWhenAsked) {
  Line line(ReconnectingOptions(RetryPolicy::kIdempotent));
  RequestForTest get("GET a"), incr("INCR b"), unknown("NO.SUCH c"),
      reads(Kind::kPipeline, {"GET a", "TTL a"}), mixed(Kind::kPipeline, {"GET a", "SET a 1"});
  for (RequestForTest* request : {&get, &incr, &unknown, &reads, &mixed}) {
    line.machine.Submit(*request);
  }
  line.EndTurn();
  line.TakeAll();
  line.LoseForNow();
  for (RequestForTest* request : {&incr, &unknown, &mixed}) {
    ASSERT_TRUE(request->completed());
    EXPECT_EQ(store::ErrorKindOf(request->result().status()), ErrorKind::kOutcomeUnknown);
  }
  line.sent.clear();
  line.Connect();
  line.TakeAll();
  EXPECT_EQ(line.sent,
            "*2\r\n$3\r\nGET\r\n$1\r\na\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n"
            "*2\r\n$3\r\nTTL\r\n$1\r\na\r\n");
  line.Receive("$1\r\nx\r\n$1\r\nx\r\n:-1\r\n");
  ExpectReply(get, Reply::Bulk("x"));
  ExpectReply(reads, Reply::Array({Reply::Bulk("x"), Reply::Integer(-1)}));
}

TEST(ExecMachine, ForgetsTheRepliesThatAPipelineHadBeforeTheLoss) {
  Line line(ReconnectingOptions(RetryPolicy::kIdempotent));
  RequestForTest reads(Kind::kPipeline, {"GET a", "GET b"});
  line.Submit(reads);
  line.TakeAll();
  line.Receive("$3\r\nold\r\n$3\r\nol");
  line.LoseForNow();
  line.Connect();
  line.TakeAll();
  line.Receive("$3\r\nnew\r\n$3\r\nnew\r\n");
  ExpectReply(reads, Reply::Array({Reply::Bulk("new"), Reply::Bulk("new")}));
}

TEST(ExecMachine, WritesAgainWhatIsDeclaredIdempotent) {
  ExecOptions options = ReconnectingOptions(RetryPolicy::kIdempotent);
  options.is_idempotent = [](const store::Request& request) {
    return request.commands()[0].arguments()[0] == "fixed";
  };
  Line line(options);
  RequestForTest fixed("SET fixed 1"), other("SET other 1");
  line.machine.Submit(fixed);
  line.Submit(other);
  line.TakeAll();
  line.LoseForNow();
  EXPECT_TRUE(other.completed());
  line.Connect();
  line.TakeAll();
  line.Receive("+OK\r\n");
  ExpectReply(fixed, Reply::Ok());
}

TEST(ExecMachine, WritesARequestNoMoreOftenThanAllowed) {
  Counters counters;
  ExecOptions options = ReconnectingOptions(RetryPolicy::kIdempotent);
  options.counters = &counters;
  Line line(options);
  RequestForTest get("GET a");
  line.Submit(get);
  line.TakeAll();
  line.LoseForNow();
  line.Connect();
  line.LoseForNow();
  EXPECT_FALSE(get.completed()) << "what was not written does not count";
  line.Connect();
  line.TakeAll();
  line.LoseForNow();
  ExpectFailure(get, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the connection to redis://h:6379 was lost (reset) before GET was answered");
  EXPECT_EQ(counters.retries, 2u);
}

TEST(ExecMachine, ARetriedRequestKeepsItsDeadlineAndItsDoubt) {
  Line line(ReconnectingOptions(RetryPolicy::kIdempotent));
  RequestForTest get("GET a");
  line.Submit(get);
  line.TakeAll();
  line.Pass(kTimeoutUs / 2);
  line.LoseForNow();
  line.EndTurn();
  line.Pass(kTimeoutUs / 2);
  ExpectFailure(get, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "redis://h:6379 did not answer GET within 1ms");
}

TEST(ExecMachine, ReadsANewConnectionFromItsStart) {
  Line line(ReconnectingOptions());
  RequestForTest lost("GET a"), next("GET b");
  line.Submit(lost);
  line.TakeAll();
  line.Receive("$100\r\nhalf a va");
  line.LoseForNow();
  line.Connect();
  line.Submit(next);
  line.TakeAll();
  line.Receive("$1\r\nb\r\n");
  ExpectReply(next, Reply::Bulk("b"));
}

TEST(ExecMachine, AnUnreadableReplyCostsOnlyTheConnection) {
  Line line(ReconnectingOptions());
  RequestForTest first("GET a"), second("GET b");
  line.Submit(first);
  line.TakeAll();
  EXPECT_TRUE(line.Receive("what?\r\n"));
  EXPECT_EQ(store::ErrorKindOf(first.result().status()), ErrorKind::kProtocol);
  EXPECT_FALSE(line.machine.closed());
  line.Connect();
  line.Submit(second);
  line.TakeAll();
  line.Receive("$1\r\nb\r\n");
  ExpectReply(second, Reply::Bulk("b"));
}

TEST(ExecMachine, QueuesWhatAWaiterSubmitsDuringALoss) {
  Line line(ReconnectingOptions());
  RequestForTest first("GET a"), second("GET b");
  first.on_complete = [&] { line.machine.Submit(second); };
  line.Submit(first);
  line.TakeAll();
  line.LoseForNow();
  EXPECT_FALSE(second.completed());
  line.Connect();
  line.TakeAll();
  line.Receive("$1\r\nb\r\n");
  ExpectReply(second, Reply::Bulk("b"));
}

TEST(ExecMachine, LetsAWaiterAbandonAnotherThatFailsNext) {
  Line line(ReconnectingOptions());
  RequestForTest first("GET a");
  auto second = std::make_unique<RequestForTest>("GET b");
  first.on_complete = [&] { second.reset(); };
  line.machine.Submit(first);
  line.Submit(*second);
  line.TakeAll();
  line.LoseForNow();
  EXPECT_TRUE(first.completed());
  EXPECT_EQ(second, nullptr);
}

TEST(ExecMachine, FailsWhatWaitsWhenItIsClosedForGood) {
  Line line(ReconnectingOptions(RetryPolicy::kIdempotent));
  RequestForTest get("GET a");
  line.LoseForNow();
  line.Submit(get);
  EXPECT_TRUE(line.machine.Resume(LineEvent::Closed("over")).close);
  ExpectFailure(get, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "the connection to redis://h:6379 was lost (over) before GET was sent");
  EXPECT_TRUE(line.machine.closed());
}

TEST(ExecMachine, RefusesRequestsBeyondItsLimit) {
  ExecOptions options = TestOptions();
  options.queue_limit = 1;
  Line line(options);
  RequestForTest first("GET a"), second("GET b");
  line.machine.Submit(first);
  line.machine.Submit(second);
  ExpectFailure(second, ErrorKind::kNotSent, absl::StatusCode::kResourceExhausted,
                "1 requests wait for redis://h:6379 already");
}

TEST(ExecMachine, GivesABlockingCommandItsOwnTime) {
  ExecOptions options = TestOptions();
  options.sharing = Sharing::kPooled;
  Line line(options);
  RequestForTest pop("BLPOP key 0.002");
  line.Submit(pop);
  line.TakeAll();
  line.Pass(2 * kTimeoutUs);
  EXPECT_FALSE(pop.completed());
  line.Pass(kTimeoutUs);
  ExpectFailure(pop, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "redis://h:6379 did not answer BLPOP within 3ms");
}

TEST(ExecMachine, EndsABlockingCommandAtTheLimitForAll) {
  ExecOptions options = TestOptions();
  options.sharing = Sharing::kDedicated;
  options.blocking_timeout_us = 5 * kTimeoutUs;
  Line line(options);
  RequestForTest pop("BLPOP key 0"), ping("PING");
  line.Submit(pop);
  line.Submit(ping);
  line.TakeAll();
  line.Pass(kTimeoutUs);
  EXPECT_TRUE(ping.completed()) << "a shorter limit behind a longer one is kept, too";
  EXPECT_FALSE(pop.completed());
  line.Pass(4 * kTimeoutUs);
  EXPECT_TRUE(pop.completed());
}

TEST(ExecMachine, PingsForItsHealthOneAtATime) {
  Counters counters;
  ExecOptions options = TestOptions();
  options.counters = &counters;
  Line line(options);
  line.machine.Ping();
  line.machine.Ping();
  line.EndTurn();
  line.TakeAll();
  EXPECT_EQ(line.sent, kPing);
  line.Receive("+PONG\r\n");
  line.machine.Ping();
  EXPECT_EQ(counters.pings, 2u);
}

TEST(ExecMachine, CountsWhatBecameOfRequests) {
  Counters counters;
  ExecOptions options = TestOptions();
  options.counters = &counters;
  Line line(options);
  RequestForTest answered("GET a"), late("GET b"), refused("SUBSCRIBE c");
  auto abandoned = std::make_unique<RequestForTest>(
      Kind::kPipeline, std::initializer_list<std::string_view>{"GET d", "GET e"});
  for (RequestForTest* request : {&answered, abandoned.get(), &late, &refused}) {
    line.machine.Submit(*request);
  }
  EXPECT_EQ(counters.in_flight, 3u);
  line.EndTurn();
  line.TakeAll();
  line.now_us += 100;
  line.machine.Resume(LineEvent::Received("$1\r\na\r\n", line.now_us));
  abandoned.reset();
  line.Pass(kTimeoutUs);
  EXPECT_EQ(counters.requests, 4u);
  EXPECT_EQ(counters.commands, 5u);
  EXPECT_EQ(counters.answered, 1u);
  EXPECT_EQ(counters.not_sent, 1u);
  EXPECT_EQ(counters.outcome_unknown, 1u);
  EXPECT_EQ(counters.timeouts, 1u);
  EXPECT_EQ(counters.abandoned, 1u);
  EXPECT_EQ(counters.in_flight, 0u);
  EXPECT_EQ(counters.latency.count(), 1u);
  EXPECT_GE(counters.latency.QuantileMicros(1), 100);
}

TEST(ExecMachine, TakesItsLimitsFromTheOptions) {
  const ExecOptions options = ExecOptions::From(
      *Options::Parse("rediss://h?command_timeout=2s&blocking_timeout=3s&retry=not_sent&"
                      "attempts=4&queue_limit=5"),
      Sharing::kShared);
  EXPECT_EQ(options.address, "rediss://h:6379");
  EXPECT_EQ(options.command_timeout_us, 2'000'000);
  EXPECT_EQ(options.blocking_timeout_us, 3'000'000);
  EXPECT_EQ(options.retry, RetryPolicy::kNotSent);
  EXPECT_EQ(options.attempts, 4);
  EXPECT_EQ(options.queue_limit, 5u);
  EXPECT_TRUE(options.reconnects);
  EXPECT_FALSE(ExecOptions::From(Options(), Sharing::kDedicated).reconnects);
}

// A server that answers each PING with its number, over one connection after another.
struct RandomServer {
  explicit RandomServer(const ExecOptions& options) : line(options) {}

  void Submit() {
    const size_t index = requests.size();
    completions.push_back(0);
    requests.push_back(std::make_unique<RequestForTest>("PING"));
    requests[index]->on_complete = [this, index] { ++completions[index]; };
    line.machine.Submit(*requests[index]);
  }
  void Answer() {
    const size_t unread = line.sent.size() / kPing.size() - answered_here;
    if (!line.machine.connected() || unread == 0) return;
    ++answered_here;
    line.Receive(":" + std::to_string(answered++) + "\r\n");
  }
  void Abandon(size_t index) {
    if (requests[index] && !requests[index]->completed()) requests[index].reset();
  }
  void Lose() {
    line.LoseForNow();
    written += line.sent.size();
    line.sent.clear();
    answered_here = 0;
  }

  Line line;
  std::vector<std::unique_ptr<RequestForTest>> requests;
  std::vector<int> completions;
  size_t answered = 0;
  size_t answered_here = 0;  // On this connection.
  size_t written = 0;        // On earlier ones.
};

void TakeRandomStep(RandomServer& server) {
  switch (*rc::gen::inRange(0, 9)) {
    case 0:
    case 1:
      return server.Submit();
    case 2:
      return server.line.EndTurn();
    case 3:
      if (!server.line.pending.empty()) server.line.Take(*rc::gen::inRange<size_t>(1, 40));
      return;
    case 4:
      return server.Answer();
    case 5:
      return server.line.Pass(*rc::gen::inRange(0, 700));
    case 6:
      if (server.requests.empty()) return;
      return server.Abandon(*rc::gen::inRange<size_t>(0, server.requests.size()));
    case 7:
      return server.Lose();
    case 8:
      if (!server.line.machine.connected()) server.line.Connect();
      return;
  }
}

RC_GTEST_PROP(ExecMachineProperty, EveryRequestGetsItsOwnReplyOrOneClearFailure, ()) {
  ExecOptions options = TestOptions();
  options.max_write_bytes = 64;
  options.reconnects = true;
  options.attempts = 3;
  options.retry = static_cast<RetryPolicy>(*rc::gen::inRange(0, 3));
  RandomServer server(options);
  const int steps = *rc::gen::inRange(0, 200);
  for (int step = 0; step < steps; ++step) TakeRandomStep(server);
  server.line.machine.Resume(LineEvent::Closed("over"));
  // Replies grow along the requests: none went to another one's place.
  int64_t last = -1;
  for (size_t i = 0; i < server.requests.size(); ++i) {
    if (server.requests[i] == nullptr) continue;
    RC_ASSERT(server.completions[i] == 1);
    const absl::StatusOr<Reply>& result = server.requests[i]->result();
    if (!result.ok()) {
      RC_ASSERT(store::ErrorKindOf(result.status()).has_value());
      continue;
    }
    RC_ASSERT(result->integer() > last);
    last = result->integer();
  }
  // Nothing was written twice: PING is not among what may be.
  RC_ASSERT(server.written + server.line.sent.size() <= server.completions.size() * kPing.size());
}

}  // namespace
}  // namespace redouble::redis
