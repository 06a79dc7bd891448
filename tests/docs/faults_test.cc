#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "redouble/sim/fault/fault_page.h"

namespace redouble::inline v0_1::tests {
namespace {

TEST(Faults, AreThoseOfTheDocumentation) {
  std::ifstream file("docs/faults.md", std::ios::binary);
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), sim::FaultsPage()) << "run: bazel run //tests/docs:write_pages";
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
