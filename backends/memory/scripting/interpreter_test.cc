// How scripts answer is recorded from a real server (tests/conformance/cases/scripting.txt); here
// is what no reply shows: what reaches the host, and what one script leaves for the next.
#include "backends/memory/scripting/interpreter.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace redouble::memory {
namespace {

using store::Reply;

// Answers every command with the same reply and notes what it was asked.
class NotingHost final : public ScriptHost {
 public:
  Reply CallCommand(std::span<const std::string_view> words) override {
    calls.emplace_back(words.begin(), words.end());
    return reply;
  }
  bool MayRun(std::span<const std::string_view>) const override { return true; }
  bool HasCommand(std::span<const std::string_view>) const override { return true; }
  std::vector<std::vector<std::string>> calls;
  Reply reply = Reply::Ok();
};

class InterpreterTest : public testing::Test {
 protected:
  Reply Eval(std::string_view body, std::vector<std::string_view> keys = {},
             std::vector<std::string_view> arguments = {}) {
    const std::string name = "script" + std::to_string(scripts_++);
    if (std::optional<Reply> error = interpreter_.Compile(name, body)) return *error;
    return interpreter_.Run(name, keys, arguments, host_).reply;
  }

  Interpreter interpreter_;
  NotingHost host_;
  int scripts_ = 0;
};

TEST_F(InterpreterTest, HandsWordsToTheHostByteByByte) {
  using std::string_view_literals::operator""sv;
  Eval("redis.call('SET', KEYS[1], ARGV[1], 7, 0.5)", {"k\0y"sv}, {"\xff\r\n"});
  EXPECT_EQ(host_.calls, (std::vector<std::vector<std::string>>{
                             {"SET", std::string("k\0y"sv), "\xff\r\n", "7", "0.5"}}));
}

TEST_F(InterpreterTest, AsksTheHostNothingWhenTheWordsAreWrong) {
  EXPECT_TRUE(Eval("return redis.pcall('GET', {})").is_error());
  EXPECT_TRUE(Eval("return redis.pcall()").is_error());
  EXPECT_TRUE(host_.calls.empty());
}

TEST_F(InterpreterTest, StopsAtTheFirstErrorOfACall) {
  host_.reply = Reply::Error("ERR no");
  const Reply reply = Eval("redis.call('A') redis.call('B')");
  EXPECT_EQ(reply, Reply::Error("ERR no script: script0, on @user_script:1."));
  EXPECT_EQ(host_.calls.size(), 1u);
}

TEST_F(InterpreterTest, GoesOnAfterAnErrorOfAPcall) {
  host_.reply = Reply::Error("ERR no");
  EXPECT_EQ(Eval("redis.pcall('A') redis.pcall('B') return 1"), Reply::Integer(1));
  EXPECT_EQ(host_.calls.size(), 2u);
}

TEST_F(InterpreterTest, KeepsNothingOfAScriptForTheNext) {
  EXPECT_TRUE(Eval("leftover = 1").is_error());
  EXPECT_TRUE(Eval("string.leftover = 1").is_error());
  EXPECT_TRUE(Eval("rawset(_G, 'leftover', 1) return leftover").is_integer());
  EXPECT_TRUE(Eval("redis.setresp(3)").is_nil());
  host_.reply = Reply::Nil();
  EXPECT_EQ(Eval("return type(redis.call('GET', 'k'))"), Reply::Bulk("boolean"));
  EXPECT_EQ(Eval("return #KEYS + #ARGV"), Reply::Integer(0));
}

TEST_F(InterpreterTest, ProtectsWhatExistsToo) {
  for (const std::string_view body : {"redis = nil", "redis.call = nil", "string.format = nil",
                                      "math.random = nil", "_G.redis = nil"}) {
    const Reply reply = Eval(body);
    ASSERT_TRUE(reply.is_error()) << body;
    EXPECT_NE(reply.text().find("Attempt to modify a readonly table"), std::string::npos) << body;
  }
  EXPECT_EQ(Eval("return string.format('%d', 3)"), Reply::Bulk("3"));
}

TEST_F(InterpreterTest, LooksBehindProtectedTablesWhenAskedForPairs) {
  EXPECT_EQ(Eval("local n = 0 for k, v in pairs(bit) do n = n + 1 end return n > 5"),
            Reply::Integer(1));
  EXPECT_EQ(Eval("return next({}) == nil"), Reply::Integer(1));
  EXPECT_EQ(Eval("return ({next({x = 5})})[2]"), Reply::Integer(5));
}

TEST_F(InterpreterTest, OffersNeitherFilesNorClockNorModules) {
  for (const std::string_view name :
       {"os", "io", "debug", "package", "require", "dofile", "loadfile", "module", "newproxy",
        "print", "getfenv", "setfenv"}) {
    const Reply reply = Eval("return " + std::string(name));
    ASSERT_TRUE(reply.is_error()) << name;
    EXPECT_NE(reply.text().find("nonexistent global variable"), std::string::npos) << name;
  }
}

TEST_F(InterpreterTest, DrawsTheSameSequenceInEveryInterpreter) {
  const std::string_view body = "return {math.random(1000000), math.random(1000000)}";
  const Reply first = Eval(body);
  Interpreter other;
  ASSERT_FALSE(other.Compile("x", body).has_value());
  EXPECT_EQ(other.Run("x", {}, {}, host_).reply, first);
  EXPECT_NE(Eval(body), first);
}

TEST_F(InterpreterTest, ForgetsScriptsAndStateWhenFlushed) {
  const Reply first = Eval("return math.random(1000000)");
  ASSERT_TRUE(interpreter_.Has("script0"));
  interpreter_.Flush();
  EXPECT_FALSE(interpreter_.Has("script0"));
  EXPECT_EQ(Eval("return math.random(1000000)"), first);
}

TEST_F(InterpreterTest, SurvivesResultsThatNestTooDeep) {
  EXPECT_TRUE(Eval("local a = {} a[1] = a return a").is_array());
  EXPECT_EQ(Eval("return 1"), Reply::Integer(1));
}

TEST_F(InterpreterTest, StopsAScriptThatRunsTooLong) {
  ASSERT_FALSE(interpreter_.Compile("endless", "while true do end").has_value());
  const ScriptResult result = interpreter_.Run("endless", {}, {}, host_, 1);
  EXPECT_TRUE(result.overran);
  EXPECT_EQ(result.reply,
            Reply::Error("ERR Script killed by user with SCRIPT KILL... script: endless, on "
                         "@user_script:1."));
  EXPECT_EQ(Eval("return 1"), Reply::Integer(1));
}

TEST_F(InterpreterTest, LetsAStoppedScriptReachNoCommand) {
  const std::string_view body =
      "local run = coroutine.wrap(function() pcall(function() while true do end end) "
      "redis.call('A') end) pcall(run) redis.call('B') return 1";
  ASSERT_FALSE(interpreter_.Compile("endless", body).has_value());
  EXPECT_TRUE(interpreter_.Run("endless", {}, {}, host_, 3).overran);
  EXPECT_TRUE(host_.calls.empty());
}

TEST_F(InterpreterTest, CountsInstructionsAndNotTime) {
  const std::string_view body = "for i = 1, 60000 do local x = i end return 1";
  ASSERT_FALSE(interpreter_.Compile("short", body).has_value());
  EXPECT_FALSE(interpreter_.Run("short", {}, {}, host_, 3).overran);
  EXPECT_TRUE(interpreter_.Run("short", {}, {}, host_, 1).overran);
  EXPECT_FALSE(interpreter_.Run("short", {}, {}, host_, 0).overran);
}

TEST_F(InterpreterTest, SurvivesEndlessRecursion) {
  const Reply reply = Eval("local function f() return 1 + f() end return f()");
  ASSERT_TRUE(reply.is_error());
  EXPECT_NE(reply.text().find("stack overflow"), std::string::npos);
  EXPECT_EQ(Eval("return 1"), Reply::Integer(1));
}

}  // namespace
}  // namespace redouble::memory
