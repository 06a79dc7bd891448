// Every conformance file, on the memory engine and on a real redis-server: both return the replies
// in the file.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "redouble/core/store/table/command_table.h"
#include "redouble/tests/conformance/case_files.h"
#include "redouble/tests/conformance/script.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

Script Load(const std::string& path) { return ParseScript(ReadFile(path).value()).value(); }

// Fails for each step whose reply differs from the file.
void ExpectReplies(const std::string& path, Target& target) {
  const Script expected = Load(path);
  const Script answered = RunScript(expected, target);
  std::string title;
  for (size_t i = 0; i < expected.steps.size(); ++i) {
    const Step& step = expected.steps[i];
    if (step.kind == Step::Kind::kCase) title = step.argument;
    EXPECT_EQ(answered.steps[i].expected, step.expected)
        << path << ":" << step.line << ": " << step.source << "\n  in \"" << title << "\" on the "
        << target.name();
  }
}

class Conformance : public testing::TestWithParam<std::string> {};

TEST_P(Conformance, OfTheMemoryEngine) {
  MemoryTarget target;
  ExpectReplies(GetParam(), target);
}

// The time at which a server detects a busy script, and ends a killed one, depends on its event
// loop.
constexpr std::string_view kRecordedOnly = "busy";

TEST_P(Conformance, OfARealServer) {
  if (GroupOf(GetParam()) == kRecordedOnly) GTEST_SKIP() << "depends on a server's wall clock";
  ServerTarget target({"enable-debug-command yes"});
  ExpectReplies(GetParam(), target);
}

INSTANTIATE_TEST_SUITE_P(Files, Conformance, testing::ValuesIn(CaseFiles()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return GroupOf(info.param);
                         });

// The command table's row of the command.
CommandId RowOf(const Words& words) {
  const CommandId id = store::FindCommand(words[0]);
  if (!store::IsContainer(id) || words.size() < 2) return id;
  return store::FindSubcommand(id, words[1]);
}

TEST(ConformanceCases, CoverEveryCommandThatTheEngineHas) {
  std::set<CommandId> covered;
  for (const std::string& path : CaseFiles()) {
    for (const Step& step : Load(path).steps) {
      if (step.kind == Step::Kind::kCommand) covered.insert(RowOf(step.words));
    }
  }
  for (const store::CommandSpec& spec : store::AllCommands()) {
    if (!spec.versions.Has(store::Version::kRedis70)) continue;
    if (store::IsContainer(spec.id)) continue;
    EXPECT_TRUE(covered.contains(spec.id))
        << "no case for " << spec.name << ": add one to tests/conformance/cases";
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
