// ExecMachine across connections: which requests fail after a loss, which wait for the next
// connection, and how many times a request is written.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "redouble/backends/redis/fsm/exec_connection_for_test.h"
#include "redouble/backends/redis/fsm/exec_machine.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
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
  ExecConnection connection(options);
  RequestForTest get("GET key");
  connection.Submit(get);
  EXPECT_EQ(connection.pending, "");
  EXPECT_FALSE(connection.machine.connected());
  connection.LoseForNow();
  EXPECT_FALSE(get.completed()) << "an attempt that fails is no loss";
  connection.Connect();
  EXPECT_EQ(connection.pending, "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n");
  connection.TakeAll();
  connection.Receive("$1\r\nx\r\n");
  ExpectReply(get, Reply::Bulk("x"));
}

TEST(ExecMachine, ReportsWhyThereWasNoConnectionInTime) {
  ExecConnection connection(ReconnectingOptions());
  connection.LoseForNow();
  RequestForTest get("GET key");
  connection.Submit(get);
  connection.Pass(kTimeoutUs);
  ExpectFailure(get, ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded,
                "GET could not be sent to redis://h:6379 within 1ms (not connected: reset)");
}

TEST(ExecMachine, SendsNothingTwiceUnlessAsked) {
  ExecConnection connection(ReconnectingOptions());
  RequestForTest sent("GET key"), unsent("GET key");
  connection.Submit(sent);
  connection.TakeAll();
  connection.Submit(unsent);
  connection.LoseForNow();
  ExpectFailure(sent, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the connection to redis://h:6379 was lost (reset) before GET was answered");
  ExpectFailure(unsent, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "the connection to redis://h:6379 was lost (reset) before GET was sent");
  connection.Connect();
  EXPECT_EQ(connection.pending, "");
}

TEST(ExecMachine, KeepsTheCertainlyUnsentWhenAsked) {
  ExecConnection connection(ReconnectingOptions(RetryPolicy::kNotSent));
  RequestForTest sent("GET a"), unsent("INCR b");
  connection.Submit(sent);
  connection.Take(1);
  connection.machine.Submit(unsent);
  connection.EndTurn();
  connection.LoseForNow();
  EXPECT_EQ(store::ErrorKindOf(sent.result().status()), ErrorKind::kOutcomeUnknown)
      << "one byte is enough to be in doubt";
  EXPECT_FALSE(unsent.completed());
  connection.Connect();
  connection.TakeAll();
  connection.Receive(":1\r\n");
  ExpectReply(unsent, Reply::Integer(1));
}

TEST(ExecMachine, WritesAgainWhatOnlyReadsWhenAsked) {
  ExecConnection connection(ReconnectingOptions(RetryPolicy::kIdempotent));
  RequestForTest get("GET a"), incr("INCR b"), unknown("NO.SUCH c"),
      reads(Kind::kPipeline, {"GET a", "TTL a"}), mixed(Kind::kPipeline, {"GET a", "SET a 1"});
  for (RequestForTest* request : {&get, &incr, &unknown, &reads, &mixed}) {
    connection.machine.Submit(*request);
  }
  connection.EndTurn();
  connection.TakeAll();
  connection.LoseForNow();
  for (RequestForTest* request : {&incr, &unknown, &mixed}) {
    ASSERT_TRUE(request->completed());
    EXPECT_EQ(store::ErrorKindOf(request->result().status()), ErrorKind::kOutcomeUnknown);
  }
  connection.sent.clear();
  connection.Connect();
  connection.TakeAll();
  EXPECT_EQ(connection.sent,
            "*2\r\n$3\r\nGET\r\n$1\r\na\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n"
            "*2\r\n$3\r\nTTL\r\n$1\r\na\r\n");
  connection.Receive("$1\r\nx\r\n$1\r\nx\r\n:-1\r\n");
  ExpectReply(get, Reply::Bulk("x"));
  ExpectReply(reads, Reply::Array({Reply::Bulk("x"), Reply::Integer(-1)}));
}

TEST(ExecMachine, ForgetsTheRepliesThatAPipelineHadBeforeTheLoss) {
  ExecConnection connection(ReconnectingOptions(RetryPolicy::kIdempotent));
  RequestForTest reads(Kind::kPipeline, {"GET a", "GET b"});
  connection.Submit(reads);
  connection.TakeAll();
  connection.Receive("$3\r\nold\r\n$3\r\nol");
  connection.LoseForNow();
  connection.Connect();
  connection.TakeAll();
  connection.Receive("$3\r\nnew\r\n$3\r\nnew\r\n");
  ExpectReply(reads, Reply::Array({Reply::Bulk("new"), Reply::Bulk("new")}));
}

TEST(ExecMachine, WritesAgainWhatIsDeclaredIdempotent) {
  ExecOptions options = ReconnectingOptions(RetryPolicy::kIdempotent);
  options.is_idempotent = [](const store::Request& request) {
    return request.commands()[0].arguments()[0] == "fixed";
  };
  ExecConnection connection(options);
  RequestForTest fixed("SET fixed 1"), other("SET other 1");
  connection.machine.Submit(fixed);
  connection.Submit(other);
  connection.TakeAll();
  connection.LoseForNow();
  EXPECT_TRUE(other.completed());
  connection.Connect();
  connection.TakeAll();
  connection.Receive("+OK\r\n");
  ExpectReply(fixed, Reply::Ok());
}

TEST(ExecMachine, WritesARequestNoMoreOftenThanAllowed) {
  Counters counters;
  ExecOptions options = ReconnectingOptions(RetryPolicy::kIdempotent);
  options.counters = &counters;
  ExecConnection connection(options);
  RequestForTest get("GET a");
  connection.Submit(get);
  connection.TakeAll();
  connection.LoseForNow();
  connection.Connect();
  connection.LoseForNow();
  EXPECT_FALSE(get.completed()) << "what was not written does not count";
  connection.Connect();
  connection.TakeAll();
  connection.LoseForNow();
  ExpectFailure(get, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the connection to redis://h:6379 was lost (reset) before GET was answered");
  EXPECT_EQ(counters.retries, 2u);
}

TEST(ExecMachine, ARetriedRequestKeepsItsDeadlineAndItsDoubt) {
  ExecConnection connection(ReconnectingOptions(RetryPolicy::kIdempotent));
  RequestForTest get("GET a");
  connection.Submit(get);
  connection.TakeAll();
  connection.Pass(kTimeoutUs / 2);
  connection.LoseForNow();
  connection.EndTurn();
  connection.Pass(kTimeoutUs / 2);
  ExpectFailure(get, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "redis://h:6379 did not answer GET within 1ms");
}

TEST(ExecMachine, ReadsANewConnectionFromItsStart) {
  ExecConnection connection(ReconnectingOptions());
  RequestForTest lost("GET a"), next("GET b");
  connection.Submit(lost);
  connection.TakeAll();
  connection.Receive("$100\r\nhalf a va");
  connection.LoseForNow();
  connection.Connect();
  connection.Submit(next);
  connection.TakeAll();
  connection.Receive("$1\r\nb\r\n");
  ExpectReply(next, Reply::Bulk("b"));
}

TEST(ExecMachine, AnUnreadableReplyCostsOnlyTheConnection) {
  ExecConnection connection(ReconnectingOptions());
  RequestForTest first("GET a"), second("GET b");
  connection.Submit(first);
  connection.TakeAll();
  EXPECT_TRUE(connection.Receive("what?\r\n"));
  EXPECT_EQ(store::ErrorKindOf(first.result().status()), ErrorKind::kProtocol);
  EXPECT_FALSE(connection.machine.closed());
  connection.Connect();
  connection.Submit(second);
  connection.TakeAll();
  connection.Receive("$1\r\nb\r\n");
  ExpectReply(second, Reply::Bulk("b"));
}

TEST(ExecMachine, QueuesWhatAWaiterSubmitsDuringALoss) {
  ExecConnection connection(ReconnectingOptions());
  RequestForTest first("GET a"), second("GET b");
  first.on_complete = [&] { connection.machine.Submit(second); };
  connection.Submit(first);
  connection.TakeAll();
  connection.LoseForNow();
  EXPECT_FALSE(second.completed());
  connection.Connect();
  connection.TakeAll();
  connection.Receive("$1\r\nb\r\n");
  ExpectReply(second, Reply::Bulk("b"));
}

TEST(ExecMachine, LetsAWaiterAbandonAnotherThatFailsNext) {
  ExecConnection connection(ReconnectingOptions());
  RequestForTest first("GET a");
  auto second = std::make_unique<RequestForTest>("GET b");
  first.on_complete = [&] { second.reset(); };
  connection.machine.Submit(first);
  connection.Submit(*second);
  connection.TakeAll();
  connection.LoseForNow();
  EXPECT_TRUE(first.completed());
  EXPECT_EQ(second, nullptr);
}

TEST(ExecMachine, FailsWhatWaitsWhenItIsClosedForGood) {
  ExecConnection connection(ReconnectingOptions(RetryPolicy::kIdempotent));
  RequestForTest get("GET a");
  connection.LoseForNow();
  connection.Submit(get);
  EXPECT_TRUE(connection.machine.Resume(ConnectionEvent::Closed("over")).close);
  ExpectFailure(get, ErrorKind::kNotSent, absl::StatusCode::kUnavailable,
                "the connection to redis://h:6379 was lost (over) before GET was sent");
  EXPECT_TRUE(connection.machine.closed());
}

TEST(ExecMachine, RefusesRequestsBeyondItsLimit) {
  ExecOptions options = TestOptions();
  options.queue.requests = 1;
  ExecConnection connection(options);
  RequestForTest first("GET a"), second("GET b");
  connection.machine.Submit(first);
  connection.machine.Submit(second);
  ExpectFailure(second, ErrorKind::kNotSent, absl::StatusCode::kResourceExhausted,
                "1 requests wait for redis://h:6379 already");
}

TEST(ExecMachine, RefusesRequestsBehindTooManyBytes) {
  ExecOptions options = TestOptions();
  options.queue.bytes = 10;
  ExecConnection connection(options);
  auto first = std::make_unique<RequestForTest>("SET key value");
  RequestForTest second("GET a"), third("GET a");
  connection.Submit(*first);
  connection.machine.Submit(second);
  ExpectFailure(second, ErrorKind::kNotSent, absl::StatusCode::kResourceExhausted,
                "requests of 11 bytes wait for redis://h:6379 already");
  // An abandoned request keeps its place in the stream, but not its bytes.
  first.reset();
  connection.machine.Submit(third);
  EXPECT_FALSE(third.completed());
  connection.EndTurn();
  connection.TakeAll();
  connection.Receive("+OK\r\n$-1\r\n");
  ExpectReply(third, Reply::Nil());
}

constexpr std::string_view kReadOnly = "-READONLY You can't write against a read only replica.\r\n";

ExecOptions FollowingOptions() {
  ExecOptions options = ReconnectingOptions(RetryPolicy::kNever);
  options.leave_replica_after_us = 10 * kTimeoutUs;
  options.command_timeout_us = ExecOptions::kNoTimeout;
  return options;
}

TEST(ExecMachine, LeavesAServerThatBecameAReplicaWhenEverythingIsAnswered) {
  ExecConnection connection(FollowingOptions());
  RequestForTest write("SET a 1"), read("GET a"), later("GET b");
  connection.Submit(write);
  connection.Submit(read);
  connection.TakeAll();
  EXPECT_FALSE(connection.Receive(kReadOnly));
  EXPECT_TRUE(write.completed());
  connection.Submit(later);
  EXPECT_TRUE(connection.pending.empty()) << "nothing more is written to this server";
  EXPECT_TRUE(connection.Receive("$1\r\nv\r\n"));
  ExpectReply(read, Reply::Bulk("v"));
  EXPECT_FALSE(connection.machine.connected());
  EXPECT_FALSE(later.completed()) << "it waits for the next connection";
  connection.Connect();
  EXPECT_EQ(connection.pending, "*2\r\n$3\r\nGET\r\n$1\r\nb\r\n");
}

TEST(ExecMachine, StaysAtAReplicaThatItFindsAgain) {
  ExecConnection connection(FollowingOptions());
  RequestForTest first("SET a 1"), second("SET a 1"), third("SET a 1");
  connection.Submit(first);
  connection.TakeAll();
  connection.now_us += 1;
  EXPECT_TRUE(connection.Receive(kReadOnly));
  connection.Connect();
  connection.Submit(second);
  connection.TakeAll();
  EXPECT_FALSE(connection.Receive(kReadOnly)) << "the name still leads there";
  connection.now_us += 10 * kTimeoutUs;
  connection.Submit(third);
  connection.TakeAll();
  EXPECT_TRUE(connection.Receive(kReadOnly));
}

TEST(ExecMachine, LeavesAReplicaOnlyIfItsNameMayLeadElsewhere) {
  const auto leaves = [](const char* uri, Sharing sharing) {
    return ExecOptions::From(Options::Parse(uri).value(), sharing).leave_replica_after_us !=
           ExecOptions::kNoTimeout;
  };
  EXPECT_TRUE(leaves("redis://cache.example", Sharing::kShared));
  EXPECT_FALSE(leaves("redis://cache.example", Sharing::kDedicated));
  EXPECT_FALSE(leaves("redis://cache.example?reconnect=no", Sharing::kShared));
  EXPECT_FALSE(leaves("redis://10.0.0.1", Sharing::kShared));
  EXPECT_FALSE(leaves("redis://[fe80::1]", Sharing::kShared));
  EXPECT_FALSE(leaves("unix:///run/redis.sock", Sharing::kShared));
}

TEST(ExecMachine, AllowsABlockingCommandItsOwnTimeout) {
  ExecOptions options = TestOptions();
  options.sharing = Sharing::kPooled;
  ExecConnection connection(options);
  RequestForTest pop("BLPOP key 0.002");
  connection.Submit(pop);
  connection.TakeAll();
  connection.Pass(2 * kTimeoutUs);
  EXPECT_FALSE(pop.completed());
  connection.Pass(kTimeoutUs);
  ExpectFailure(pop, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded,
                "redis://h:6379 did not answer BLPOP within 3ms");
}

TEST(ExecMachine, EndsABlockingCommandAtTheLimitForAll) {
  ExecOptions options = TestOptions();
  options.sharing = Sharing::kDedicated;
  options.blocking_timeout_us = 5 * kTimeoutUs;
  ExecConnection connection(options);
  RequestForTest pop("BLPOP key 0"), ping("PING");
  connection.Submit(pop);
  connection.Submit(ping);
  connection.TakeAll();
  connection.Pass(kTimeoutUs);
  EXPECT_TRUE(ping.completed()) << "a shorter limit behind a longer one is kept, too";
  EXPECT_FALSE(pop.completed());
  connection.Pass(4 * kTimeoutUs);
  EXPECT_TRUE(pop.completed());
}

TEST(ExecMachine, PingsForItsHealthOneAtATime) {
  Counters counters;
  ExecOptions options = TestOptions();
  options.counters = &counters;
  ExecConnection connection(options);
  connection.machine.Ping();
  connection.machine.Ping();
  connection.EndTurn();
  connection.TakeAll();
  EXPECT_EQ(connection.sent, kPing);
  connection.Receive("+PONG\r\n");
  connection.machine.Ping();
  EXPECT_EQ(counters.pings, 2u);
}

TEST(ExecMachine, CountsWhatBecameOfRequests) {
  Counters counters;
  ExecOptions options = TestOptions();
  options.counters = &counters;
  ExecConnection connection(options);
  RequestForTest answered("GET a"), late("GET b"), refused("SUBSCRIBE c");
  auto abandoned = std::make_unique<RequestForTest>(
      Kind::kPipeline, std::initializer_list<std::string_view>{"GET d", "GET e"});
  for (RequestForTest* request : {&answered, abandoned.get(), &late, &refused}) {
    connection.machine.Submit(*request);
  }
  EXPECT_EQ(counters.in_flight, 3u);
  connection.EndTurn();
  connection.TakeAll();
  connection.now_us += 100;
  connection.machine.Resume(ConnectionEvent::Received("$1\r\na\r\n", connection.now_us));
  abandoned.reset();
  connection.Pass(kTimeoutUs);
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
      Options::Parse("rediss://h?command_timeout=2s&blocking_timeout=3s&retry=not_sent&"
                     "attempts=4&queue_limit=5")
          .value(),
      Sharing::kShared);
  EXPECT_EQ(options.address, "rediss://h:6379");
  EXPECT_EQ(options.command_timeout_us, 2'000'000);
  EXPECT_EQ(options.blocking_timeout_us, 3'000'000);
  EXPECT_EQ(options.retry, RetryPolicy::kNotSent);
  EXPECT_EQ(options.attempts, 4);
  EXPECT_EQ(options.queue.requests, 5u);
  EXPECT_TRUE(options.reconnects);
  EXPECT_FALSE(ExecOptions::From(Options(), Sharing::kDedicated).reconnects);
}

// A server that answers each PING with a sequence number, across several connections.
struct RandomServer {
  explicit RandomServer(const ExecOptions& options) : connection(options) {}

  void Submit() {
    const size_t index = requests.size();
    completions.push_back(0);
    requests.push_back(std::make_unique<RequestForTest>("PING"));
    requests[index]->on_complete = [this, index] { ++completions[index]; };
    connection.machine.Submit(*requests[index]);
  }
  void Answer() {
    const size_t unread = connection.sent.size() / kPing.size() - answered_here;
    if (!connection.machine.connected() || unread == 0) return;
    ++answered_here;
    connection.Receive(":" + std::to_string(answered++) + "\r\n");
  }
  void Abandon(size_t index) {
    if (requests[index] && !requests[index]->completed()) requests[index].reset();
  }
  void Lose() {
    connection.LoseForNow();
    written += connection.sent.size();
    connection.sent.clear();
    answered_here = 0;
  }

  ExecConnection connection;
  std::vector<std::unique_ptr<RequestForTest>> requests;
  std::vector<int> completions;
  size_t answered = 0;
  size_t answered_here = 0;  // On this connection.
  size_t written = 0;        // On earlier connections.
};

void TakeRandomStep(RandomServer& server) {
  switch (*rc::gen::inRange(0, 9)) {
    case 0:
    case 1:
      return server.Submit();
    case 2:
      return server.connection.EndTurn();
    case 3:
      if (!server.connection.pending.empty())
        server.connection.Take(*rc::gen::inRange<size_t>(1, 40));
      return;
    case 4:
      return server.Answer();
    case 5:
      return server.connection.Pass(*rc::gen::inRange(0, 700));
    case 6:
      if (server.requests.empty()) return;
      return server.Abandon(*rc::gen::inRange<size_t>(0, server.requests.size()));
    case 7:
      return server.Lose();
    case 8:
      if (!server.connection.machine.connected()) server.connection.Connect();
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
  server.connection.machine.Resume(ConnectionEvent::Closed("over"));
  // The replies grow along the requests: no reply went to another request.
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
  // PING is not idempotent for the machine, so no PING was written twice.
  RC_ASSERT(server.written + server.connection.sent.size() <=
            server.completions.size() * kPing.size());
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
