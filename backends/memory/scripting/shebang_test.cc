#include "redouble/backends/memory/scripting/shebang.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace redouble::inline v0_1::memory {
namespace {

const Compatibility kRedis70(store::Version::kRedis70);

TEST(Shebang, LeavesAScriptWithoutOneAsItIs) {
  const Shebang shebang = ReadShebang("return 1", kRedis70);
  EXPECT_FALSE(shebang.error.has_value());
  EXPECT_FALSE(shebang.flags.declared);
  EXPECT_EQ(shebang.code, "return 1");
}

TEST(Shebang, KeepsTheLineEndSoThatLineNumbersStay) {
  const Shebang shebang = ReadShebang("#!lua\nreturn 1", kRedis70);
  EXPECT_FALSE(shebang.error.has_value());
  EXPECT_TRUE(shebang.flags.declared);
  EXPECT_FALSE(shebang.flags.no_writes);
  EXPECT_EQ(shebang.code, "\nreturn 1");
}

TEST(Shebang, ReadsEveryFlagThatRedisKnows) {
  const Shebang shebang = ReadShebang(
      "#!lua flags=no-writes,allow-oom flags=allow-stale,no-cluster,allow-cross-slot-keys\n",
      kRedis70);
  EXPECT_FALSE(shebang.error.has_value());
  EXPECT_TRUE(shebang.flags.no_writes);
}

TEST(Shebang, SplitsItsLineAsRedisSplitsWords) {
  for (const std::string_view body :
       {"#!lua flags=\"no-writes\"\n", "#!lua 'flags=no-writes'\n", "#!lua\rflags=no-\"writes\"\n",
        "#!\"lua\" flags=\"\\x6eo-writes\"\n"}) {
    const Shebang shebang = ReadShebang(body, kRedis70);
    EXPECT_FALSE(shebang.error.has_value()) << body;
    EXPECT_TRUE(shebang.flags.no_writes) << body;
  }
}

struct BadLine {
  std::string_view body;
  std::string_view error;
};

TEST(Shebang, SaysWhatIsWrong) {
  for (const BadLine& row : {
           BadLine{"#!lua", "ERR Invalid script shebang"},
           BadLine{"#!foo\n", "ERR Unexpected engine in script shebang: #!foo"},
           BadLine{"#!lua name=x\n", "ERR Unknown lua shebang option: name=x"},
           BadLine{"#!lua flags=bad\n", "ERR Unexpected flag in script shebang: bad"},
           BadLine{"#!lua flags=no-writes,bad\n", "ERR Unexpected flag in script shebang: bad"},
           BadLine{"#!lua flags=no-writes,\n", "ERR Unexpected flag in script shebang: "},
           BadLine{"#!lua flags=\"no-writes\n", "ERR Invalid engine in script shebang"},
           BadLine{"#!lua flags=\"no-writes\"x\n", "ERR Invalid engine in script shebang"},
           BadLine{"#!lua \"\"\n", "ERR Unknown lua shebang option: "},
           BadLine{std::string_view("#!lua\0\n", 7), "ERR Invalid script shebang"},
       }) {
    const Shebang shebang = ReadShebang(row.body, kRedis70);
    ASSERT_TRUE(shebang.error.has_value()) << row.body;
    EXPECT_EQ(*shebang.error, store::Reply::Error(row.error)) << row.body;
  }
}

TEST(Shebang, Valkey81NamesTheUnknownEngineAlone) {
  const Compatibility valkey81(store::Version::kValkey81);
  EXPECT_EQ(ReadShebang("#!foo\n", valkey81).error,
            store::Reply::Error("ERR Could not find scripting engine 'foo'"));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
