// Every conformance file, on the memory engine and on a real redis-server: both answer what the
// file says.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/store/command_table.h"
#include "gtest/gtest.h"
#include "tests/conformance/case_files.h"
#include "tests/conformance/script.h"
#include "tests/support/memory_target.h"
#include "tests/support/server_target.h"

namespace redouble::tests {
namespace {

using store::CommandId;

Script Load(const std::string& path) { return ParseScript(ReadFile(path).value()).value(); }

// Fails with each step that was answered otherwise than the file says.
void ExpectAnswers(const std::string& path, Target& target) {
  const Script expected = Load(path);
  const Script answered = Answer(expected, target);
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
  ExpectAnswers(GetParam(), target);
}

// When a server notices what is recorded there, and ends a killed script, is a matter of its turns.
constexpr std::string_view kRecordedOnly = "busy";

TEST_P(Conformance, OfARealServer) {
  if (GroupOf(GetParam()) == kRecordedOnly) GTEST_SKIP() << "depends on a server's wall clock";
  ServerTarget target({"enable-debug-command yes"});
  ExpectAnswers(GetParam(), target);
}

INSTANTIATE_TEST_SUITE_P(Files, Conformance, testing::ValuesIn(CaseFiles()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return GroupOf(info.param);
                         });

// The row that a command's words name.
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
    if (store::IsContainer(spec.id)) continue;
    EXPECT_TRUE(covered.contains(spec.id))
        << "no case for " << spec.name << ": add one to tests/conformance/cases";
  }
}

}  // namespace
}  // namespace redouble::tests
