#include "redouble/backends/memory/scripting/shebang.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace redouble::memory {
namespace {

TEST(Shebang, LeavesAScriptWithoutOneAsItIs) {
  const Shebang shebang = ReadShebang("return 1");
  EXPECT_FALSE(shebang.error.has_value());
  EXPECT_FALSE(shebang.flags.declared);
  EXPECT_EQ(shebang.code, "return 1");
}

TEST(Shebang, KeepsTheLineEndSoThatLineNumbersStay) {
  const Shebang shebang = ReadShebang("#!lua\nreturn 1");
  EXPECT_FALSE(shebang.error.has_value());
  EXPECT_TRUE(shebang.flags.declared);
  EXPECT_FALSE(shebang.flags.no_writes);
  EXPECT_EQ(shebang.code, "\nreturn 1");
}

TEST(Shebang, ReadsEveryFlagThatRedisKnows) {
  const Shebang shebang = ReadShebang(
      "#!lua flags=no-writes,allow-oom flags=allow-stale,no-cluster,allow-cross-slot-keys\n");
  EXPECT_FALSE(shebang.error.has_value());
  EXPECT_TRUE(shebang.flags.no_writes);
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
       }) {
    const Shebang shebang = ReadShebang(row.body);
    ASSERT_TRUE(shebang.error.has_value()) << row.body;
    EXPECT_EQ(*shebang.error, store::Reply::Error(row.error)) << row.body;
  }
}

}  // namespace
}  // namespace redouble::memory
