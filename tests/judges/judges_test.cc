// Other versions of Redis answer the conformance files as recorded: as redis-server 7.0.15, except
// for the files in differences/. They run under the held clock.
#include "redouble/tests/judges/judges.h"

#include <optional>
#include <string>
#include <tuple>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/tests/conformance/case_files.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using ::testing::Combine;
using ::testing::HasSubstr;
using ::testing::ValuesIn;

std::string Recorded(const std::string& judge, const std::string& file) {
  return ReadFile("tests/judges/differences/" + judge + "/" + file + ".txt").value_or("");
}

class Judges : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    program_ = JudgeProgram(GetParam());
    if (!program_.has_value()) GTEST_SKIP() << GetParam() << " is not there: run tools/judges";
  }

  std::optional<std::string> program_;
};

TEST_P(Judges, HasTheVersionOfItsName) {
  ServerTarget server(JudgeConfig(), /*resp3=*/false, *program_);
  const std::string info = server.Run(0, {"INFO", "server"})->text();
  const std::string product = GetParam().substr(0, GetParam().find('-'));
  EXPECT_THAT(info, HasSubstr(product + "_version:" + GetParam().substr(product.size() + 1) + "."));
}

TEST_P(Judges, FollowsTheHeldClock) {
  ServerTarget server(JudgeConfig(), /*resp3=*/false, *program_);
  server.Reset(kStart);
  EXPECT_EQ(server.Run(0, {"SET", "k", "v", "PX", "1500"})->text(), "OK");
  // At the deadline, active expiry of Redis 8.0 removes the key.
  server.SetTime(kStart + absl::Milliseconds(1499));
  EXPECT_EQ(server.Run(0, {"PTTL", "k"})->integer(), 1);
  server.SetTime(kStart + absl::Milliseconds(1501));
  EXPECT_EQ(server.Run(0, {"EXISTS", "k"})->integer(), 0);
}

TEST_P(Judges, HasTheCommandsAndParametersThatAreRecorded) {
  EXPECT_EQ(InventoryOf(*program_), Recorded(GetParam(), "inventory"));
}

INSTANTIATE_TEST_SUITE_P(All, Judges, ValuesIn(JudgeNames()),
                         [](const auto& info) { return TestName(info.param); });

class JudgesConformance : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(JudgesConformance, IsAsRecorded) {
  const auto& [name, path] = GetParam();
  const std::string group = GroupOf(path);
  if (!IsJudged(group)) GTEST_SKIP() << "depends on a server's wall clock";
  const std::optional<std::string> program = JudgeProgram(name);
  if (!program.has_value()) GTEST_SKIP() << name << " is not there: run tools/judges";
  const Script script = ParseScript(ReadFile(path).value()).value();
  EXPECT_EQ(DifferencesOf(script, *program), Recorded(name, group))
      << "bazel run //tests/judges:record";
}

// The judge and the file.
std::vector<std::tuple<std::string, std::string>> VersionCases() {
  std::vector<std::tuple<std::string, std::string>> cases;
  for (const std::string& judge : JudgeNames()) {
    for (const std::string& path : CaseFiles("versions/" + judge)) cases.emplace_back(judge, path);
  }
  return cases;
}

class JudgesVersionCase : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(JudgesVersionCase, IsAsRecorded) {
  const auto& [name, path] = GetParam();
  const std::optional<std::string> program = JudgeProgram(name);
  if (!program.has_value()) GTEST_SKIP() << name << " is not there: run tools/judges";
  const std::string text = ReadFile(path).value();
  EXPECT_EQ(AnswerOfJudge(ParseScript(text).value(), *program, IsForCluster(GroupOf(path))), text)
      << "bazel run //tests/judges:record -- --versions";
}

INSTANTIATE_TEST_SUITE_P(All, JudgesVersionCase, ValuesIn(VersionCases()), [](const auto& info) {
  return TestName(std::get<0>(info.param) + "_" + GroupOf(std::get<1>(info.param)));
});

INSTANTIATE_TEST_SUITE_P(All, JudgesConformance,
                         Combine(ValuesIn(JudgeNames()), ValuesIn(CaseFiles())),
                         [](const auto& info) {
                           return TestName(std::get<0>(info.param) + "_" +
                                           GroupOf(std::get<1>(info.param)));
                         });

}  // namespace
}  // namespace redouble::inline v0_1::tests
