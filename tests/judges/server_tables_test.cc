// The engine tells the same COMMAND, COMMAND DOCS and CONFIG GET * as a server of its version, but
// for the rows of named_differences.inc: nothing can be forgotten.
#include "redouble/tests/judges/server_tables.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/core/store/table/version.h"
#include "redouble/tests/judges/judges.h"
#include "redouble/tests/judges/named_differences.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using ::testing::IsEmpty;
using ::testing::ValuesIn;

class ServerTablesOf : public testing::TestWithParam<std::string> {};

TEST_P(ServerTablesOf, AreTheJudges) {
  const std::optional<std::string> program = ServerProgram(GetParam());
  if (!program.has_value()) GTEST_SKIP() << GetParam() << " is not there: run tools/judges";
  const store::Version version = store::VersionNamed(GetParam()).value();
  memory::EngineOptions options;
  options.compatibility = version;
  MemoryTarget engine(options, /*resp3=*/true);
  ServerTarget judge({"enable-debug-command yes"}, /*resp3=*/true, *program);
  const auto differences = DifferencesBetween(TablesOf(judge), TablesOf(engine));
  const std::set<std::string> named = NamedFacts(version, FactKind::kTable);
  for (const auto& [fact, values] : differences) {
    EXPECT_TRUE(named.contains(fact))
        << "no row names the difference: " << fact << "\n  judge:  " << values.theirs
        << "\n  engine: " << values.ours;
  }
  for (const std::string& fact : named) {
    EXPECT_TRUE(differences.contains(fact)) << "a row names no difference: " << fact;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ServerTablesOf, ValuesIn(ServerNames()),
                         [](const auto& info) { return TestName(info.param); });

TEST(NamedDifferences, NameAFactOnceInAVersion) {
  for (const store::VersionSpec& version : store::AllVersions()) {
    std::set<std::string> facts;
    for (const NamedDifference& row : NamedDifferences()) {
      if (!row.versions.Has(version.id)) continue;
      EXPECT_FALSE(row.why.empty()) << row.facts;
      for (const std::string& fact : FactsOf(row)) {
        EXPECT_TRUE(facts.insert(fact).second) << fact << " in " << version.name;
      }
    }
  }
}

TEST(DifferencesBetween, TellsWhatDiffersAndWhatIsMissing) {
  const auto differences =
      DifferencesBetween({{"command a", "there"},
                          {"command a arity", "1"},
                          {"docs a summary", "x"},
                          {"command b", "there"},
                          {"command b arity", "2"},
                          {"parameter p", "1"}},
                         {{"command b", "there"}, {"command b arity", "3"}, {"parameter q", "1"}});
  std::vector<std::string> facts;
  for (const auto& [fact, values] : differences) {
    facts.push_back(fact + ": " + values.theirs + ", " + values.ours);
  }
  EXPECT_THAT(facts,
              testing::ElementsAre("command a: there, (missing)", "command b arity: 2, 3",
                                   "parameter p: 1, (missing)", "parameter q: (missing), 1"));
  EXPECT_THAT(DifferencesBetween({{"parameter p", "1"}}, {{"parameter p", "1"}}), IsEmpty());
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
