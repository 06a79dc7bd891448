#include "backends/redis/fsm/sentinel_machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/redis/fsm/request_for_test.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

using store::ErrorKind;
using store::Reply;
using Kind = store::Request::Kind;
using Log = std::vector<std::string>;

constexpr int64_t kRefreshUs = 1000;
constexpr int64_t kTimeoutUs = 100'000;

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
// What a sentinel answers: where the master is, and who the other sentinels are.
Reply MasterAt(const std::string& host, std::vector<Reply> sentinels = {}) {
  return Reply::Array(
      {Reply::Array({Reply::Bulk(host), Reply::Bulk("6379")}), Reply::Array(std::move(sentinels))});
}
Reply NoMaster() {
  return Reply::Array({Reply::NilArray(), Reply::Error("ERR No such master with that name")});
}
Reply Master() {
  return Reply::Array({Reply::Bulk("master"), Reply::Integer(0), Reply::EmptyArray()});
}
Reply Replica() { return Reply::Array({Reply::Bulk("slave"), Reply::Bulk("m")}); }
absl::Status NotConnected() { return store::NotSentError("no way there"); }
absl::Status Lost() { return store::OutcomeUnknownError("the connection was lost"); }

// A machine, and servers that answer as the test says. What it asks for is kept as lines:
// "s1 ask", "m1 role", "m1 < GET k", "s1 watch", "drop GET k".
class Watch : public store::RequestKeeper {
 public:
  explicit Watch(const Options& options = TestOptions(),
                 SentinelMachine::IsIdempotent is_idempotent = nullptr)
      : machine(options, std::move(is_idempotent)) {}

  void Start() {
    machine.Start(now_us);
    Collect();
  }
  // Finds m1.
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
  void Submit(store::Request& request) {
    request.SetKeeper(this);
    machine.Submit(request, now_us);
    Collect();
  }
  void Abandon(store::Request& request) override {
    machine.Abandon(request);
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

  void Collect() {
    for (const uint64_t id : machine.TakeDropped()) {
      log.push_back("drop " + sent.at(id));
      sent.erase(id);
    }
    while (const std::optional<SentinelAction> action = machine.NextAction()) Keep(*action);
  }

  SentinelMachine machine;
  int64_t now_us = 1'000'000;
  int64_t wake_us = SentinelMachine::kNever;
  std::map<uint64_t, std::string> sent;
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
        const store::Command& command = machine.RequestOf(action.request).commands()[0];
        std::string text(command.name());
        for (const std::string_view word : command.arguments()) text += " " + std::string(word);
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
  EXPECT_TRUE(watch.machine.start_status().ok());
}

TEST(SentinelMachine, AsksTheNextSentinelWhenOneFails) {
  Watch watch;
  watch.Start();
  watch.Sentinel(NotConnected());
  EXPECT_EQ(watch.TakeLog(), (Log{"s1 ask", "s2 ask"}));
  watch.Sentinel(MasterAt("m1"));
  watch.Role(Master());
  EXPECT_TRUE(watch.machine.master().has_value());
  // The one that answered comes first from now on.
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

TEST(SentinelMachine, SaysThatNobodyKnowsTheMaster) {
  Watch watch;
  watch.Start();
  watch.Sentinel(NotConnected());
  watch.Sentinel(NoMaster());
  EXPECT_EQ(watch.machine.start_status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(watch.machine.start_status().message(),
            "the sentinel at s2:1 knows no master named mymaster");
}

TEST(SentinelMachine, SaysThatNoSentinelCanBeReached) {
  Watch watch;
  watch.Start();
  watch.Sentinel(NotConnected());
  watch.Sentinel(NotConnected());
  EXPECT_EQ(watch.machine.start_status(), NotConnected());
}

TEST(SentinelMachine, SaysThatWhatIsNamedIsNoMaster) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterAt("m1"));
  watch.Role(Replica());
  watch.Sentinel(NotConnected());
  EXPECT_EQ(watch.machine.start_status().message(),
            "m1:6379 is no master, though a sentinel says so");
}

TEST(SentinelMachine, SaysThatAServerIsNoSentinel) {
  Watch watch;
  watch.Start();
  const Reply unknown = Reply::Error("ERR unknown command 'SENTINEL'");
  watch.Sentinel(Reply::Array({unknown, unknown}));
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
  watch.Pass(1);
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
  EXPECT_EQ(watch.machine.counters().rounds, 2u);
}

// Following it.

TEST(SentinelMachine, LooksForTheMasterWhenItIsLost) {
  Watch watch;
  watch.Open();
  watch.Pass(kRefreshUs);
  watch.machine.MasterLost(watch.now_us);
  watch.Collect();
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
  // Once is enough.
  watch.machine.MasterLost(watch.now_us);
  watch.Collect();
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
  watch.Pass(kRefreshUs);
  watch.machine.MasterLost(watch.now_us);
  watch.Collect();
  watch.Sentinel(NotConnected());
  watch.TakeLog();
  watch.Sentinel(MasterAt("m1"));
  EXPECT_EQ(watch.TakeLog(), (Log{"s2 watch", "m1 role"}));
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
  watch.Pass(kRefreshUs);
  watch.Sentinel(MasterAt("m2"));
  watch.TakeLog();
  watch.Role(Master());
  EXPECT_EQ(watch.TakeLog(), (Log{"m2 < GET a", "m2 < GET b"}));
}

TEST(SentinelMachine, KeepsARequestThatDidNotReachTheMaster) {
  Watch watch;
  watch.Open();
  watch.Pass(kRefreshUs);
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
  watch.Pass(kRefreshUs);
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

TEST(SentinelMachine, GivesREADONLYToTheCallerInTheEnd) {
  Watch watch;
  watch.Open();
  const Reply readonly = Reply::Error("READONLY You can't write against a read only replica.");
  RequestForTest incr("INCR k");
  watch.Submit(incr);
  for (int i = 0; i < TestOptions().redirections; ++i) {
    watch.Answer(readonly);
    watch.Pass(kRefreshUs);
    watch.Sentinel(MasterAt("m1"));
    watch.Role(Master());
  }
  watch.Answer(readonly);
  ASSERT_TRUE(incr.completed());
  EXPECT_EQ(incr.result().value(), readonly);
}

TEST(SentinelMachine, GivesALostRequestToItsCaller) {
  Watch watch;
  watch.Open();
  watch.Pass(kRefreshUs);
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
  watch.Pass(kRefreshUs);
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

TEST(SentinelMachine, GivesOtherFailuresToTheCaller) {
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
  EXPECT_EQ(watch_key.result().status().code(), absl::StatusCode::kFailedPrecondition);
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
  watch.Pass(kRefreshUs);
  watch.Sentinel(NotConnected());
  watch.TakeLog();
  watch.Pass(kTimeoutUs - kRefreshUs);
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
  watch.Pass(kRefreshUs);
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
}  // namespace redouble::redis
