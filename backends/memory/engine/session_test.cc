#include "redouble/backends/memory/engine/session.h"

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Command;
using store::Reply;

constexpr int64_t kStartMillis = 1'778'335'382'000;

// A request that keeps its result, without a coroutine.
class Waiter final : public store::Request {
 public:
  explicit Waiter(const std::vector<std::string_view>& words)
      : Waiter(Kind::kCommand, std::vector<std::vector<std::string_view>>(1, words)) {}
  Waiter(Kind kind, std::vector<std::vector<std::string_view>> commands)
      : Waiter(std::make_unique<Sent>(std::move(commands)), kind) {}

  // Returns "waiting" until the request has completed.
  std::string Text() const {
    if (!result_) return "waiting";
    return result_->ok() ? (*result_)->DebugString() : std::string(result_->status().message());
  }
  const absl::StatusOr<Reply>& result() const { return *result_; }
  // Runs inside the completion.
  std::function<void()> then;

 private:
  struct Sent {
    explicit Sent(std::vector<std::vector<std::string_view>> lines) : words(std::move(lines)) {
      for (const auto& line : words) {
        commands.push_back(Command::Named(line[0], std::span(line).subspan(1)));
      }
    }
    std::vector<std::vector<std::string_view>> words;
    std::vector<Command> commands;
  };
  Waiter(std::unique_ptr<Sent> sent, Kind kind)
      : Request(kind, sent->commands), sent_(std::move(sent)) {}

  void OnComplete(absl::StatusOr<Reply>&& result) override {
    result_ = std::move(result);
    if (then) then();
  }

  std::unique_ptr<Sent> sent_;
  std::optional<absl::StatusOr<Reply>> result_;
};

class SessionTest : public testing::Test {
 protected:
  std::string Send(Session& session, std::vector<std::string_view> words) {
    Waiter waiter(std::move(words));
    session.Submit(waiter);
    return waiter.Text();
  }

  base::VirtualClock clock_{absl::FromUnixMillis(kStartMillis)};
  Engine engine_{clock_};
  std::unique_ptr<Session> session_ = engine_.Connect();
  std::unique_ptr<Session> other_ = engine_.Connect();
};

TEST_F(SessionTest, NumbersItselfInTheOrderOfConnecting) {
  EXPECT_EQ(session_->id(), 1);
  EXPECT_EQ(other_->id(), 2);
}

TEST_F(SessionTest, CompletesABlockedCommandWhenDataComes) {
  Waiter blocked({"BLPOP", "list", "0"});
  session_->Submit(blocked);
  EXPECT_TRUE(session_->blocked());
  EXPECT_EQ(blocked.Text(), "waiting");
  EXPECT_EQ(Send(*other_, {"RPUSH", "list", "a"}), "1");
  EXPECT_EQ(blocked.Text(), "[\"list\", \"a\"]");
  EXPECT_FALSE(session_->blocked());
}

TEST_F(SessionTest, TimesOutOneMillisecondAfterTheTimeout) {
  Waiter blocked({"BLPOP", "list", "1"});
  session_->Submit(blocked);
  clock_.Advance(absl::Milliseconds(1000));
  EXPECT_EQ(blocked.Text(), "waiting");
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(blocked.Text(), "nil");
}

TEST_F(SessionTest, QueuesCommandsAfterABlockedCommandInOrder) {
  Waiter blocked({"BLPOP", "list", "0"});
  Waiter first({"INCR", "n"});
  Waiter second({"INCR", "n"});
  session_->Submit(blocked);
  session_->Submit(first);
  session_->Submit(second);
  EXPECT_EQ(first.Text(), "waiting");
  EXPECT_EQ(Send(*other_, {"INCRBY", "n", "10"}), "10");
  Send(*other_, {"RPUSH", "list", "a"});
  EXPECT_EQ(first.Text(), "11");
  EXPECT_EQ(second.Text(), "12");
}

