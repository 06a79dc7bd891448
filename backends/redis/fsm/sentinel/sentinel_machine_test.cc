#include "redouble/backends/redis/fsm/sentinel/sentinel_machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "redouble/backends/redis/fsm/cluster/machine_driver_for_test.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;
using store::ErrorKind;
using store::Reply;
using Kind = store::Request::Kind;
using Log = std::vector<std::string>;

constexpr int64_t kRefreshUs = 1000;
constexpr int64_t kTimeoutUs = 100'000;
// The longest time until the next round, after one round in vain.
constexpr int64_t kPauseUs = 3 * kRefreshUs;

Options TestOptions() {
  Options options;
  options.address = TcpAddress{"s1", 1};
  options.seeds = {{"s2", 1}};
  options.sentinel_master = "mymaster";
  options.redirections = 3;
  options.refresh_interval = absl::Microseconds(kRefreshUs);
  options.command_timeout = absl::Microseconds(kTimeoutUs);
  return options;
}

Reply Fields(const std::string& host, const std::string& port) {
  return Reply::Array({Reply::Bulk("name"), Reply::Bulk("x"), Reply::Bulk("ip"), Reply::Bulk(host),
                       Reply::Bulk("port"), Reply::Bulk(port)});
}
// The replies of a sentinel: the epoch, the address of the master, and the other sentinels.
Reply MasterAt(const std::string& host, std::vector<Reply> sentinels = {}, int epoch = 0) {
  return Reply::Array(
      {Reply::Array({Reply::Bulk("config-epoch"), Reply::Bulk(std::to_string(epoch))}),
       Reply::Array({Reply::Bulk(host), Reply::Bulk("6379")}), Reply::Array(std::move(sentinels))});
}
Reply MasterOfEpoch(int epoch, const std::string& host) { return MasterAt(host, {}, epoch); }
Reply NoMaster() {
  const Reply unknown = Reply::Error("ERR No such master with that name");
  return Reply::Array({unknown, Reply::NilArray(), unknown});
}
Reply Master() {
  return Reply::Array({Reply::Bulk("master"), Reply::Integer(0), Reply::EmptyArray()});
}
Reply Replica() { return Reply::Array({Reply::Bulk("slave"), Reply::Bulk("m")}); }
absl::Status NotConnected() { return store::NotSentError("no way there"); }
absl::Status Lost() { return store::OutcomeUnknownError("the connection was lost"); }

// A machine and scripted servers. The actions of the machine are recorded as lines: "s1 ask", "m1
// role", "m1 < GET k", "s1 watch", "drop GET k".
class Watch : public MachineDriver<SentinelMachine> {
 public:
  explicit Watch(const Options& options = TestOptions(),
                 SentinelMachine::IsIdempotent is_idempotent = nullptr)
      : MachineDriver(options, std::move(is_idempotent)) {}

  void Start() {
    machine.Start(now_us);
    Collect();
  }
  // Starts the machine and lets it find m1.
  void Open() {
    Start();
    Sentinel(MasterAt("m1"));
    Role(Master());
    log.clear();
  }
  void Sentinel(absl::StatusOr<Reply> reply) {
    machine.SentinelAnswered(reply, now_us);
    Collect();
  }
  void Role(absl::StatusOr<Reply> reply) {
    machine.RoleAnswered(reply, now_us);
    Collect();
  }
  void Switched(std::string_view message) {
    machine.Switched(message, now_us);
    Collect();
  }
  void LoseMaster() {
    machine.MasterLost(now_us);
    Collect();
  }
  // Answers the oldest request that was sent.
  void Answer(absl::StatusOr<Reply> reply) {
    const uint64_t id = TakeSent();
    machine.Answered(id, std::move(reply), now_us);
    Collect();
  }
  void Refuse() {
    const uint64_t id = TakeSent();
    machine.Unreachable(id, NotConnected(), now_us);
    Collect();
  }
  void Pass(int64_t duration_us) {
    now_us += duration_us;
    if (wake_us <= now_us) {
      wake_us = SentinelMachine::kNever;
      machine.Timer(now_us);
    }
    Collect();
  }
  Log TakeLog() { return std::exchange(log, {}); }

  void Collect() override {
    for (const uint64_t id : machine.TakeDropped()) {
      log.push_back("drop " + sent.at(id));
      sent.erase(id);
    }
    while (const std::optional<SentinelAction> action = machine.NextAction()) Keep(*action);
  }

  Log log;

