#include "redouble/tests/docs/live_options.h"

#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::tests {
namespace {

TEST(LiveOptions, AreWhatTheDocumentationLists) {
  std::ifstream file("docs/live_options.md", std::ios::binary);
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), LiveOptionsPage()) << "run: bazel run //tests/docs:write_pages";
}

TEST(LiveOptions, HaveARowEach) {
  const std::string page = LiveOptionsPage();
  EXPECT_NE(page.find("| tls_ca_file | "), std::string::npos);
  EXPECT_NE(page.find("| command_timeout | "), std::string::npos);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
