// The files of cluster_cases, on the engine as the only node of a cluster and on a real one: both
// answer what the file says.
#include <string>

#include "gtest/gtest.h"
#include "tests/conformance/case_files.h"
#include "tests/conformance/cluster_server.h"
#include "tests/conformance/script.h"
#include "tests/support/memory_target.h"

namespace redouble::tests {
namespace {

void ExpectAnswers(Target& target) {
  for (const std::string& path : CaseFiles("cluster_cases")) {
    const Script expected = ParseScript(ReadFile(path).value()).value();
    const Script answered = Answer(expected, target);
    for (size_t i = 0; i < expected.steps.size(); ++i) {
      const Step& step = expected.steps[i];
      EXPECT_EQ(answered.steps[i].expected, step.expected)
          << path << ":" << step.line << ": " << step.source << "\n  on the " << target.name();
    }
  }
}

TEST(ClusterConformance, OfTheMemoryEngine) {
  MemoryTarget target(ClusterEngineOptions());
  ExpectAnswers(target);
}

TEST(ClusterConformance, OfARealServer) {
  ClusterServer server;
  ExpectAnswers(server.target());
}

}  // namespace
}  // namespace redouble::tests
