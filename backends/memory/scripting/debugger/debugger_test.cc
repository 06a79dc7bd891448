// Sessions with a scripted client and scripted commands. tests/serve/script_debug_test.py compares
// whole sessions with a real server's; these tests check each command, and what a real server would
// take seconds for or ends its process with.
#include "redouble/backends/memory/scripting/debugger/debugger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/scripting/interpreter.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Reply;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using Lines = std::vector<std::string>;

std::string Encoded(const Lines& words) {
  std::string bytes = absl::StrCat("*", words.size(), "\r\n");
  for (const std::string& word : words) {
    absl::StrAppend(&bytes, "$", word.size(), "\r\n", word, "\r\n");
  }
  return bytes;
}

// A client that sends what it was told to, and then leaves.
class ScriptedChannel final : public DebugChannel {
 public:
  size_t Read(std::span<char> buffer) override {
    if (input.empty()) return 0;
    std::string& next = input.front();
    const size_t size = std::min(next.size(), buffer.size());
    std::copy_n(next.begin(), size, buffer.begin());
    next.erase(0, size);
    if (next.empty()) input.pop_front();
    return size;
  }
  // Each array becomes an element of `output`, without its size and the marks of simple strings.
  void Write(std::string_view bytes) override {
    Lines lines = absl::StrSplit(absl::string_view(bytes.data(), bytes.size()), "\r\n");
    lines.pop_back();
    EXPECT_EQ(lines[0], absl::StrCat("*", lines.size() - 1));
    lines.erase(lines.begin());
    for (std::string& line : lines) {
      EXPECT_THAT(line, StartsWith("+"));
      line.erase(0, 1);
    }
    output.push_back(std::move(lines));
  }
  int64_t MonotonicMicros() override { return now_us += step_us; }

  std::deque<std::string> input;
  std::vector<Lines> output;
  int64_t now_us = 0;
  int64_t step_us = 0;  // How much time passes between two looks at the clock.
};

class ScriptedHost final : public ScriptHost {
 public:
  Reply CallCommand(std::span<const std::string_view> words) override {
    calls.push_back(std::string(words[0]));
    return reply;
  }
  bool MayRun(std::span<const std::string_view>) const override { return true; }
  Recognized Recognize(std::span<const std::string_view>) const override {
    return Recognized::kYes;
  }
  bool refused_last() const override { return refused; }
  ScriptDebugger* debugger() override { return followed_by; }

  Reply reply = Reply::Ok();
  bool refused = false;
  ScriptDebugger* followed_by = nullptr;
  Lines calls;
};

class DebuggerTest : public testing::Test {
 protected:
  void Send(const Lines& words) { channel_.input.push_back(Encoded(words)); }

  // Debugs a script with the commands sent so far. The output then has the log of each stop, the
  // reply to each command that has one, and the end.
  Reply Debug(std::string_view script, std::vector<std::string_view> arguments = {}) {
    Debugger debugger(script, channel_, limit_ms_);
    host_.followed_by = &debugger;
    const Reply reply = Run(script, std::move(arguments));
    host_.followed_by = nullptr;
    debugger.End();
    return reply;
  }

  Reply Run(std::string_view script, std::vector<std::string_view> arguments = {}) {
    const std::string name = absl::StrCat("script", scripts_++);
    if (std::optional<Reply> error = interpreter_.Compile(name, script)) return *error;
    return interpreter_.Run(name, {}, arguments, host_).reply;
  }

  // The reply to one command at the first line of a script.
  Lines ReplyTo(const Lines& words, std::string_view script = "return 1") {
    channel_.output.clear();
    Send(words);
    Send({"continue"});
    Debug(script);
    return channel_.output.at(1);
  }

  const Compatibility compatibility_{store::Version::kRedis70};
  Interpreter interpreter_{compatibility_};
  ScriptedChannel channel_;
  ScriptedHost host_;
  int64_t limit_ms_ = 0;
  int scripts_ = 0;
};

