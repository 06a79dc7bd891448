// The files of cluster_cases, on the engine as the only node of a cluster and on a real node: both
// return the replies in the file.
#include <string>

#include "gtest/gtest.h"
#include "redouble/tests/conformance/case_files.h"
#include "redouble/tests/conformance/cluster_server.h"
#include "redouble/tests/conformance/script.h"
#include "redouble/tests/support/target/memory_target.h"

namespace redouble::inline v0_1::tests {
namespace {

void ExpectReplies(Target& target) {
  for (const std::string& path : CaseFiles("cluster_cases")) {
    const Script expected = ParseScript(ReadFile(path).value()).value();
    const Script answered = RunScript(expected, target);
    for (size_t i = 0; i < expected.steps.size(); ++i) {
      const Step& step = expected.steps[i];
      EXPECT_EQ(answered.steps[i].expected, step.expected)
          << path << ":" << step.line << ": " << step.source << "\n  on the " << target.name();
    }
  }
}

TEST(ClusterConformance, OfTheMemoryEngine) {
  MemoryTarget target(ClusterEngineOptions());
  ExpectReplies(target);
}

TEST(ClusterConformance, OfARealServer) {
  ClusterServer server;
  ExpectReplies(server.target());
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
