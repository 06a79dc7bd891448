#include "backends/redis/fsm/cluster_machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/redis/fsm/request_for_test.h"
#include "core/base/crc.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

using store::ErrorKind;
using store::Reply;
using Kind = store::Request::Kind;

// Slots: c 7365, b 3300, a 15495. So b is on n1, c on n2, a on n3.
constexpr int64_t kRefreshUs = 1000;
constexpr int64_t kTimeoutUs = 100'000;

Options TestOptions() {
  Options options;
  options.address = TcpAddress{"seed", 1};
  options.cluster = true;
  options.redirections = 3;
  options.refresh_interval = absl::Microseconds(kRefreshUs);
  options.command_timeout = absl::Microseconds(kTimeoutUs);
  return options;
}

Reply Range(int64_t first, int64_t last, const std::string& host) {
  return Reply::Array({Reply::Integer(first), Reply::Integer(last),
                       Reply::Array({Reply::Bulk(host), Reply::Integer(7)})});
}

Reply ThreeShards() {
  return Reply::Array({Range(0, 5460, "n1"), Range(5461, 10922, "n2"), Range(10923, 16383, "n3")});
}

absl::Status NotConnected() { return store::NotSentError("no way to the node"); }
absl::Status Lost() { return store::OutcomeUnknownError("the connection was lost"); }

// A machine, and a cluster that answers as the test says. What the machine asks for is kept as
// lines: "n1 < GET b", "n1 < ASKING, GET b", "n1 map", "drop".
class Cluster : public store::RequestKeeper {
 public:
  explicit Cluster(const Options& options = TestOptions(),
                   ClusterMachine::IsIdempotent is_idempotent = nullptr)
      : machine(options, std::move(is_idempotent)) {}

  // Starts and gives the map.
  void Open() {
    machine.Start(now_us);
    AnswerMap(ThreeShards());
  }
  void AnswerMap(absl::StatusOr<Reply> reply) {
    Collect();
    ASSERT_TRUE(map_asked.has_value());
    const size_t node = *std::exchange(map_asked, std::nullopt);
    log.clear();
    machine.MapAnswered(node, reply, now_us);
    Collect();
  }
  void Submit(store::Request& request) {
    request.SetKeeper(this);
    machine.Submit(request, now_us);
    Collect();
  }
  void Abandon(store::Request& request) override {
    machine.Abandon(request);
    Collect();
  }
  // There is no way to the node, for its oldest part.
  void Refuse(const std::string& host) { Answer(host, NotConnected(), /*reached=*/false); }
  // Answers the oldest part of the node.
  void Answer(const std::string& host, absl::StatusOr<Reply> reply, bool reached = true) {
    for (const auto& [id, part_host] : sent) {
      if (part_host != host) continue;
      const uint64_t part = id;
      sent.erase(part);
      if (reached) {
        machine.PartAnswered(part, std::move(reply), now_us);
      } else {
        machine.PartUnreachable(part, reply.status(), now_us);
      }
      return Collect();
    }
    FAIL() << "nothing was sent to " << host;
  }
  void Pass(int64_t duration_us) {
    now_us += duration_us;
    if (wake_us <= now_us) {
      wake_us = ClusterMachine::kNever;
      machine.Timer(now_us);
      Collect();
    }
  }
  std::vector<std::string> TakeLog() { return std::exchange(log, {}); }

  void Collect() {
    for (const uint64_t part : machine.TakeDropped()) {
      log.push_back(sent.at(part) + " drop");
      sent.erase(part);
    }
    while (const std::optional<ClusterAction> action = machine.NextAction()) {
      switch (action->kind) {
        case ClusterAction::Kind::kSend: {
          const std::string& host = machine.Address(action->node).host;
          sent.emplace(action->part, host);
          log.push_back(host + " < " + Text(machine.Part(action->part)));
          break;
        }
        case ClusterAction::Kind::kAskMap:
          EXPECT_FALSE(map_asked.has_value());
          map_asked = action->node;
          log.push_back(machine.Address(action->node).host + " map");
          break;
        case ClusterAction::Kind::kWake:
          wake_us = action->at_us;
      }
    }
  }

  static std::string Text(const ClusterPart& part) {
    std::string text;
    for (const store::Command& command : part.commands()) {
      if (!text.empty()) text += ", ";
      text += command.name();
      for (const std::string_view word : command.arguments()) text += " " + std::string(word);
    }
    return text;
  }

  ClusterMachine machine;
  int64_t now_us = 1'000'000;
  int64_t wake_us = ClusterMachine::kNever;
  std::map<uint64_t, std::string> sent;
  std::optional<size_t> map_asked;
  std::vector<std::string> log;
};

using Log = std::vector<std::string>;

void ExpectReply(RequestForTest& request, const Reply& expected) {
  ASSERT_TRUE(request.completed());
  ASSERT_TRUE(request.result().ok()) << request.result().status();
  EXPECT_EQ(*request.result(), expected);
}

void ExpectFailure(RequestForTest& request, ErrorKind kind, absl::StatusCode code,
                   const std::string& message) {
  ASSERT_TRUE(request.completed());
  EXPECT_EQ(store::ErrorKindOf(request.result().status()), kind);
  EXPECT_EQ(request.result().status().code(), code);
  EXPECT_EQ(request.result().status().message(), message);
}

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
  EXPECT_TRUE(cluster.machine.start_status().ok());
  cluster.AnswerMap(ThreeShards());
  EXPECT_TRUE(cluster.machine.ready());
}

