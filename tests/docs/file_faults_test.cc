// Goal: after any fault of a save or a rewrite there are whole files with all that was
// acknowledged.
#include "redouble/tests/docs/file_faults.h"

#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::tests {
namespace {

TEST(FileFaults, LoseNothingAndAreWhatThePageSays) {
  std::ifstream file("docs/file_faults.md", std::ios::binary);
  std::ostringstream page;
  page << file.rdbuf();
  const std::string tried = FileFaultsPage();
  EXPECT_EQ(tried.find("| lost"), std::string::npos) << tried;
  EXPECT_EQ(tried.find("| damaged"), std::string::npos) << tried;
  EXPECT_EQ(page.str(), tried) << "run: bazel run //tests/docs:write_pages";
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
