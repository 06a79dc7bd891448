#include "backends/memory/session.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/memory/engine.h"
#include "core/store/errors.h"
#include "gtest/gtest.h"

namespace redouble::memory {
namespace {

using store::Command;
using store::Reply;

constexpr int64_t kStartMillis = 1'778'335'382'000;

// A request that keeps its result; a waiter without a coroutine.
class Waiter final : public store::Request {
 public:
  explicit Waiter(const std::vector<std::string_view>& words)
      : Waiter(Kind::kCommand, std::vector<std::vector<std::string_view>>(1, words)) {}
  Waiter(Kind kind, std::vector<std::vector<std::string_view>> commands)
      : Waiter(std::make_unique<Sent>(std::move(commands)), kind) {}

  // "waiting" while it has no result.
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

TEST_F(SessionTest, GivesUpOneMillisecondAfterTheTimeOut) {
  Waiter blocked({"BLPOP", "list", "1"});
  session_->Submit(blocked);
  clock_.Advance(absl::Milliseconds(1000));
  EXPECT_EQ(blocked.Text(), "waiting");
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(blocked.Text(), "nil");
}

TEST_F(SessionTest, KeepsWhatIsSentBehindABlockedCommandInOrder) {
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

TEST_F(SessionTest, GoesOnWithAPipelineBehindItsBlockedCommand) {
  Waiter pipeline(store::Request::Kind::kPipeline,
                  {{"INCR", "n"}, {"BLPOP", "list", "0"}, {"INCR", "n"}});
  session_->Submit(pipeline);
  EXPECT_EQ(Send(*other_, {"GET", "n"}), "\"1\"");
  Send(*other_, {"RPUSH", "list", "a"});
  EXPECT_EQ(pipeline.Text(), "[1, [\"list\", \"a\"], 2]");
}

TEST_F(SessionTest, TakesABlockedCommandBackWhenItsWaiterGoesAway) {
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

TEST_F(SessionTest, ForgetsAWaitingRequestThatGoesAway) {
  Waiter blocked({"BLPOP", "list", "0"});
  session_->Submit(blocked);
  {
    Waiter abandoned({"SET", "k", "v"});
    session_->Submit(abandoned);
  }
  Send(*other_, {"RPUSH", "list", "a"});
  EXPECT_EQ(Send(*other_, {"EXISTS", "k"}), "0");
}

TEST_F(SessionTest, FailsWhatWaitsWhenTheConnectionEnds) {
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

// As a Redis that cannot fork: there is no debugger, and nothing runs as if there were one.
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

TEST_F(SessionTest, GivesItsWatchesUpWhenTheConnectionEnds) {
  Send(*session_, {"WATCH", "k"});
  EXPECT_TRUE(engine_.watching().anybody_watches());
  session_.reset();
  EXPECT_FALSE(engine_.watching().anybody_watches());
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

// The reply of the one who pushes comes before anything that the one it woke does next.
TEST_F(SessionTest, ServesWhoWasWokenAfterTheCommandThatWokeHim) {
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

// What arrives on a connection that has said MULTI itself, word by word.
TEST_F(SessionTest, RunsATransactionInsideATransactionAsItsWords) {
  Send(*session_, {"MULTI"});
  Waiter transaction(store::Request::Kind::kTransaction, {{"INCR", "n"}});
  session_->Submit(transaction);
  EXPECT_EQ(transaction.Text(), "[1]");
  EXPECT_FALSE(session_->in_transaction());
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

// What a script that runs too long does to others is recorded from a real server
// (tests/conformance/cases/busy.txt); here is what a conversation cannot show.
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
  Waiter function({"FCALL", "f", "1", "key"});
  session_->Submit(function);
  clock_.Advance(absl::Milliseconds(1500));
  EXPECT_EQ(Send(*other_, {"FUNCTION", "STATS"}),
            "[\"running_script\", [\"name\", \"f\", \"command\", [\"FCALL\", \"f\", \"1\", "
            "\"key\"], \"duration_ms\", 1500], \"engines\", [\"LUA\", [\"libraries_count\", 1, "
            "\"functions_count\", 1]]]");
}

}  // namespace
}  // namespace redouble::memory
