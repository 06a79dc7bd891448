#include "redouble/tests/docs/key_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "redouble/sim/cli/support/systems.h"

namespace redouble::inline v0_1::tests {
namespace {

using ::testing::HasSubstr;

std::string ReadPage(const std::string& system) {
  std::ifstream file("docs/systems/" + system + ".md", std::ios::binary);
  std::ostringstream page;
  page << file.rdbuf();
  return page.str();
}

TEST(KeyTables, AreInThePageOfEachSystem) {
  for (const auto& [system, operations] : sim::AllSystems()) {
    const std::string page = ReadPage(std::string(system));
    EXPECT_THAT(page,
                HasSubstr("<!-- generated: keys " + std::string(system) + " -->\n\n| pattern"));
    EXPECT_EQ(page, WithKeyTable(page, system)) << "run: bazel run //tests/docs:write_pages";
  }
}

TEST(KeyTables, ReplaceOnlyWhatIsBetweenTheMarkers) {
  const std::string page =
      "before\n<!-- generated: keys gateway -->\nstale\n<!-- end -->\nafter <!-- end -->\n";
  const std::string written = WithKeyTable(page, "gateway");
  EXPECT_THAT(written, HasSubstr("before\n<!-- generated: keys gateway -->\n\n| pattern |"));
  EXPECT_THAT(written, HasSubstr("| `rl:req:{key_id:uuid}:{minute:d12}` | string |"));
  EXPECT_THAT(written, HasSubstr("|\n\n<!-- end -->\nafter <!-- end -->\n"));
  EXPECT_EQ(written.find("stale"), std::string::npos);
}

TEST(KeyTables, HaveBothLayoutsSideBySide) {
  const std::string written =
      WithKeyTable("<!-- generated: layouts orchestrator -->\n<!-- end -->\n", "orchestrator");
  EXPECT_THAT(written, HasSubstr("| orchestrator.ir | `ir:{run_id:id}` | `ir:{{{run_id:id}}}` |"));
  EXPECT_THAT(written, HasSubstr("| orchestrator.tasks | `wf.tasks.{type}` | the same |"));
}

TEST(KeyTables, LeaveAPageWithoutMarkersAlone) {
  EXPECT_EQ(WithKeyTable("text", "gateway"), "text");
  EXPECT_EQ(WithKeyTable("<!-- generated: keys gateway -->\n", "gateway"),
            "<!-- generated: keys gateway -->\n");
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