 private:
  uint64_t TakeSent() {
    EXPECT_FALSE(sent.empty());
    const uint64_t id = sent.empty() ? 0 : sent.begin()->first;
    sent.erase(id);
    return id;
  }
  void Keep(const SentinelAction& action) {
    switch (action.kind) {
      case SentinelAction::Kind::kAskSentinel:
        return log.push_back(action.address.host + " ask");
      case SentinelAction::Kind::kAskRole:
        return log.push_back(action.address.host + " role");
      case SentinelAction::Kind::kWatch:
        return log.push_back(action.address.host + " watch");
      case SentinelAction::Kind::kSend: {
        std::string text;
        for (const store::Command& command : machine.CommandsOf(action.request)) {
          text += (text.empty() ? "" : ", ") + std::string(command.name());
          for (const std::string_view word : command.arguments()) text += " " + std::string(word);
        }
        sent.emplace(action.request, text);
        return log.push_back(action.address.host + " < " + text);
      }
      case SentinelAction::Kind::kWake:
        wake_us = action.at_us;
    }
  }
};

void ExpectFailure(RequestForTest& request, ErrorKind kind, absl::StatusCode code,
                   const std::string& message) {
  ASSERT_TRUE(request.completed());
  EXPECT_EQ(store::ErrorKindOf(request.result().status()), kind);
  EXPECT_EQ(request.result().status().code(), code);
  EXPECT_EQ(request.result().status().message(), message);
}

// Finding the master.

TEST(SentinelMachine, BelievesASentinelOnceTheServerSaysThatItIsMaster) {
  Watch watch;
  watch.Start();
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
  watch.Sentinel(MasterAt("m1"));
  EXPECT_EQ(watch.TakeLog(), (Log{"s1 watch", "m1 role"}));
  EXPECT_FALSE(watch.machine.master().has_value());
  watch.Role(Master());
  EXPECT_EQ(watch.machine.master(), (TcpAddress{"m1", 6379}));
  EXPECT_THAT(watch.machine.start_status(), IsOk());
}

TEST(SentinelMachine, AsksTheNextSentinelWhenOneFails) {
  Watch watch;
  watch.Start();
  watch.Sentinel(NotConnected());
  EXPECT_EQ(watch.TakeLog(), (Log{"s1 ask", "s2 ask"}));
  watch.Sentinel(MasterAt("m1"));
  watch.Role(Master());
  EXPECT_TRUE(watch.machine.master().has_value());
  // The sentinel that answered is asked first from now on.
  EXPECT_EQ(watch.machine.sentinels(), (std::vector<TcpAddress>{{"s2", 1}, {"s1", 1}}));
}

TEST(SentinelMachine, AsksTheNextSentinelWhenWhatOneNamesIsNoMaster) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterAt("old"));
  watch.Role(Replica());
  watch.TakeLog();
  watch.Sentinel(MasterAt("new"));
  EXPECT_EQ(watch.TakeLog(), (Log{"s2 watch", "new role"}));
  watch.Role(Master());
  EXPECT_EQ(watch.machine.master()->host, "new");
}

TEST(SentinelMachine, LearnsTheSentinelsThatASentinelKnows) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterAt("m1", {Fields("s3", "26379"), Fields("s2", "1"), Fields("", "1"),
                                 Fields("s4", "0"), Reply::Bulk("x")}));
  EXPECT_EQ(watch.machine.sentinels(),
            (std::vector<TcpAddress>{{"s1", 1}, {"s2", 1}, {"s3", 26379}}));
}

TEST(SentinelMachine, ReportsAMasterThatNoSentinelKnows) {
  Watch watch;
  watch.Start();
  watch.Sentinel(NotConnected());
  watch.Sentinel(NoMaster());
  EXPECT_THAT(watch.machine.start_status(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(watch.machine.start_status().message(),
            "the sentinel at s2:1 knows no master named mymaster");
}

TEST(SentinelMachine, ReportsThatNoSentinelCanBeReached) {
  Watch watch;
  watch.Start();
  watch.Sentinel(NotConnected());
  watch.Sentinel(NotConnected());
  EXPECT_EQ(watch.machine.start_status(), NotConnected());
}

TEST(SentinelMachine, ReportsANamedServerThatIsNotAMaster) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterAt("m1"));
  watch.Role(Replica());
  watch.Sentinel(NotConnected());
  EXPECT_EQ(watch.machine.start_status().message(),
            "m1:6379 is no master, though a sentinel says so");
}

