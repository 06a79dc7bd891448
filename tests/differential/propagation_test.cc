// Goal: the engine propagates exactly what a redis-server writes to its append-only file: the same
// commands in the same order, with the same SELECT, MULTI and EXEC. The programs are the cases of
// the rewrites, every conformance case, and random ones.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "redouble/tests/conformance/case_files.h"
#include "redouble/tests/conformance/script.h"
#include "redouble/tests/differential/effect_stream.h"
#include "redouble/tests/differential/groups.h"
#include "redouble/tests/differential/make_program.h"
#include "redouble/tests/differential/run_program.h"
#include "redouble/tests/differential/shrink.h"

namespace redouble::inline v0_1::tests {
namespace {

constexpr char kRewrites[] = "tests/differential/propagation_cases.txt";

// Files whose effects cannot be compared, with the reason.
struct LeftOut {
  std::string_view file;
  std::string_view why;
};
constexpr LeftOut kLeftOut[] = {
    {"busy", "depends on a server's wall clock"},
    {"lazy_expiry", "turns the expiry cycle of the server on again"},
};

std::string_view ReasonToSkip(std::string_view file) {
  for (const LeftOut& row : kLeftOut) {
    if (row.file == file) return row.why;
  }
  return {};
}

// The cases of a file, each as a script.
std::vector<Script> CasesOf(const std::string& path) {
  std::vector<Script> cases;
  Script script = ParseScript(ReadFile(path).value()).value();
  for (Step& step : script.steps) {
    if (step.kind == Step::Kind::kCase) cases.emplace_back();
    if (!cases.empty()) cases.back().steps.push_back(std::move(step));
  }
  return cases;
}

class PropagationOfCases : public testing::TestWithParam<std::string> {};

TEST_P(PropagationOfCases, IsThatOfRedis) {
  const std::string_view reason = ReasonToSkip(GroupOf(GetParam()));
  if (!reason.empty()) GTEST_SKIP() << std::string(reason);
  EffectStreamPair streams;
  for (const Script& script : CasesOf(GetParam())) {
    const auto run = [&](Target& target) { RunScript(script, target); };
    const std::optional<std::string> difference = streams.Compare(run);
    EXPECT_EQ(difference, std::nullopt) << "\"" << script.steps[0].argument << "\"";
  }
}

std::vector<std::string> AllCaseFiles() {
  std::vector<std::string> paths = CaseFiles();
  paths.emplace_back(kRewrites);
  return paths;
}

INSTANTIATE_TEST_SUITE_P(Files, PropagationOfCases, testing::ValuesIn(AllCaseFiles()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return GroupOf(info.param);
                         });

// RANDOMKEY removes expired keys by chance.
bool RemovesByChance(const ProgramStep& step) {
  return step.kind == ProgramStep::Kind::kCommand &&
         absl::EqualsIgnoreCase(step.words[0], "RANDOMKEY");
}

class PropagationOfPrograms : public testing::TestWithParam<std::string_view> {
 protected:
  std::optional<std::string> Compare(Program& program) {
    return streams_.Compare([&](Target& target) { RunProgram(target, program); });
  }

  EffectStreamPair streams_;
};

TEST_P(PropagationOfPrograms, IsThatOfRedis) {
  for (uint64_t seed = 0; seed < REDOUBLE_PROPAGATION_PROGRAMS; ++seed) {
    Program program = MakeProgram({.group = GetParam(), .seed = seed});
    std::erase_if(program.steps, RemovesByChance);
    if (!Compare(program)) continue;
    program = Shrink(std::move(program),
                     [&](Program candidate) { return Compare(candidate).has_value(); });
    const std::optional<std::string> difference = Compare(program);
    FAIL() << "program " << seed << "\n"
           << ProgramText(program, "A difference found by chance") << "\n"
           << difference.value_or("only sometimes");
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, PropagationOfPrograms, testing::ValuesIn(GroupNames()),
                         [](const testing::TestParamInfo<std::string_view>& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace redouble::inline v0_1::tests
