// docs/compatibility.md has the tables that the engine and `redouble serve` give, every difference
// has a reason, and nothing of a redis-server 7.0.15 is left out.
#include "redouble/tests/docs/compatibility.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Page() {
  std::ifstream file("docs/compatibility.md", std::ios::binary);
  std::ostringstream page;
  page << file.rdbuf();
  return page.str();
}

TEST(Compatibility, IsWhatThePageSays) {
  const std::string page = Page();
  EXPECT_EQ(page, WithCompatibilityTables(page)) << "run: bazel run //tests/docs:write_pages";
  EXPECT_THAT(page, HasSubstr("| `maxmemory` | GET, SET | done |  |\n"));
  EXPECT_THAT(page, HasSubstr("| `SYNC` | refused: `ERR "));
  EXPECT_THAT(page, HasSubstr("| `SEGFAULT` | refused | "));
}

TEST(Compatibility, HasAReasonForEveryDifferenceAndNoOther) {
  EXPECT_THAT(IncompleteReasons(), IsEmpty());
}

class BesideAServer : public testing::Test {
 protected:
  ServerTarget server_{{"enable-debug-command yes"}};
};

TEST_F(BesideAServer, HasEveryParameter) {
  const Words command = {"CONFIG", "GET", "*"};
  std::vector<std::string> names;
  const store::Reply pairs = server_.RunAll(0, std::span(&command, 1))[0];
  for (size_t i = 0; i < pairs.elements().size(); i += 2) {
    names.push_back(pairs.elements()[i].text());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, ParametersOfRedis());
}

TEST_F(BesideAServer, HasEveryDebugSubcommand) {
  EXPECT_EQ(DebugSubcommandsOf(server_), DebugSubcommandsOfRedis());
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
