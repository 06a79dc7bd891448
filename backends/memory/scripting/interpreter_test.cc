// The replies of scripts are recorded from a real server (tests/conformance/cases/scripting.txt).
// These tests check what replies do not show: the commands that reach the host, and the state that
// one script leaves for the next.
#include "redouble/backends/memory/scripting/interpreter.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::memory {
namespace {

using store::Reply;

// Returns the same reply to every command and records the commands.
class RecordingHost final : public ScriptHost {
 public:
  Reply CallCommand(std::span<const std::string_view> words) override {
    calls.emplace_back(words.begin(), words.end());
    return reply;
  }
  bool MayRun(std::span<const std::string_view>) const override { return true; }
  Recognized Recognize(std::span<const std::string_view>) const override {
    return Recognized::kYes;
  }
  std::optional<int64_t> RunMillis() const override { return run_ms; }
  std::vector<std::vector<std::string>> calls;
  std::optional<int64_t> run_ms;
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

  const Compatibility compatibility_{store::Version::kRedis70};
  Interpreter interpreter_{compatibility_};
  RecordingHost host_;
  int scripts_ = 0;
};

TEST_F(InterpreterTest, HandsWordsToTheHostByteByByte) {
  using std::string_view_literals::operator""sv;
  Eval("redis.call('SET', KEYS[1], ARGV[1], 7, 0.5)", {"k\0y"sv}, {"\xff\r\n"});
  EXPECT_EQ(host_.calls, (std::vector<std::vector<std::string>>{
                             {"SET", std::string("k\0y"sv), "\xff\r\n", "7", "0.5"}}));
}

TEST_F(InterpreterTest, ShowsNothingOfTheProcess) {
  Interpreter other(compatibility_);
  for (const std::string_view body :
       {"return {tostring({}), tostring(tostring), tostring(redis.call), "
        "tostring(coroutine.create(function() end))}",
        "local t, order = {}, {} for i = 1, 100 do t[{}] = i end "
        "for _, i in pairs(t) do order[#order + 1] = i end return order",
        "local t, order = {}, {} for i = 1, 100 do t[function() return i end] = i end "
        "t[redis.call] = 0 for _, i in pairs(t) do order[#order + 1] = i end return order"}) {
    ASSERT_FALSE(other.Compile(body, body).has_value());
    ASSERT_FALSE(interpreter_.Compile(body, body).has_value());
    EXPECT_EQ(interpreter_.Run(body, {}, {}, host_).reply, other.Run(body, {}, {}, host_).reply)
        << body;
  }
  EXPECT_EQ(Eval("return tostring(setmetatable({}, {__tostring = function() return 'own' end}))"),
            Reply::Bulk("own"));
  EXPECT_EQ(
      Eval("return {tostring(nil), tostring(true), tostring(12), tostring('x')}"),
      Reply::Array({Reply::Bulk("nil"), Reply::Bulk("true"), Reply::Bulk("12"), Reply::Bulk("x")}));
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

TEST_F(InterpreterTest, ContinuesAfterAnErrorInAPcall) {
  host_.reply = Reply::Error("ERR no");
  EXPECT_EQ(Eval("redis.pcall('A') redis.pcall('B') return 1"), Reply::Integer(1));
  EXPECT_EQ(host_.calls.size(), 2u);
}

TEST_F(InterpreterTest, KeepsNothingOfAScriptForTheNext) {
  EXPECT_TRUE(Eval("leftover = 1").is_error());
  EXPECT_TRUE(Eval("string.leftover = 1").is_error());
  EXPECT_TRUE(Eval("rawset(_G, 'leftover', 1)").is_error());
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

// Each is one attempt to change what other users' scripts see.
TEST_F(InterpreterTest, KeepsProtectedTablesFromRawFunctions) {
  const std::string_view evil = "local function evil() return 'evil' end ";
  for (const std::string_view attempt :
       {"rawset(redis, 'call', evil)", "rawset(_G, 'tostring', evil)",
        "rawset(getmetatable(_G), '__index', evil)", "setmetatable(redis, {__index = evil})",
        "setmetatable(_G, nil)", "getmetatable(_G).__index = evil",
        "getmetatable('').__index = {upper = evil}",
        "rawset(getmetatable('').__index, 'upper', evil)", "table.insert(string, evil)",
        "table.insert(redis, 1, evil)", "string.upper = evil",
        "rawset(getmetatable(''), '__index', {upper = evil})",
        "for _, v in pairs(_G) do if type(v) == 'table' then rawset(v, 'x', 1) end end",
        "table.foreach(_G, function(k, v) if k == '_G' then rawset(v, 'x', 1) end end)"}) {
    const Reply reply = Eval(std::string(evil) + std::string(attempt));
    ASSERT_TRUE(reply.is_error()) << attempt;
    EXPECT_NE(reply.text().find("Attempt to modify a readonly table"), std::string::npos)
        << attempt << ": " << reply.text();
  }
  EXPECT_EQ(Eval("return ('x'):upper() .. tostring(1) .. tostring(rawget(_G, 'x'))"),
            Reply::Bulk("X1nil"));
  host_.reply = Reply::Bulk("genuine");
  EXPECT_EQ(Eval("return redis.call('GET', 'k')"), Reply::Bulk("genuine"));
}

TEST_F(InterpreterTest, TellsTheMetatablesOfProtectedTables) {
  EXPECT_EQ(Eval("return type(getmetatable(_G).__index) .. type(getmetatable(redis))"),
            Reply::Bulk("functionnil"));
  EXPECT_EQ(Eval("return type(rawget(redis, 'call'))"), Reply::Bulk("function"));
  EXPECT_EQ(Eval("local n = 0 table.foreach(bit, function() n = n + 1 end) return n > 5"),
            Reply::Integer(1));
}

TEST_F(InterpreterTest, CompilesNoBytecodeThroughAnyDoor) {
  const std::string dump = "string.dump(function() return 1 end)";
  for (const std::string& load : std::vector<std::string>{
           "loadstring(" + dump + ", '=x')", "loadstring('\\27', '=x')",
           "load(coroutine.wrap(function() coroutine.yield(" + dump + ") end), '=x')",
           "load(coroutine.wrap(function() coroutine.yield('\\27') end), '=x')",
           "loadstring(cjson.decode('[\"\\\\u001bLua\"]')[1], '=x')"}) {
    EXPECT_EQ(
        Eval("local f, e = " + load + " return {tostring(f), e}"),
        Reply::Array({Reply::Bulk("nil"), Reply::Bulk("x:1: unexpected symbol near 'char(27)'")}))
        << load;
  }
  EXPECT_EQ(Eval("\x1bLuaQ"),
            Reply::Error("ERR Error compiling script (new function): user_script:1: unexpected "
                         "symbol near 'char(27)'"));
}

// Lua's counter of lines overflows at twice as many. The process ended then.
TEST_F(InterpreterTest, CompilesNoTextOfMoreLinesThanLuaCounts) {
  EXPECT_EQ(Eval("local s = string.rep('\\n', 2^26) "
                 "local f, e = load(function() return s end) return {tostring(f), e}"),
            Reply::Array({Reply::Bulk("nil"), Reply::Bulk("chunk has too many lines")}));
  EXPECT_EQ(Eval("return 1"), Reply::Integer(1));
}

TEST_F(InterpreterTest, SurvivesSizesThatOverflow) {
  for (const std::string_view arguments :
       {"0, 2147483647", "-2147483648, 2147483647", "1, 2147483647", "-2147483648, -1",
        "-2147483647, 2147483647", "-1, 2147483646", "2, 2147483647"}) {
    const Reply reply = Eval("return unpack({}, " + std::string(arguments) + ")");
    ASSERT_TRUE(reply.is_error()) << arguments;
    EXPECT_NE(reply.text().find("too many results to unpack"), std::string::npos) << arguments;
  }
  EXPECT_TRUE(Eval("return unpack({}, 2147483647, 2147483647)").is_nil());
  EXPECT_EQ(Eval("return {unpack({1, 2, 3}, 2)}"),
            Reply::Array({Reply::Integer(2), Reply::Integer(3)}));
  EXPECT_EQ(Eval("return bit.tohex(1, -2147483648)"), Reply::Bulk("00000001"));
  EXPECT_EQ(Eval("return bit.tohex(171, 2147483648)"), Reply::Bulk("000000AB"));
}

// The matcher needs the C stack for each repetition; redis-server ends.
TEST_F(InterpreterTest, RefusesPatternsWithTooManyRepetitions) {
  for (const std::string_view call :
       {"string.find(long, ('x?'):rep(200000))", "string.match(long, ('x-'):rep(200000) .. 'y')",
        "string.gsub(long, ('x*'):rep(200000), '')", "string.gmatch(long, ('x+'):rep(200000))()"}) {
    const Reply reply = Eval("local long = ('x'):rep(200000) return " + std::string(call));
    ASSERT_TRUE(reply.is_error()) << call;
    EXPECT_NE(reply.text().find("pattern too complex"), std::string::npos) << reply.text();
  }
  EXPECT_EQ(Eval("return string.find(('x?'):rep(3000), ('x?'):rep(2500), 1, true)"),
            Reply::Integer(1));
  EXPECT_EQ(Eval("return #string.match(('x'):rep(1500), ('x?'):rep(1500))"), Reply::Integer(1500));
}

TEST_F(InterpreterTest, SurvivesErrorsOfEveryKind) {
  EXPECT_TRUE(Eval("error(setmetatable({}, {__index = function() error('x') end}))").is_error());
  EXPECT_TRUE(Eval("error(setmetatable({}, {__newindex = function() error('x') end}))").is_error());
  EXPECT_TRUE(Eval("local t = {} setmetatable(t, {__newindex = function() error(t) end}) error(t)")
                  .is_error());
  EXPECT_EQ(Eval("error(print_nothing or {})").text().substr(0, 3), "ERR");
  EXPECT_EQ(Eval("error(function() end)").text().substr(0, 12), "ERR function");
  EXPECT_EQ(Eval("return 1"), Reply::Integer(1));
}

TEST_F(InterpreterTest, RefusesMoreMemoryThanItsCeiling) {
  const Reply reply = Eval("local s = string.rep('x', 1024) while true do s = s .. s end");
  EXPECT_EQ(reply, Reply::Error("ERR not enough memory for the script"));
  EXPECT_EQ(Eval("return 1"), Reply::Integer(1));
}

// cjson ends the process when its buffer's int overflows.
TEST_F(InterpreterTest, EncodesNoTextThatIsTooLongForJson) {
  EXPECT_TRUE(Eval("local s, t = string.rep('\\1', 2^20), {} for i = 1, 4096 do t[i] = s end "
                   "return #cjson.encode(t)")
                  .is_error());
  EXPECT_TRUE(Eval("cjson.encode_sparse_array(true, 0, 0) return #cjson.encode({[2000000000] = 1})")
                  .is_error());
  EXPECT_EQ(Eval("return cjson.encode({1, 'x', {a = true}})"),
            Reply::Bulk("[1,\"x\",{\"a\":true}]"));
  EXPECT_TRUE(Eval("return cjson.encode(redis)").is_error());
}

// Each library of cjson.new has settings of its own.
TEST_F(InterpreterTest, GuardsTheLibrariesOfCjsonNewToo) {
  for (const std::string_view library : {"cjson.new()", "cjson.new().new()"}) {
    const Reply reply =
        Eval("local s, t = string.rep('\\1', 2^20), {} for i = 1, 4096 do t[i] = s end return #" +
             std::string(library) + ".encode(t)");
    ASSERT_TRUE(reply.is_error()) << library;
    EXPECT_NE(reply.text().find("the text would be too long"), std::string::npos) << reply.text();
    EXPECT_EQ(Eval("return " + std::string(library) + ".encode({1, 'x'})"),
              Reply::Bulk("[1,\"x\"]"));
  }
  // As long a text, below the depth that is usual.
  EXPECT_TRUE(Eval("local s, t = string.rep('\\1', 2^20), {} for i = 1, 4096 do t[i] = s end "
                   "for i = 1, 7000 do t = {t} end local c = cjson.new() c.encode_max_depth(9000) "
                   "return #c.encode(t)")
                  .is_error());
}

// A walk that does not end where cjson's does takes 2^1000 steps.
TEST_F(InterpreterTest, EncodesNoTableThatContainsItself) {
  for (const std::string_view table :
       {"t[1] = t t[2] = t", "t.a = t t.b = t", "t[1] = t t[2] = {t, t}",
        "cjson.encode_sparse_array(true, 1, 1) t[100] = t t[200] = t"}) {
    const Reply reply = Eval("local t = {} " + std::string(table) + " return cjson.encode(t)");
    ASSERT_TRUE(reply.is_error()) << table;
    EXPECT_NE(reply.text().find("Cannot serialise, excessive nesting (1001)"), std::string::npos)
        << reply.text();
  }
  EXPECT_TRUE(
      Eval("local s = string.rep('\\1', 2^20) local t = {s} t[2] = t return cjson.encode(t)")
          .is_error());
}

TEST_F(InterpreterTest, PassesAsManyWordsAsTheStackHolds) {
  EXPECT_EQ(Eval("local t = {} for i = 1, 7999 do t[i] = 'x' end return redis.call(unpack(t))"),
            Reply::Status("OK"));
  ASSERT_EQ(host_.calls.size(), 1u);
  EXPECT_EQ(host_.calls[0].size(), 7999u);
  host_.reply = Reply::Error("ERR no");
  EXPECT_EQ(Eval("local t = {} for i = 1, 7999 do t[i] = i end return redis.pcall(unpack(t))"),
            Reply::Error("ERR no"));
}

TEST_F(InterpreterTest, ReturnsBigNumbersAndVerbatimStrings) {
  EXPECT_EQ(Eval("return {big_number = '12\\r3'}"), Reply::BigNumber("12 3"));
  EXPECT_EQ(Eval("return {verbatim_string = {format = 'txt', string = 'hello'}}"),
            Reply::Verbatim("hello"));
  EXPECT_EQ(Eval("return {verbatim_string = {string = 'hello'}}"), Reply::EmptyArray());
  host_.reply = Reply::Verbatim("text");
  EXPECT_EQ(Eval("redis.setresp(3) local v = redis.call('INFO').verbatim_string "
                 "return v.format .. v.string"),
            Reply::Bulk("txttext"));
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
  Interpreter other(compatibility_);
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

// The handler of xpcall runs in the hook that raises the error, where no other hook is called.
TEST_F(InterpreterTest, StopsAHandlerOfErrorsThatRunsTooLong) {
  for (const std::string_view body :
       {"local function endless() while true do end end return {xpcall(endless, endless)}",
        "return {xpcall(error, function() while true do pcall(tonumber, 1) end end)}",
        "return {xpcall(function() while true do redis.call('A') end end, "
        "function() while true do end end)}"}) {
    ASSERT_FALSE(interpreter_.Compile(body, body).has_value());
    EXPECT_TRUE(interpreter_.Run(body, {}, {}, host_, 3).overran) << body;
    EXPECT_EQ(Eval("return 1"), Reply::Integer(1));
  }
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

TEST_F(InterpreterTest, WeighsCommandsAndBytes) {
  for (const std::string_view body :
       {"while true do redis.call('PING') end", "while true do redis.pcall('PING') end",
        "while true do pcall(redis.call, 'PING') end",
        "while true do local s = string.rep('x', 1000000) end",
        "local s = string.rep('x', 1000000) while true do redis.call('SET', 'k', s) end"}) {
    host_.calls.clear();
    ASSERT_FALSE(interpreter_.Compile(body, body).has_value());
    EXPECT_TRUE(interpreter_.Run(body, {}, {}, host_, 10).overran) << body;
    // 10 ms of a Redis are about 10,000 commands.
    EXPECT_LT(host_.calls.size(), 20'000u) << body;
  }
}

// Each turn of the loop takes few instructions, but milliseconds.
TEST_F(InterpreterTest, WeighsFunctionsThatTakeLong) {
  for (const std::string_view body :
       {"local t = {} for i = 1, 3000 do t[i] = i % 7 end "
        "while true do redis.call('A') table.sort(t) end",
        "local s = string.rep(' ', 1000000) while true do redis.call('A') loadstring(s) end",
        "local s = string.rep(' ', 1000000) "
        "load(function() redis.call('A') return s end) while true do end",
        "local s = string.rep('x', 1000000) while true do redis.call('A') redis.sha1hex(s) end",
        "local s = string.rep('x', 1000000) while true do redis.call('A') string.find(s, 'y+') end",
        "local t = {} for i = 1, 50000 do t[i] = i end "
        "while true do redis.call('A') table.insert(t, 1, 0) table.remove(t, 1) end",
        "local t = {} for i = 1, 50000 do t[i] = i end while true do redis.call('A') table.maxn(t) "
        "end",
        "local t = {} for i = 1, 50000 do t[i] = {} end while true do redis.call('A') "
        "collectgarbage() end"}) {
    host_.calls.clear();
    ASSERT_FALSE(interpreter_.Compile(body, body).has_value());
    EXPECT_TRUE(interpreter_.Run(body, {}, {}, host_, 10).overran) << body;
    EXPECT_LT(host_.calls.size(), 100u) << body;
  }
}

TEST_F(InterpreterTest, LetsRealTimeDecideIfTheHostMeasuresIt) {
  const std::string_view body = "for i = 1, 500000 do local x = i end return 1";
  ASSERT_FALSE(interpreter_.Compile("loop", body).has_value());
  host_.run_ms = 2;
  EXPECT_FALSE(interpreter_.Run("loop", {}, {}, host_, 3).overran);
  host_.run_ms = 3;
  EXPECT_TRUE(interpreter_.Run("loop", {}, {}, host_, 3).overran);
}

// Functions of libraries may take so long that only few instructions are between two looks.
TEST_F(InterpreterTest, LooksAtRealTimeAfterFewInstructions) {
  const std::string_view body = "for i = 1, 3000 do local x = i end return 1";
  ASSERT_FALSE(interpreter_.Compile("short", body).has_value());
  host_.run_ms = 3;
  EXPECT_TRUE(interpreter_.Run("short", {}, {}, host_, 3).overran);
}

TEST_F(InterpreterTest, SurvivesEndlessRecursion) {
  const Reply reply = Eval("local function f() return 1 + f() end return f()");
  ASSERT_TRUE(reply.is_error());
  EXPECT_NE(reply.text().find("stack overflow"), std::string::npos);
  EXPECT_EQ(Eval("return 1"), Reply::Integer(1));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
