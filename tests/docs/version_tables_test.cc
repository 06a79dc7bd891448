#include "redouble/tests/docs/version_tables.h"

#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace redouble::inline v0_1::tests {
namespace {

using ::testing::HasSubstr;

TEST(VersionTables, AreWhatTheDocumentationHas) {
  std::ifstream file("docs/version_tables.md", std::ios::binary);
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), VersionTablesPage()) << "run: bazel run //tests/docs:write_pages";
}

TEST(VersionTables, HaveTheCommandsAndBehaviorsOfAVersion) {
  const std::string page = VersionTablesPage();
  EXPECT_THAT(page, HasSubstr("## valkey-8.1"));
  EXPECT_THAT(page, HasSubstr("`CLUSTER SLOT-STATS`"));
  EXPECT_THAT(page, HasSubstr("| behavior | SET takes IFEQ |"));
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