TEST(SentinelMachine, ReportsAServerThatIsNotASentinel) {
  Watch watch;
  watch.Start();
  const Reply unknown = Reply::Error("ERR unknown command 'SENTINEL'");
  watch.Sentinel(Reply::Array({unknown, unknown, unknown}));
  watch.Sentinel(NotConnected());
  EXPECT_EQ(watch.machine.start_status().message(),
            "s1:1 did not answer as a sentinel does: (error) ERR unknown command 'SENTINEL'");
}

TEST(SentinelMachine, BeginsAnotherRoundAfterAWhile) {
  Watch watch;
  watch.Start();
  watch.Sentinel(NotConnected());
  watch.Sentinel(NotConnected());
  watch.TakeLog();
  watch.Pass(kRefreshUs - 1);
  EXPECT_EQ(watch.TakeLog(), Log{});
  watch.Pass(kPauseUs);
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
  EXPECT_EQ(watch.machine.counters().rounds, 2u);
}

// Following the master.

TEST(SentinelMachine, LooksForTheMasterWhenItIsLost) {
  Watch watch;
  watch.Open();
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
  // The first failed request starts the search.
  watch.LoseMaster();
  EXPECT_EQ(watch.TakeLog(), Log{});
}

TEST(SentinelMachine, GoesWhereASwitchLeads) {
  Watch watch;
  watch.Open();
  watch.Switched("mymaster m1 6379 m2 6380");
  EXPECT_EQ(watch.TakeLog(), Log{"m2 role"});
  watch.Role(Master());
  EXPECT_EQ(watch.machine.master(), (TcpAddress{"m2", 6380}));
  EXPECT_EQ(watch.machine.counters().masters, 2u);
}

TEST(SentinelMachine, AsksTheSentinelsWhenASwitchLeadsNowhere) {
  Watch watch;
  watch.Open();
  watch.Switched("mymaster m1 6379 m2 6380");
  watch.Role(NotConnected());
  EXPECT_EQ(watch.TakeLog(), (Log{"m2 role", "s1 ask"}));
}

TEST(SentinelMachine, IgnoresSwitchesThatAreNotItsOwn) {
  Watch watch;
  watch.Open();
  for (const std::string_view message : {"other m1 6379 m2 6380", "mymaster m2 6379 m1 6379",
                                         "mymaster m1 6379 m2", "mymaster m1 6379 m2 x", ""}) {
    watch.Switched(message);
    EXPECT_EQ(watch.TakeLog(), Log{}) << message;
  }
  EXPECT_TRUE(watch.machine.master().has_value());
}

TEST(SentinelMachine, TakesASwitchForNewerThanTheAnswerThatItGot) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterAt("m1"));
  watch.Switched("mymaster m1 6379 m2 6380");
  watch.TakeLog();
  watch.Role(Master());
  EXPECT_EQ(watch.TakeLog(), Log{"m2 role"});
  watch.Role(Master());
  EXPECT_EQ(watch.machine.master()->host, "m2");
}

TEST(SentinelMachine, WatchesTheSentinelThatAnswers) {
  Watch watch;
  watch.Open();
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  watch.Sentinel(NotConnected());
  watch.TakeLog();
  watch.Sentinel(MasterAt("m1"));
  EXPECT_EQ(watch.TakeLog(), (Log{"s2 watch", "m1 role"}));
}

// A failover and a sentinel that has not heard of it.

TEST(SentinelMachine, PassesOverASentinelThatMissedTheLastFailover) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterOfEpoch(2, "m2"));
  watch.Role(Master());
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  watch.Sentinel(NotConnected());
  watch.TakeLog();
  watch.Sentinel(MasterOfEpoch(1, "m1"));
  EXPECT_EQ(watch.TakeLog(), Log{}) << "m1 may still say that it is a master";
  watch.Pass(kPauseUs);
  watch.Sentinel(MasterOfEpoch(2, "m2"));
  EXPECT_EQ(watch.TakeLog(), (Log{"s1 ask", "m2 role"}));
}

TEST(SentinelMachine, PassesOverASentinelThatMissedAnAnnouncedFailover) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterOfEpoch(1, "m1"));
  watch.Role(Master());
  watch.Switched("mymaster m1 6379 m2 6379");
  watch.Role(Master());
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  watch.TakeLog();
  watch.Sentinel(MasterOfEpoch(1, "m1"));
  EXPECT_EQ(watch.TakeLog(), Log{"s2 ask"});
  watch.Sentinel(MasterOfEpoch(2, "m2"));
  EXPECT_EQ(watch.TakeLog(), (Log{"s2 watch", "m2 role"}));
}