TEST_F(DebuggerTest, StepsThroughTheLines) {
  Send({"step"});
  Send({"N"});
  EXPECT_EQ(Debug("local a = 1\nreturn a\n\n"), Reply::Integer(1));
  EXPECT_THAT(channel_.output,
              ElementsAre(Lines{"* Stopped at 1, stop reason = step over", "-> 1   local a = 1"},
                          Lines{"* Stopped at 2, stop reason = step over", "-> 2   return a"},
                          Lines{"<endsession>"}));
}

TEST_F(DebuggerTest, LogsCommandsOnlyWhenItSteps) {
  host_.reply = Reply::Array({Reply::Integer(1), Reply::Bulk("a\n"), Reply::Nil()});
  Send({"s"});
  Send({"c"});
  Debug("redis.call('LRANGE', 'l')\nredis.call('GET', 'k')");
  EXPECT_THAT(channel_.output[1],
              ElementsAre("<redis> LRANGE l", "<reply> [1,\"a\\n\",NULL]",
                          "* Stopped at 2, stop reason = step over", HasSubstr("GET")));
  EXPECT_THAT(channel_.output[2], ElementsAre("<endsession>"));
  EXPECT_THAT(host_.calls, ElementsAre("LRANGE", "GET"));
}

TEST_F(DebuggerTest, ShowsErrorsAsTheLibraryMakesThem) {
  host_.reply = Reply::Error("WRONGTYPE no");
  EXPECT_THAT(ReplyTo({"redis", "GET"}),
              ElementsAre("<redis> GET", "<error> -WRONGTYPE no", "<reply> \"-WRONGTYPE no\""));
  host_.refused = true;
  host_.reply = Reply::Error("ERR refused");
  EXPECT_THAT(ReplyTo({"r", "GET"}), ElementsAre("<redis> GET", "<error> refused"));
  host_.reply = Reply::Error("OOM refused");
  EXPECT_THAT(ReplyTo({"r", "GET"}), ElementsAre("<redis> GET", "<error> -OOM refused  "));
  Send({"s"});
  Debug("redis.error_reply('My text') redis.pcall({}) redis.status_reply()");
  EXPECT_THAT(channel_.output.back(),
              ElementsAre("<error> -My text",
                          "<error> Lua redis lib command arguments must be strings or integers",
                          "<error> wrong number or type of arguments", "<endsession>"));
}

