#include "redouble/tests/conformance/script.h"

#include <string>

#include "gtest/gtest.h"
#include "redouble/tests/support/target/memory_target.h"

namespace redouble::inline v0_1::tests {
namespace {

constexpr std::string_view kText =
    "# A note.\n"
    "@case expiry\n"
    "> SET k v PX 1000\n"
    "OK\n"
    "\n"
    "@advance 1001ms\n"
    "@client b\n"
    "> MGET k\n"
    "1) (nil)\n";

TEST(Script, ComesBackAsItsText) { EXPECT_EQ(ScriptText(ParseScript(kText).value()), kText); }

TEST(Script, RunsOnATarget) {
  Script script = ParseScript(kText).value();
  for (Step& step : script.steps) step.expected.clear();
  MemoryTarget target;
  EXPECT_EQ(ScriptText(RunScript(script, target)), kText);
}

TEST(Script, BeginsEachCaseAnew) {
  const Script script = ParseScript(
                            "@case one\n> SELECT 1\nOK\n> SET k v\nOK\n@advance 1h\n"
                            "@case two\n> SELECT 1\n> EXISTS k\n> TIME\n")
                            .value();
  MemoryTarget target;
  const Script answered = RunScript(script, target);
  EXPECT_EQ(answered.steps[6].expected, "(integer) 0");
  EXPECT_EQ(answered.steps[7].expected, "1) \"1778335382\"\n2) \"500000\"");
}

TEST(Script, SortsRepliesWithoutAnOrderInTransactionsToo) {
  const Script script =
      ParseScript("@case keys\n> MSET c 1 a 1 b 1\n> MULTI\n> KEYS *\n> EXEC\n").value();
  MemoryTarget target;
  EXPECT_EQ(RunScript(script, target).steps[4].expected, "1) 1) \"a\"\n   2) \"b\"\n   3) \"c\"");
}

TEST(Script, ReportsTheLineOfWhatItCannotRead) {
  const auto error = [](std::string_view text) {
    return std::string(ParseScript(text).status().message());
  };
  EXPECT_EQ(error("> GET k\n"), "line 1: outside of a @case");
  EXPECT_EQ(error("@case a\n\n@soon\n"), "line 3: unknown directive @soon");
  EXPECT_EQ(error("@case a\n@advance soon\n"), "line 2: no duration: soon");
  EXPECT_EQ(error("@case a\n@advance -1s\n"), "line 2: no duration: -1s");
  EXPECT_EQ(error("@case\n"), "line 1: @case takes an argument");
  EXPECT_EQ(error("@case a\n@receive b\n"), "line 2: @receive takes no argument");
  EXPECT_EQ(error("@case a\n> GET \"k\n"), "line 2: unbalanced quotes in:  GET \"k");
  EXPECT_EQ(error("@case a\n>\n"), "line 2: no command");
  EXPECT_EQ(error("@case a\nOK\n"), "line 2: a reply without a command before it");
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