TEST(SentinelMachine, TakesAFailoverThatIsAnnouncedTwiceForOne) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterOfEpoch(2, "m2"));
  watch.Role(Master());
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  watch.Switched("mymaster m1 6379 m2 6379");
  watch.Sentinel(NotConnected());
  watch.Role(Master());
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  watch.TakeLog();
  watch.Sentinel(MasterOfEpoch(2, "m2"));
  EXPECT_EQ(watch.TakeLog(), (Log{"m2 role"}));
}

TEST(SentinelMachine, BelievesSentinelsThatWereSetUpAnewAfterAWhile) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterOfEpoch(7, "m1"));
  watch.Role(Master());
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  watch.TakeLog();
  watch.Sentinel(MasterOfEpoch(0, "m3"));
  watch.Sentinel(MasterOfEpoch(0, "m3"));
  watch.Pass(SentinelMachine::kOutdatedUs);
  EXPECT_EQ(watch.TakeLog(), (Log{"s2 ask", "s1 ask"}));
  watch.Sentinel(MasterOfEpoch(0, "m3"));
  EXPECT_EQ(watch.TakeLog(), (Log{"m3 role"}));
  watch.Role(Master());
  EXPECT_EQ(watch.machine.master()->host, "m3");
}

TEST(SentinelMachine, BelievesASentinelThatDoesNotTellItsEpoch) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterOfEpoch(2, "m2"));
  watch.Role(Master());
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  watch.TakeLog();
  const Reply refused = Reply::Error("NOPERM");
  watch.Sentinel(Reply::Array(
      {refused, Reply::Array({Reply::Bulk("m1"), Reply::Bulk("6379")}), Reply::EmptyArray()}));
  EXPECT_EQ(watch.TakeLog(), (Log{"m1 role"}));
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

// Requests.

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

TEST(SentinelMachine, WatchesTheNextSentinelWhenASubscriptionFails) {
  Watch watch;
  watch.Open();
  watch.machine.WatchEnded(watch.now_us);
  watch.Pass(kRefreshUs - 1);
  EXPECT_EQ(watch.TakeLog(), Log{});
  watch.Pass(1);
  EXPECT_EQ(watch.TakeLog(), Log{"s2 watch"});
  watch.machine.WatchEnded(watch.now_us);
  watch.Collect();
  watch.Pass(absl::ToInt64Microseconds(TestOptions().backoff_base));
  EXPECT_EQ(watch.TakeLog(), Log{"s1 watch"});
}

TEST(SentinelMachine, VerifiesTheMasterAfterALostSubscription) {
  Watch watch;
  watch.Open();
  watch.Pass(kPauseUs);
  watch.machine.Watching(watch.now_us);
  watch.Collect();
  EXPECT_EQ(watch.TakeLog(), Log{}) << "nothing was missed before the first subscription";
  watch.machine.WatchEnded(watch.now_us);
  watch.Pass(kPauseUs);
  watch.TakeLog();
  watch.machine.Watching(watch.now_us);
  watch.Collect();
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
}

TEST(SentinelMachine, ForgetsSentinelsThatAreNotNamedAnyMore) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterAt("m1", {Fields("s3", "3"), Fields("s4", "4")}));
  watch.Role(Master());
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  watch.Sentinel(MasterAt("m1", {Fields("s4", "4"), Fields("s5", "5")}));
  EXPECT_EQ(watch.machine.sentinels(),
            (std::vector<TcpAddress>{{"s1", 1}, {"s2", 1}, {"s4", 4}, {"s5", 5}}));
}

TEST(SentinelMachine, AsksEachSentinelOnceInARoundThoughTheListChanges) {
  Watch watch;
  watch.Start();
  watch.TakeLog();
  for (const char* const other : {"s3", "s4", "s5", "s6"}) {
    watch.Sentinel(MasterAt("old", {Fields(other, "1")}));
    watch.Role(Replica());
  }
  Log asked;
  for (const std::string& line : watch.TakeLog()) {
    if (line.ends_with(" ask")) asked.push_back(line);
  }
  EXPECT_EQ(asked, (Log{"s2 ask", "s4 ask", "s5 ask", "s6 ask"}));
}

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

}  // namespace
}  // namespace redouble::inline v0_1::redis
