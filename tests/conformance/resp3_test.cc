// Every conformance file again, with connections that use RESP3 (HELLO 3): the bytes from the
// engine decode to the same replies as those from a real redis-server, including their types.
#include <string>

#include "gtest/gtest.h"
#include "redouble/tests/conformance/case_files.h"
#include "redouble/tests/conformance/script.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/resp3_reader.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

class Resp3 : public testing::TestWithParam<std::string> {};

TEST_P(Resp3, IsWhatARealServerSends) {
  // The time at which a server detects a busy script depends on its event loop
  // (conformance_test.cc).
  if (GroupOf(GetParam()) == "busy") GTEST_SKIP() << "depends on a server's wall clock";
  const Script script = ParseScript(ReadFile(GetParam()).value()).value();
  MemoryTarget memory({}, /*resp3=*/true);
  ServerTarget server({"enable-debug-command yes"}, /*resp3=*/true);
  const Script got = RunScript(script, memory, ShapedText);
  const Script wanted = RunScript(script, server, ShapedText);
  for (size_t i = 0; i < script.steps.size(); ++i) {
    EXPECT_EQ(got.steps[i].expected, wanted.steps[i].expected)
        << "line " << script.steps[i].line << ": " << script.steps[i].source;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Resp3, testing::ValuesIn(CaseFiles()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return GroupOf(info.param);
                         });

}  // namespace
}  // namespace redouble::inline v0_1::tests