TEST_F(SessionTest, ContinuesAPipelineAfterItsBlockedCommand) {
  Waiter pipeline(store::Request::Kind::kPipeline,
                  {{"INCR", "n"}, {"BLPOP", "list", "0"}, {"INCR", "n"}});
  session_->Submit(pipeline);
  EXPECT_EQ(Send(*other_, {"GET", "n"}), "\"1\"");
  Send(*other_, {"RPUSH", "list", "a"});
  EXPECT_EQ(pipeline.Text(), "[1, [\"list\", \"a\"], 2]");
}

TEST_F(SessionTest, CancelsABlockedCommandWhenItsWaiterIsDestroyed) {
  Waiter behind({"PING"});
  {
    Waiter abandoned({"BLPOP", "list", "0"});
    session_->Submit(abandoned);
    session_->Submit(behind);
  }
  EXPECT_FALSE(session_->blocked());
  EXPECT_EQ(behind.Text(), "PONG");
  Send(*other_, {"RPUSH", "list", "a"});
  EXPECT_EQ(Send(*other_, {"LLEN", "list"}), "1");
}

TEST_F(SessionTest, DropsAQueuedRequestThatIsDestroyed) {
  Waiter blocked({"BLPOP", "list", "0"});
  session_->Submit(blocked);
  {
    Waiter abandoned({"SET", "k", "v"});
    session_->Submit(abandoned);
  }
  Send(*other_, {"RPUSH", "list", "a"});
  EXPECT_EQ(Send(*other_, {"EXISTS", "k"}), "0");
}

TEST_F(SessionTest, FailsQueuedRequestsWhenTheConnectionEnds) {
  Waiter blocked({"BLPOP", "list", "0"});
  Waiter behind({"PING"});
  session_->Submit(blocked);
  session_->Submit(behind);
  session_.reset();
  for (const Waiter* waiter : {&blocked, &behind}) {
    EXPECT_EQ(store::ErrorKindOf(waiter->result().status()), store::ErrorKind::kOutcomeUnknown);
  }
  Send(*other_, {"RPUSH", "list", "a"});
  EXPECT_EQ(Send(*other_, {"LLEN", "list"}), "1");
  clock_.Advance(absl::Hours(1));
}

