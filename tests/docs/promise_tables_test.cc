#include "redouble/tests/docs/promise_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "redouble/sim/cli/storm/storm_systems.h"

namespace redouble::inline v0_1::tests {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(PromiseTables, AreInThePageOfEachSystem) {
  for (const sim::StormSystem& system : sim::AllStorms()) {
    std::ifstream file(system.Page(), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    const std::string page = text.str();
    EXPECT_THAT(page, HasSubstr("<!-- generated: promises " + system.name + " -->\n\n| promise"));
    EXPECT_EQ(page, WithPromiseTable(page, system)) << "run: bazel run //tests/docs:write_pages";
    for (const sim::Promise& promise : system.promises) {
      for (const sim::StormHazard& hazard : promise.hazards) {
        EXPECT_THAT(page, ContainsRegex("\n### " + hazard.section + " "));
      }
    }
  }
}

TEST(PromiseTables, NameTheHazardsAndTheirOptions) {
  const sim::StormSystem system{
      .name = "shop",
      .promises = {{"each order is sent", {{"R1", "retry"}, {"R2", ""}}}, {"it ends", {}}},
      .roles = {},
      .faults = {}};
  EXPECT_THAT(WithPromiseTable("<!-- generated: promises shop -->\n<!-- end -->\n", system),
              HasSubstr("| each order is sent | R1: `retry`; R2: none |\n| it ends | nothing |\n"));
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
