// The replies of libraries and functions are recorded from a real server
// (tests/conformance/cases/functions.txt). These tests check the interface of the interpreter.
#include "redouble/backends/memory/scripting/function_interpreter.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::memory {
namespace {

using store::Reply;

class NoHost final : public ScriptHost {
 public:
  Reply CallCommand(std::span<const std::string_view>) override { return Reply::Ok(); }
  bool MayRun(std::span<const std::string_view>) const override { return true; }
  Recognized Recognize(std::span<const std::string_view>) const override {
    return Recognized::kYes;
  }
};

class FunctionInterpreterTest : public testing::Test {
 protected:
  std::optional<std::string> Load(std::string_view code) {
    return interpreter_.Load(code, functions_);
  }
  ScriptResult Run(size_t index, int64_t limit_ms = 0) {
    const std::vector<std::string_view> keys = {"k"};
    const std::vector<std::string_view> arguments = {"a", "b"};
    return interpreter_.Run(functions_[index].reference, functions_[index].name, keys, arguments,
                            host_, limit_ms);
  }

  const Compatibility compatibility_{store::Version::kRedis70};
  FunctionInterpreter interpreter_{compatibility_};
  std::vector<RegisteredFunction> functions_;
  NoHost host_;
};

TEST_F(FunctionInterpreterTest, ReturnsTheRegisteredFunctions) {
  ASSERT_EQ(Load("redis.register_function('f', function() end)\n"
                 "redis.register_function{function_name='g', callback=function() end, "
                 "description='d', flags={'no-writes', 'allow-oom'}}"),
            std::nullopt);
  ASSERT_EQ(functions_.size(), 2u);
  EXPECT_EQ(functions_[0].name, "f");
  EXPECT_EQ(functions_[0].description, std::nullopt);
  EXPECT_TRUE(functions_[0].flags.declared);
  EXPECT_FALSE(functions_[0].flags.no_writes);
  EXPECT_EQ(functions_[1].description, "d");
  EXPECT_TRUE(functions_[1].flags.no_writes);
  EXPECT_TRUE(functions_[1].flags.allow_oom);
  EXPECT_FALSE(functions_[1].flags.no_cluster);
}

TEST_F(FunctionInterpreterTest, RefusesBytecodeAndKeepsLibrariesApart) {
  EXPECT_EQ(Load("\x1bLuaQ"),
            "Error compiling function: user_function:1: unexpected symbol near 'char(27)'");
  ASSERT_EQ(Load("redis.register_function('f', function() rawset(redis, 'call', 1) end)"),
            std::nullopt);
  const Reply reply = Run(0).reply;
  ASSERT_TRUE(reply.is_error());
  EXPECT_NE(reply.text().find("Attempt to modify a readonly table"), std::string::npos);
}

TEST_F(FunctionInterpreterTest, HandsOverKeysAndArguments) {
  ASSERT_EQ(Load("redis.register_function('f', function(k, a) return {#k, k[1], #a, a[2]} end)"),
            std::nullopt);
  EXPECT_EQ(Run(0).reply, Reply::Array({Reply::Integer(1), Reply::Bulk("k"), Reply::Integer(2),
                                        Reply::Bulk("b")}));
}

TEST_F(FunctionInterpreterTest, RegistersNothingOfALibraryThatFails) {
  EXPECT_NE(Load("redis.register_function('f', function() end) redis.nonsense()"), std::nullopt);
  EXPECT_TRUE(functions_.empty());
  EXPECT_NE(Load("nonsense("), std::nullopt);
}

TEST_F(FunctionInterpreterTest, GivesUpALibraryThatDoesNotEnd) {
  EXPECT_EQ(Load("while true do end"), "Error registering functions: ERR FUNCTION LOAD timeout");
  EXPECT_EQ(Load("redis.register_function('f', function() return 1 end)"), std::nullopt);
  EXPECT_EQ(Run(0).reply, Reply::Integer(1));
}

TEST_F(FunctionInterpreterTest, StopsAFunctionThatRunsTooLong) {
  ASSERT_EQ(Load("redis.register_function('f', function() while true do end end)"), std::nullopt);
  const ScriptResult result = Run(0, 1);
  EXPECT_TRUE(result.overran);
  EXPECT_TRUE(result.reply.is_error());
}

TEST_F(FunctionInterpreterTest, KeepsWhatALibraryKeepsBetweenCalls) {
  ASSERT_EQ(Load("local n = 0 redis.register_function('f', function() n = n + 1 return n end)"),
            std::nullopt);
  EXPECT_EQ(Run(0).reply, Reply::Integer(1));
  EXPECT_EQ(Run(0).reply, Reply::Integer(2));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