// The connections of an engine that is gone are closed; the sessions can still be used.
TEST_F(SessionTest, IsAClosedConnectionWhenTheEngineIsGone) {
  auto engine = std::make_unique<Engine>(clock_);
  std::unique_ptr<Session> blocked = engine->Connect();
  std::unique_ptr<Session> busy = engine->Connect();
  std::unique_ptr<Session> killed = engine->Connect();
  Waiter subscribe({"SUBSCRIBE", "news"}), watch({"WATCH", "k"}), multi({"MULTI"});
  Waiter track({"CLIENT", "TRACKING", "ON", "REDIRECT", "1"});
  Waiter kill({"CLIENT", "KILL", "ID", "3"});
  killed->Submit(subscribe);
  for (Waiter* waiter : {&track, &kill, &watch, &multi}) busy->Submit(*waiter);
  ASSERT_EQ(kill.Text(), "1");
  Waiter pop({"BLPOP", "list", "5"}), next({"PING"});
  blocked->Submit(pop);
  blocked->Submit(next);
  ASSERT_EQ(pop.Text(), "waiting");
  Waiter late({"PING"});
  pop.then = [&] { blocked->Submit(late); };

  engine.reset();
  EXPECT_EQ(store::ErrorKindOf(pop.result().status()), store::ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(store::ErrorKindOf(next.result().status()), store::ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(store::ErrorKindOf(late.result().status()), store::ErrorKind::kNotSent);
  for (Session* session : {blocked.get(), busy.get(), killed.get()}) {
    Waiter ping({"PING"});
    session->Submit(ping);
    EXPECT_EQ(ping.Text(), "the connection was closed");
    EXPECT_EQ(store::ErrorKindOf(ping.result().status()), store::ErrorKind::kNotSent);
    EXPECT_TRUE(session->authenticated());
    EXPECT_FALSE(session->in_transaction());
    EXPECT_FALSE(session->blocked());
  }
  clock_.Advance(absl::Seconds(10));
}

// A completion at the end of the engine can destroy its session and others.
TEST_F(SessionTest, MayEndWhileTheEngineEnds) {
  auto engine = std::make_unique<Engine>(clock_);
  std::unique_ptr<Session> first = engine->Connect();
  std::unique_ptr<Session> second = engine->Connect();
  Waiter pop({"BLPOP", "list", "0"}), other({"BLPOP", "list", "0"});
  first->Submit(pop);
  second->Submit(other);
  pop.then = [&] {
    second.reset();
    first.reset();
  };
  engine.reset();
  EXPECT_EQ(pop.Text(), "the connection was closed");
  EXPECT_EQ(other.Text(), "the connection was closed");
}

// As in a Redis that cannot fork: there is no debugger, and no script runs as if there were one.
TEST_F(SessionTest, RunsNoScriptThatIsToBeDebugged) {
  EXPECT_EQ(Send(*session_, {"SCRIPT", "DEBUG", "YES"}), "OK");
  EXPECT_EQ(Send(*session_, {"EVAL", "return redis.call('INCR', 'k')", "0"}),
            "(error) ERR Fork() failed: can't run EVAL in debugging mode: Cannot allocate memory");
  EXPECT_EQ(Send(*session_, {"EXISTS", "k"}), "0");
  // The mode ends with the attempt.
  EXPECT_EQ(Send(*session_, {"EVAL", "return 1", "0"}), "1");
  EXPECT_EQ(Send(*session_, {"SCRIPT", "DEBUG", "SYNC"}),
            "(error) ERR SCRIPT DEBUG must be called outside a pipeline");
}

TEST_F(SessionTest, DropsItsWatchesWhenTheConnectionEnds) {
  Send(*session_, {"WATCH", "k"});
  EXPECT_TRUE(engine_.core().watching().has_watchers());
  session_.reset();
  EXPECT_FALSE(engine_.core().watching().has_watchers());
}

TEST_F(SessionTest, MayBeUsedFromInsideACompletion) {
  Waiter blocked({"BLPOP", "list", "0"});
  Waiter nested({"INCR", "n"});
  blocked.then = [&] { session_->Submit(nested); };
  session_->Submit(blocked);
  Send(*other_, {"RPUSH", "list", "a"});
  EXPECT_EQ(nested.Text(), "1");
}

TEST_F(SessionTest, MayEndFromInsideACompletion) {
  Waiter blocked({"BLPOP", "list", "0"});
  blocked.then = [&] { session_.reset(); };
  session_->Submit(blocked);
  EXPECT_EQ(Send(*other_, {"RPUSH", "list", "a"}), "1");
  EXPECT_EQ(blocked.Text(), "[\"list\", \"a\"]");
}

// The pusher's reply comes before anything that the woken client does next.
TEST_F(SessionTest, ServesAWaiterAfterTheCommandThatWokeIt) {
  std::vector<std::string> order;
  Waiter blocked({"BLPOP", "list", "0"});
  blocked.then = [&] { order.push_back("woken"); };
  session_->Submit(blocked);
  Waiter push({"RPUSH", "list", "a"});
  push.then = [&] { order.push_back("pusher"); };
  other_->Submit(push);
  EXPECT_EQ(order, (std::vector<std::string>{"pusher", "woken"}));
}

TEST_F(SessionTest, RunsATransactionWithoutBlocking) {
  Waiter transaction(store::Request::Kind::kTransaction,
                     {{"BLPOP", "list", "0"}, {"SET", "k", "v"}});
  session_->Submit(transaction);
  EXPECT_EQ(transaction.Text(), "[nil, OK]");
}

TEST_F(SessionTest, RefusesATransactionWithAWrongCommandWhole) {
  Waiter transaction(store::Request::Kind::kTransaction, {{"SET", "k", "v"}, {"GET"}});
  session_->Submit(transaction);
  EXPECT_EQ(transaction.Text(),
            "(error) EXECABORT Transaction discarded because of previous errors.");
  EXPECT_EQ(Send(*session_, {"EXISTS", "k"}), "0");
}

// A transaction request on a connection that has called MULTI runs as separate commands.
TEST_F(SessionTest, RunsATransactionInsideATransactionAsItsWords) {
  Send(*session_, {"MULTI"});
  Waiter transaction(store::Request::Kind::kTransaction, {{"INCR", "n"}});
  session_->Submit(transaction);
  EXPECT_EQ(transaction.Text(), "[1]");
  EXPECT_FALSE(session_->in_transaction());
}

// A transaction request gets the reply that a connection gets for MULTI, the commands and EXEC.
struct TransactionCase {
  std::string name;
  EngineOptions options;
  std::vector<std::vector<std::string_view>> before;
  std::vector<std::vector<std::string_view>> commands;
  // The reply begins with this.
  std::string reply;

  friend std::ostream& operator<<(std::ostream& out, const TransactionCase& transaction) {
    return out << transaction.name;
  }
};

class TransactionRequestTest : public testing::TestWithParam<TransactionCase> {
 protected:
  // A session of its own engine, after the commands `before`.
  struct Server {
    Server() : engine(clock, GetParam().options), session(engine.Connect()) {
      for (const std::vector<std::string_view>& words : GetParam().before) Send(words);
    }
    std::string Send(const std::vector<std::string_view>& words) {
      Waiter waiter(words);
      session->Submit(waiter);
      return waiter.Text();
    }

    base::VirtualClock clock{absl::FromUnixMillis(kStartMillis)};
    Engine engine;
    std::unique_ptr<Session> session;
  };
};

TEST_P(TransactionRequestTest, GetsTheReplyOfItsCommandsOneByOne) {
  Server whole;
  Waiter transaction(store::Request::Kind::kTransaction, GetParam().commands);
  whole.session->Submit(transaction);

  Server one_by_one;
  one_by_one.Send({"MULTI"});
  for (const std::vector<std::string_view>& words : GetParam().commands) one_by_one.Send(words);
  EXPECT_EQ(transaction.Text(), one_by_one.Send({"EXEC"}));

  EXPECT_TRUE(transaction.Text().starts_with(GetParam().reply)) << transaction.Text();
  for (const std::vector<std::string_view>& probe :
       std::vector<std::vector<std::string_view>>{{"INFO", "commandstats"},
                                                  {"INFO", "errorstats"},
                                                  {"CLIENT", "INFO"},
                                                  {"ACL", "LOG"},
                                                  {"RESET"},
                                                  {"EXISTS", "k"}}) {
    EXPECT_EQ(whole.Send(probe), one_by_one.Send(probe)) << probe[0];
  }
}

constexpr char kPreviousErrors[] =
    "(error) EXECABORT Transaction discarded because of previous errors.";

EngineOptions WithPassword() { return {.requirepass = "secret"}; }
EngineOptions WithMemory(uint64_t bytes) { return {.maxmemory_bytes = bytes}; }
EngineOptions InCluster() { return {.cluster = ClusterOptions()}; }

INSTANTIATE_TEST_SUITE_P(
    Refusals, TransactionRequestTest,
    testing::Values(
        TransactionCase{"Nothing", {}, {}, {{"SET", "k", "v"}, {"GET", "k"}}, "[OK, \"v\"]"},
        TransactionCase{"NoMultiFlag", {}, {}, {{"SET", "k", "v"}, {"SAVE"}}, kPreviousErrors},
        TransactionCase{
            "NoMultiFlagOfSync", {}, {}, {{"SYNC"}, {"SET", "k", "v"}}, kPreviousErrors},
        TransactionCase{
            "Protected", {}, {}, {{"SET", "k", "v"}, {"MODULE", "LOAD", "/x.so"}}, kPreviousErrors},
        TransactionCase{"UnknownCommand", {}, {}, {{"SET", "k", "v"}, {"NOPE"}}, kPreviousErrors},
        TransactionCase{"UnknownSubcommand",
                        {},
                        {},
                        {{"SET", "k", "v"}, {"OBJECT", "NOPE", "k"}},
                        kPreviousErrors},
        TransactionCase{"Arity", {}, {}, {{"SET", "k", "v"}, {"GET"}}, kPreviousErrors},
        TransactionCase{"Subscribe", {}, {}, {{"SUBSCRIBE", "c"}, {"SET", "k", "v"}}, "["},
        TransactionCase{"Subscriber",
                        {},
                        {{"SUBSCRIBE", "c"}},
                        {{"SET", "k", "v"}},
                        "(error) EXECABORT Transaction discarded because of: Can't execute 'exec'"},
        TransactionCase{"NoPassword",
                        WithPassword(),
                        {},
                        {{"SET", "k", "v"}},
                        "(error) EXECABORT Transaction discarded because of: NOAUTH "},
        TransactionCase{"Acl",
                        {},
                        {{"ACL", "SETUSER", "default", "-set"}},
                        {{"SET", "k", "v"}, {"GET", "k"}},
                        kPreviousErrors},
        TransactionCase{"AclWithoutMulti",
                        {},
                        {{"ACL", "SETUSER", "default", "-multi"}},
                        {{"SET", "k", "v"}},
                        "(error) ERR EXEC without MULTI"},
        TransactionCase{"OutOfMemory", WithMemory(1), {}, {{"SET", "k", "v"}}, kPreviousErrors},
        TransactionCase{"Cluster",
                        InCluster(),
                        {},
                        {{"SET", "k", "v"}, {"SET", "l", "v"}},
                        "(error) CROSSSLOT "},
        TransactionCase{"Discard", {}, {}, {{"DISCARD"}}, "(error) ERR EXEC without MULTI"},
        TransactionCase{"Reset", {}, {}, {{"RESET"}}, "(error) ERR EXEC without MULTI"},
        TransactionCase{"NestedMulti", {}, {}, {{"MULTI"}, {"SET", "k", "v"}}, "[OK]"},
        TransactionCase{"Watch", {}, {}, {{"WATCH", "k"}, {"SET", "k", "v"}}, "[OK]"},
        TransactionCase{
            "WatchedKeyChanged", {}, {{"WATCH", "k"}, {"SET", "k", "v"}}, {{"GET", "k"}}, "nil"}),
    [](const testing::TestParamInfo<TransactionCase>& info) { return info.param.name; });

// DISCARD ends the transaction, so that BLPOP may block; EXEC follows when it has its reply.
TEST_F(SessionTest, WaitsForABlockedCommandAfterDiscardInATransaction) {
  Waiter transaction(store::Request::Kind::kTransaction,
                     {{"DISCARD"}, {"BLPOP", "list", "0"}, {"INCR", "n"}});
  session_->Submit(transaction);
  EXPECT_EQ(transaction.Text(), "waiting");
  EXPECT_EQ(Send(*other_, {"EXISTS", "n"}), "0");
  Send(*other_, {"RPUSH", "list", "a"});
  EXPECT_EQ(transaction.Text(), "(error) ERR EXEC without MULTI");
  EXPECT_EQ(Send(*other_, {"GET", "n"}), "\"1\"");
}

TEST_F(SessionTest, DiscardsATransactionThatIsAbandonedDuringAPause) {
  Send(*other_, {"CLIENT", "PAUSE", "100", "WRITE"});
  {
    Waiter abandoned(store::Request::Kind::kTransaction, {{"GET", "k"}, {"SET", "k", "v"}});
    session_->Submit(abandoned);
    EXPECT_EQ(abandoned.Text(), "waiting");
  }
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Send(*session_, {"EXISTS", "k"}), "0");
}

TEST_F(SessionTest, ServesClientsInTheOrderOfTheirWaiting) {
  const std::unique_ptr<Session> third = engine_.Connect();
  Waiter first({"BLPOP", "list", "0"});
  Waiter second({"BLPOP", "list", "0"});
  session_->Submit(first);
  third->Submit(second);
  Send(*other_, {"RPUSH", "list", "a", "b"});
  EXPECT_EQ(first.Text(), "[\"list\", \"a\"]");
  EXPECT_EQ(second.Text(), "[\"list\", \"b\"]");
}

// The effects of a busy script on other clients are recorded from a real server
// (tests/conformance/cases/busy.txt); these are the cases that a conversation cannot show.
class BusyScriptTest : public SessionTest {
 protected:
  BusyScriptTest() { Send(*session_, {"CONFIG", "SET", "busy-reply-threshold", "1"}); }

  bool IsBusy() { return Send(*other_, {"GET", "k"}).starts_with("(error) BUSY "); }
};

TEST_F(BusyScriptTest, IsForGoodWhenTheScriptWrote) {
  Waiter script({"EVAL", "redis.call('SET', 'k', 'v') while true do end", "0"});
  session_->Submit(script);
  EXPECT_EQ(script.Text(), "waiting");
  EXPECT_TRUE(Send(*other_, {"SCRIPT", "KILL"}).starts_with("(error) UNKILLABLE Sorry "));
  EXPECT_TRUE(Send(*other_, {"FUNCTION", "KILL"}).starts_with("(error) UNKILLABLE Sorry "));
  EXPECT_TRUE(IsBusy());
}

TEST_F(BusyScriptTest, OutlivesItsCaller) {
  Waiter script({"EVAL", "while true do end", "0"});
  session_->Submit(script);
  session_.reset();
  EXPECT_EQ(script.Text(), "the connection was closed");
  EXPECT_TRUE(IsBusy());
  EXPECT_EQ(Send(*other_, {"SCRIPT", "KILL"}), "OK");
  EXPECT_EQ(Send(*other_, {"GET", "k"}), "nil");
}

TEST_F(BusyScriptTest, OutlivesARequestThatIsTakenBack) {
  {
    Waiter script({"EVAL", "while true do end", "0"});
    session_->Submit(script);
  }
  EXPECT_TRUE(IsBusy());
  EXPECT_EQ(Send(*other_, {"SCRIPT", "KILL"}), "OK");
  EXPECT_EQ(Send(*session_, {"GET", "k"}), "nil");
}

TEST_F(BusyScriptTest, IsKilledAtOnceInATransaction) {
  Waiter transaction(
      store::Request::Kind::kTransaction,
      {{"EVAL", "redis.call('SET', 'k', 'v') while true do end", "0"}, {"GET", "k"}});
  session_->Submit(transaction);
  EXPECT_NE(transaction.Text().find("Script killed by user with SCRIPT KILL..."),
            std::string::npos);
  EXPECT_NE(transaction.Text().find("\"v\""), std::string::npos);
  EXPECT_FALSE(IsBusy());
}

TEST_F(BusyScriptTest, RefusesTransactionsMeanwhile) {
  Waiter script({"EVAL", "while true do end", "0"});
  session_->Submit(script);
  Waiter transaction(store::Request::Kind::kTransaction, {{"SET", "k", "v"}});
  other_->Submit(transaction);
  EXPECT_TRUE(
      transaction.Text().starts_with("(error) EXECABORT Transaction discarded because of: BUSY "));
}

TEST_F(BusyScriptTest, TellsHowLongAFunctionRunsByTheClock) {
  Send(*session_,
       {"FUNCTION", "LOAD",
        "#!lua name=lib\nredis.register_function('f', function() while true do end end)"});
  Waiter function({"fcall", "f", "1", "key"});
  session_->Submit(function);
  clock_.Advance(absl::Milliseconds(1500));
  EXPECT_EQ(Send(*other_, {"FUNCTION", "STATS"}),
            "[\"running_script\", [\"name\", \"f\", \"command\", [\"fcall\", \"f\", \"1\", "
            "\"key\"], \"duration_ms\", 1500], \"engines\", [\"LUA\", [\"libraries_count\", 1, "
            "\"functions_count\", 1]]]");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
