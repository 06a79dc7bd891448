// Every conformance file once more, with connections that speak RESP3 (HELLO 3): what a client
// would read from the engine is what it reads from a real redis-server, shapes included.
#include <string>

#include "gtest/gtest.h"
#include "tests/conformance/case_files.h"
#include "tests/conformance/script.h"
#include "tests/support/memory_target.h"
#include "tests/support/resp3_reader.h"
#include "tests/support/server_target.h"

namespace redouble::tests {
namespace {

class Resp3 : public testing::TestWithParam<std::string> {};

TEST_P(Resp3, IsWhatARealServerSends) {
  // When a server notices a busy script is a matter of its turns (conformance_test.cc).
  if (GroupOf(GetParam()) == "busy") GTEST_SKIP() << "depends on a server's wall clock";
  const Script script = ParseScript(ReadFile(GetParam()).value()).value();
  MemoryTarget memory({}, /*resp3=*/true);
  ServerTarget server({"enable-debug-command yes"}, /*resp3=*/true);
  const Script got = Answer(script, memory, ShapedText);
  const Script wanted = Answer(script, server, ShapedText);
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
}  // namespace redouble::tests