TEST(ClusterMachine, SaysWhyThereIsNoMapWhenNoNodeGivesOne) {
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
  // The first map is not old enough.
  EXPECT_EQ(cluster.TakeLog(), Log{"n2 < GET b"});
  cluster.Pass(kRefreshUs - 1);
  EXPECT_EQ(cluster.TakeLog(), Log{});
  cluster.Pass(1);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 map"});
  // One at a time.
  cluster.Answer("n2", Reply::Error("MOVED 3300 n1:7"));
  cluster.Pass(kRefreshUs);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < GET b"});
  cluster.AnswerMap(ThreeShards());
  cluster.Pass(0);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 map"});
}

TEST(ClusterMachine, AsksNodesThatFailedLast) {
  Cluster cluster;
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.Answer("n1", NotConnected());
  cluster.TakeLog();
  cluster.Pass(kRefreshUs);
  EXPECT_EQ(cluster.TakeLog(), Log{"n2 map"});
  cluster.AnswerMap(NotConnected());
  EXPECT_EQ(cluster.TakeLog(), Log{"n3 map"});
  cluster.AnswerMap(NotConnected());
  EXPECT_EQ(cluster.TakeLog(), Log{"seed map"});
  cluster.AnswerMap(NotConnected());
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 map"});
  cluster.AnswerMap(NotConnected());
  EXPECT_EQ(cluster.TakeLog(), Log{});
  cluster.Pass(kRefreshUs);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 map"});
}

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
  EXPECT_EQ(batch.result().status().code(), absl::StatusCode::kFailedPrecondition);
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
  EXPECT_EQ(watch.result().status().code(), absl::StatusCode::kFailedPrecondition);
  RequestForTest blocking(Kind::kPipeline, {"BLPOP b 1"});
  cluster.Submit(blocking);
  ASSERT_TRUE(blocking.completed());
  EXPECT_EQ(blocking.result().status().code(), absl::StatusCode::kFailedPrecondition);
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
  // Only this once.
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
  // EXEC itself may find that the slot has gone meanwhile.
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
  cluster.Pass(kRefreshUs);
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.TakeLog();
  cluster.Answer("n1", Reply::Error("CLUSTERDOWN The cluster is down"));
  cluster.Pass(0);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 map"});
  cluster.AnswerMap(Reply::Array({Range(0, 16383, "n2")}));
  cluster.Pass(kRefreshUs);
  EXPECT_EQ(cluster.TakeLog(), Log{"n2 < GET b"});
}

TEST(ClusterMachine, GivesTheLastErrorAfterTooManyRedirections) {
  Cluster cluster;
  cluster.Open();
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.Answer("n1", Reply::Error("MOVED 3300 n2:7"));
  cluster.Answer("n2", Reply::Error("MOVED 3300 n1:7"));
  cluster.Answer("n1", Reply::Error("MOVED 3300 n2:7"));
  EXPECT_FALSE(get.completed());
  cluster.Answer("n2", Reply::Error("MOVED 3300 n1:7"));
  ExpectReply(get, Reply::Error("MOVED 3300 n1:7"));
}

TEST(ClusterMachine, WaitsForASlotThatNobodyServesAndSaysSoInTheEnd) {
  Cluster cluster;
  cluster.machine.Start(cluster.now_us);
  cluster.AnswerMap(Reply::Array({Range(0, 5460, "n1")}));
  RequestForTest get("GET a");
  RequestForTest ping("PING");
  cluster.Submit(get);
  cluster.Submit(ping);
  EXPECT_EQ(cluster.TakeLog(), Log{"n1 < PING"});
  for (int i = 0; i < 3; ++i) cluster.Pass(kRefreshUs);
  ExpectReply(get, Reply::Error("CLUSTERDOWN Hash slot not served"));
}

// Failures.

TEST(ClusterMachine, GivesALostRequestToItsCallerAndLooksForTheMap) {
  Cluster cluster;
  cluster.Open();
  cluster.Pass(kRefreshUs);
  RequestForTest get("GET b");
  cluster.Submit(get);
  cluster.TakeLog();
  cluster.Answer("n1", Lost());
  ExpectFailure(get, ErrorKind::kOutcomeUnknown, absl::StatusCode::kUnavailable,
                "the connection was lost");
  cluster.Pass(0);
  EXPECT_EQ(cluster.TakeLog(), Log{"n2 map"});
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
  EXPECT_EQ(asked.TakeLog(), (Log{"n2 map", "n1 < INCR b"}));
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
    cluster.Pass(kRefreshUs);
    cluster.AnswerMap(ThreeShards());
  }
  cluster.Refuse("n1");
  cluster.Pass(kRefreshUs);
  cluster.TakeLog();
  cluster.AnswerMap(Reply::Array({Range(0, 16383, "n2")}));
  cluster.Refuse("n1");
  cluster.Pass(kRefreshUs);
  EXPECT_EQ(cluster.TakeLog(), (Log{"n2 map", "n2 < INCR b"}));
}

TEST(ClusterMachine, SaysWhatWasMissingWhenTheTimeIsOver) {
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
                "a part of the pipeline was answered, another was not sent: no way to the node");
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
                "the cluster did not answer within 100ms");
  cluster.Pass(kRefreshUs);
  EXPECT_TRUE(cluster.sent.empty());
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
}  // namespace redouble::redis
