// The files of server_cases, on a real server: it returns the replies in the file. They are about
// what an engine alone does not have, its files. The server is redis-server, or, in tests/serve,
// `redouble serve`.
#include <string>

#include "gtest/gtest.h"
#include "redouble/tests/conformance/case_files.h"
#include "redouble/tests/conformance/script.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

TEST(ServerConformance, OfARealServer) {
  for (const std::string& path : CaseFiles("server_cases")) {
    // A new server, which has saved nothing.
    ServerTarget server({"enable-debug-command yes"});
    const Script expected = ParseScript(ReadFile(path).value()).value();
    const Script answered = RunScript(expected, server);
    for (size_t i = 0; i < expected.steps.size(); ++i) {
      const Step& step = expected.steps[i];
      EXPECT_EQ(answered.steps[i].expected, step.expected)
          << path << ":" << step.line << ": " << step.source;
    }
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
