#include "redouble/tests/docs/supported_commands.h"

#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::tests {
namespace {

TEST(SupportedCommands, AreWhatTheDocumentationLists) {
  std::ifstream file("docs/commands.md", std::ios::binary);
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), SupportedCommandsPage()) << "run: bazel run //tests/docs:write_pages";
}

TEST(SupportedCommands, HaveARowPerCommandInItsGroup) {
  const std::string page = SupportedCommandsPage();
  EXPECT_NE(page.find("## stream\n"), std::string::npos);
  EXPECT_NE(page.find("| GET | 1.0.0 | Get the value of a key |\n"), std::string::npos);
  EXPECT_NE(page.find("| XGROUP CREATE | 5.0.0 | Create a consumer group |\n"), std::string::npos);
  EXPECT_EQ(page.find("| XGROUP |"), std::string::npos) << "only its subcommands are commands";
  EXPECT_NE(page.find("| COMMAND | "), std::string::npos) << "a command of its own";
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