TEST_F(DebuggerTest, ShowsTenWordsOfACommand) {
  EXPECT_EQ(ReplyTo({"r", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"})[0],
            "<redis> 1 2 3 4 5 6 7 8 9 10 ... (1 more)");
}

TEST_F(DebuggerTest, ShowsRepliesOfResp3) {
  const auto shown = [&](Reply reply) {
    host_.reply = std::move(reply);
    channel_.output.clear();
    Send({"s"});
    Send({"s"});
    Debug("redis.setresp(3)\nredis.call('X')");
    return channel_.output.back().at(1);
  };
  EXPECT_EQ(shown(Reply::Map({Reply::Bulk("f"), Reply::Integer(1)})), "<reply> {\"f\" => 1}");
  EXPECT_EQ(shown(Reply::Set({Reply::Bulk("a"), Reply::Bulk("b")})), "<reply> ~(\"a\",\"b\")");
  EXPECT_EQ(shown(Reply::Nil()), "<reply> (null)");
  EXPECT_EQ(shown(Reply::Bool(true)), "<reply> #true");
  EXPECT_EQ(shown(Reply::Double("1.5")), "<reply> (double) 1.5");
  EXPECT_EQ(shown(Reply::Ok()), "<reply> \"+OK\"");
  EXPECT_EQ(shown(Reply::Array({Reply::BigNumber("12"), Reply::Integer(1)})), "<reply> [,]");
}

TEST_F(DebuggerTest, ShowsValues) {
  const auto value = [&](const std::string& code) { return ReplyTo({"eval", code})[0]; };
  EXPECT_EQ(value("1/3"), "<retval> 0.333333");
  EXPECT_EQ(value("{1, 'a', {k = true}}"), "<retval> {1; \"a\"; {[\"k\"]=true}}");
  EXPECT_EQ(value("{1, nil, 3}"), "<retval> {[1]=1; [3]=3}");
  EXPECT_EQ(value("{}"), "<retval> {}");
  EXPECT_EQ(value("nil"), "<retval> nil");
  EXPECT_THAT(value("tostring"), StartsWith("<retval> \"function@0x"));
  EXPECT_THAT(value("bit"), HasSubstr("[\"band\"]=\"function@0x"));
}

TEST_F(DebuggerTest, EndsTheValueOfATableThatContainsItself) {
  Send({"s"});
  Send({"s"});
  Send({"p", "t"});
  Debug("local t = {}\nt[1] = t\nreturn 1");
  EXPECT_THAT(channel_.output.back().size(), 1u);
  EXPECT_THAT(channel_.output[channel_.output.size() - 2],
              ElementsAre(absl::StrCat("<value> ", std::string(10, '{'),
                                       "<max recursion level reached! Nested table?>",
                                       std::string(10, '}'))));
}

TEST_F(DebuggerTest, EvaluatesExpressionsAndStatements) {
  EXPECT_THAT(ReplyTo({"e", "1", "+", "2"}), ElementsAre("<retval> 3"));
  EXPECT_THAT(ReplyTo({"eval", "local a = 1"}), ElementsAre("<retval> nil"));
  EXPECT_THAT(ReplyTo({"e"}), ElementsAre("<retval> nil"));
  EXPECT_THAT(ReplyTo({"e", "x = 1"}),
              ElementsAre("<error> ldb_eval:1: Attempt to modify a readonly table"));
  EXPECT_THAT(ReplyTo({"e", "'"})[0], StartsWith("<error> ldb_eval:1: unfinished string"));
}

// Redis ends its process here.
TEST_F(DebuggerTest, ShowsErrorsThatAreNoStrings) {
  EXPECT_THAT(ReplyTo({"e", "error()"}), ElementsAre("<error> nil"));
  EXPECT_THAT(ReplyTo({"e", "error({1})"}), ElementsAre("<error> {1}"));
  host_.reply = Reply::Error("ERR no");
  EXPECT_THAT(ReplyTo({"e", "redis.call('GET')"}), ElementsAre("<error> ERR no"));
}

TEST_F(DebuggerTest, PrintsVariables) {
  constexpr std::string_view kScript = "local a = 'x'\nlocal function f(b)\nreturn b\nend\nf(2)";
  Send({"b", "3"});
  Send({"c"});
  for (const char* name : {"a", "b", "ARGV", "c"}) Send({"print", name});
  Send({"p"});
  Send({"p", "a", "b"});
  Debug(kScript, {"v"});
  const auto reply = [&](size_t index) { return channel_.output.at(2 + index); };
  EXPECT_THAT(reply(0),
              ElementsAre("* Stopped at 3, stop reason = break point", "->#3   return b"));
  EXPECT_THAT(reply(1), ElementsAre("<value> \"x\""));
  EXPECT_THAT(reply(2), ElementsAre("<value> 2"));
  EXPECT_THAT(reply(3), ElementsAre("<value> {\"v\"}"));
  EXPECT_THAT(reply(4), ElementsAre("No such variable."));
  EXPECT_THAT(reply(5), ElementsAre("<value> b = 2"));
  EXPECT_EQ(reply(6), reply(5));
  EXPECT_THAT(ReplyTo({"p"}), ElementsAre("No local variables in the current context."));
}

TEST_F(DebuggerTest, TracesTheCalls) {
  Send({"b", "2"});
  Send({"c"});
  Send({"t"});
  Debug("local function f()\nreturn 1\nend\nlocal a = f()");
  EXPECT_THAT(channel_.output[3],
              ElementsAre("In f:", "->#2   return 1", "From top level:", "   4   local a = f()"));
}

TEST_F(DebuggerTest, ListsLines) {
  constexpr std::string_view kScript = "local a\na = 1\na = 2\na = 3\na = 4\na = 5\na = 6\na = 7";
  EXPECT_THAT(ReplyTo({"list"}, kScript),
              ElementsAre("   1   local a", "-> 2   a = 1", "   3   a = 2", "   4   a = 3",
                          "   5   a = 4", "   6   a = 5", "   7   a = 6"));
  EXPECT_EQ(ReplyTo({"l", "0"}, kScript).size(), 7u);
  EXPECT_THAT(ReplyTo({"l", "4", "1"}, kScript),
              ElementsAre("   3   a = 2", "   4   a = 3", "   5   a = 4"));
  EXPECT_THAT(ReplyTo({"l", "20", "1"}, kScript), IsEmpty());
  EXPECT_EQ(ReplyTo({"whole"}, kScript).size(), 8u);
}

TEST_F(DebuggerTest, ChangesBreakpoints) {
  EXPECT_THAT(ReplyTo({"break"}), ElementsAre("No breakpoints set. Use 'b <line>' to add one."));
  EXPECT_THAT(ReplyTo({"b", "1", "1", "9", "-1", "-1", "x"}),
              ElementsAre("->#1   return 1", "Wrong line number.", "Wrong line number.",
                          "Breakpoint removed.", "No breakpoint in the specified line.",
                          "Invalid argument:'x'"));
  channel_.output.clear();
  Send({"b", "2", "1"});
  Send({"b"});
  Send({"b", "0"});
  Debug("local a\na = 1");
  EXPECT_THAT(channel_.output[2],
              ElementsAre("2 breakpoints set:", "->#2   a = 1", "  #1   local a"));
  EXPECT_THAT(channel_.output[3], ElementsAre("All breakpoints removed."));
}

TEST_F(DebuggerTest, HasAtMost64Breakpoints) {
  std::string script;
  Lines words = {"b"};
  for (int i = 1; i <= 65; ++i) {
    script += "local a = 1\n";
    words.push_back(absl::StrCat(i));
  }
  EXPECT_EQ(ReplyTo(words, script).back(), "Too many breakpoints set.");
}

TEST_F(DebuggerTest, TrimsWhatItLogsAndHintsOnce) {
  const std::string code = "string.rep('x', 1000)";
  Send({"e", code});
  Send({"e", code});
  Send({"maxlen", "1"});
  Send({"e", code});
  Send({"m", "0"});
  Send({"e", code});
  Debug("return 1");
  const auto reply = [&](size_t index) { return channel_.output.at(index); };
  EXPECT_EQ(reply(1)[0].size(), 256u + 4u);
  EXPECT_THAT(reply(1)[1], StartsWith("<hint> The above reply was trimmed."));
  EXPECT_EQ(reply(2).size(), 1u);
  EXPECT_THAT(reply(3), ElementsAre("<value> replies are truncated at 60 bytes."));
  EXPECT_EQ(reply(4)[0].size(), 60u + 4u);
  EXPECT_THAT(reply(5), ElementsAre("<value> replies are unlimited."));
  EXPECT_GT(reply(6)[0].size(), 1000u);
}

TEST_F(DebuggerTest, StopsAtTheBreakpointsOfTheScript) {
  Send({"c"});
  Debug("local a = redis.breakpoint()\nreturn a");
  EXPECT_THAT(channel_.output[1][0], "* Stopped at 2, stop reason = redis.breakpoint() called");
  EXPECT_EQ(Run("return tostring(redis.breakpoint())"), Reply::Bulk("false"));
}

TEST_F(DebuggerTest, LogsWhatTheScriptShows) {
  Send({"c"});
  Debug("\nredis.debug('a', 1, {2})\nredis.debug()");
  EXPECT_THAT(channel_.output.back(),
              ElementsAre("<debug> line 2: \"a\", 1, {2}", "<debug> line 3: ", "<endsession>"));
}

TEST_F(DebuggerTest, Aborts) {
  Send({"a"});
  EXPECT_EQ(
      Debug("return 1"),
      Reply::Error("ERR script aborted for user request script: script0, on @user_script:1."));
}

TEST_F(DebuggerTest, RunsOnWithoutStopsWhenTheClientLeaves) {
  Send({"b", "2"});
  EXPECT_EQ(Debug("local a = 1\nredis.breakpoint()\nreturn a"), Reply::Integer(1));
}

TEST_F(DebuggerTest, StopsAScriptThatDoesNotEnd) {
  channel_.step_us = 1'000'000;
  Send({"c"});
  Send({"a"});
  EXPECT_THAT(Debug("while true do end").text(), HasSubstr("script aborted"));
  EXPECT_THAT(channel_.output[1],
              ElementsAre("* Stopped at 1, stop reason = timeout reached, infinite loop?",
                          "-> 1   while true do end"));
}

TEST_F(DebuggerTest, EndsAScriptThatDoesNotEndAfterTheClientLeft) {
  channel_.step_us = 1000;
  limit_ms_ = 2;
  EXPECT_THAT(Debug("while true do end").text(),
              StartsWith("ERR timeout during Lua debugging with client closing connection"));
}

TEST_F(DebuggerTest, RefusesUnknownCommandsAndTooFewWords) {
  const std::string refusal =
      "<error> Unknown Redis Lua debugger command or wrong number of arguments.";
  EXPECT_THAT(ReplyTo({"restart"}), ElementsAre(refusal));
  EXPECT_THAT(ReplyTo({"redis"}), ElementsAre(refusal));
  EXPECT_EQ(ReplyTo({std::string("w\0x", 3)}).size(), 1u);
  EXPECT_EQ(ReplyTo({"help"}).size(), 30u);
}

TEST_F(DebuggerTest, EndsTheScriptAfterAProtocolError) {
  for (const char* bytes : {"*0\r\n", "*1025\r\n", "*1\r\n$0\r\n\r\n", "*1\r\n$1025\r\n", "x",
                            "*1\r\n:1\r\n", "*1\r\n$1\r\nabc"}) {
    channel_.input = {bytes};
    EXPECT_THAT(Debug("return 1").text(), StartsWith("ERR protocol error")) << bytes;
  }
}

TEST_F(DebuggerTest, ReadsARequestInPieces) {
  for (const char byte : Encoded({"print", "x"}) + Encoded({"c"})) {
    channel_.input.push_back(std::string(1, byte));
  }
  EXPECT_EQ(Debug("return 1"), Reply::Integer(1));
  EXPECT_THAT(channel_.output[1], ElementsAre("No such variable."));
}

TEST_F(DebuggerTest, DropsWhatWasReadWithARequest) {
  channel_.input.push_back(Encoded({"print"}) + Encoded({"abort"}));
  EXPECT_EQ(Debug("return 1"), Reply::Integer(1));
}

TEST_F(DebuggerTest, RefusesARequestOfAMegabyte) {
  std::string bytes = "*1024\r\n";
  for (int i = 0; i < 1024; ++i)
    absl::StrAppend(&bytes, "$1024\r\n", std::string(1024, 'x'), "\r\n");
  channel_.input.push_back(bytes);
  EXPECT_THAT(Debug("return 1").text(), StartsWith("ERR max client buffer reached"));
}

TEST_F(DebuggerTest, SeesCoroutinesButNotCodeThatTheScriptLoads) {
  for (int i = 0; i < 7; ++i) Send({"s"});
  Debug(
      "local f = loadstring('local a = 1\\nreturn a')\nf()\n"
      "coroutine.wrap(function()\nreturn 1\nend)()");
  Lines stops;
  for (const Lines& log : channel_.output) stops.push_back(log.size() == 2 ? log[0] : "");
  EXPECT_THAT(stops, ElementsAre(HasSubstr("at 1,"), HasSubstr("at 2,"), HasSubstr("at 3,"),
                                 HasSubstr("at 5,"), HasSubstr("at 3,"), HasSubstr("at 5,"),
                                 StartsWith("* Stopped at 4,"), ""));
}

TEST_F(DebuggerTest, LeavesNothingForTheNextScript) {
  Send({"c"});
  Debug("return 1");
  channel_.output.clear();
  Run("redis.debug(1)\nredis.call('GET')\nreturn 1");
  EXPECT_THAT(channel_.output, IsEmpty());
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
