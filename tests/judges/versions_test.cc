// The engine with the compatibility of a judge answers the conformance files as the judge did when
// its replies were recorded, except for the cases in remaining/, each of which
// named_differences.inc explains; and the files of
// tests/conformance/versions without exception. No judge is needed.
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "redouble/core/store/table/version.h"
#include "redouble/tests/conformance/case_files.h"
#include "redouble/tests/judges/judges.h"
#include "redouble/tests/judges/named_differences.h"

namespace redouble::inline v0_1::tests {
namespace {

using ::testing::Combine;
using ::testing::ValuesIn;

std::string Recorded(const std::string& folder, const std::string& judge, const std::string& file) {
  return ReadFile("tests/judges/" + folder + "/" + judge + "/" + file + ".txt").value_or("");
}

class RemainingOfAJudge : public testing::TestWithParam<std::string> {};
class Versions : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Versions, AnswerAsTheirJudges) {
  const auto& [name, path] = GetParam();
  const std::string group = GroupOf(path);
  if (!IsJudged(group)) GTEST_SKIP() << "depends on a server's wall clock";
  const Script script = ParseScript(ReadFile(path).value()).value();
  EXPECT_EQ(
      RemainingOf(script, Recorded("differences", name, group), store::VersionNamed(name).value()),
      Recorded("remaining", name, group))
      << "bazel run //tests/judges:record -- --remaining";
}

TEST_P(RemainingOfAJudge, AreCasesThatAreNamedWithTheReason) {
  std::set<std::string> cases;
  for (const std::string& path : CaseFiles()) {
    const std::string remaining = Recorded("remaining", GetParam(), GroupOf(path));
    for (const absl::string_view line : absl::StrSplit(remaining, '\n')) {
      if (absl::StartsWith(line, "@case ")) cases.emplace(line.substr(1));
    }
  }
  EXPECT_EQ(cases, NamedFacts(store::VersionNamed(GetParam()).value(), FactKind::kCase));
}

INSTANTIATE_TEST_SUITE_P(All, RemainingOfAJudge, ValuesIn(JudgeNames()),
                         [](const auto& info) { return TestName(info.param); });

// The judge and the file.
std::vector<std::tuple<std::string, std::string>> VersionCases() {
  std::vector<std::tuple<std::string, std::string>> cases;
  for (const std::string& judge : JudgeNames()) {
    for (const std::string& path : CaseFiles("versions/" + judge)) cases.emplace_back(judge, path);
  }
  return cases;
}

class VersionCase : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(VersionCase, IsAnsweredAsTheJudgeDid) {
  const auto& [name, path] = GetParam();
  const std::string text = ReadFile(path).value();
  EXPECT_EQ(AnswerOfEngine(ParseScript(text).value(), store::VersionNamed(name).value(),
                           IsForCluster(GroupOf(path))),
            text);
}

INSTANTIATE_TEST_SUITE_P(All, VersionCase, ValuesIn(VersionCases()), [](const auto& info) {
  return TestName(std::get<0>(info.param) + "_" + GroupOf(std::get<1>(info.param)));
});

INSTANTIATE_TEST_SUITE_P(All, Versions, Combine(ValuesIn(JudgeNames()), ValuesIn(CaseFiles())),
                         [](const auto& info) {
                           return TestName(std::get<0>(info.param) + "_" +
                                           GroupOf(std::get<1>(info.param)));
                         });

}  // namespace
}  // namespace redouble::inline v0_1::tests
