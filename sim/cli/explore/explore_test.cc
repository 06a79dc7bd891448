#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/cli/program_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ExploreTest : public ProgramTest {
 protected:
  // Writes a world with two requests for the rest of one budget, or, if not `racy`, with one
  // request and no violation.
  void WriteWorld(const std::string& name, bool racy = true) {
    const std::string ask = R"([{"kind": "call", "operation": "check_and_reserve_budget",
        "arguments": {"key_id": "018f8d31-86a7-7c48-8f36-4d1fa4d99101", "request_id": "r",
                      "daily_budget_usd": "0.5", "monthly_budget_usd": null,
                      "estimated_cost_usd": "0.5"}}])";
    Write(name, R"({"name": "the edge", "description": "d", "source": "s", "system": "gateway",
        "start": "2026-05-09T14:03:02Z", "actors": {"a": )" +
                    ask + (racy ? R"(, "b": )" + ask : "") + R"(},
        "invariants": [{"kind": "results", "name": "one", "operation": "check_and_reserve_budget",
                        "where": {"decision": "Allowed"}, "at_most": 1}],
        "probes": [{"kind": "results", "name": "somebody", "operation": "check_and_reserve_budget",
                    "at_least": 1}],
        "hardened": {"check_and_reserve_budget": {"atomic_check_and_reserve": true}}})");
  }

  std::string Read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
};

TEST_F(ExploreTest, PrintsTheCommandThatRepeatsAViolation) {
  WriteWorld("w.world.json");
  EXPECT_EQ(Run({"explore", "w.world.json"}), kExitFailed);
  EXPECT_THAT(out(), StartsWith("FOUND w.world.json  "));
  EXPECT_THAT(out(), HasSubstr("  one: calls of check_and_reserve_budget: 2, at most 1"));
  EXPECT_THAT(out(), HasSubstr("  a  [\"GET\","));
  const std::string again = "  again: redouble explore w.world.json --schedule ";
  ASSERT_THAT(out(), HasSubstr(again));
  const size_t begin = out().find(again) + again.size();
  const std::string schedule = out().substr(begin, out().find('\n', begin) - begin);
  EXPECT_THAT(out(), HasSubstr("probe \"somebody\" reached in "));
  EXPECT_THAT(out(), HasSubstr("1 worlds, 1 with a violation"));

  EXPECT_EQ(Run({"explore", "w.world.json", "--schedule", schedule}), kExitFailed);
  EXPECT_THAT(out(), StartsWith("FOUND w.world.json  1 schedules\n"));
  EXPECT_THAT(out(), HasSubstr("--schedule " + schedule + "\n"));
  EXPECT_EQ(Run({"explore", "w.world.json", "--schedule", "1:"}), kExitPassed);
}

TEST_F(ExploreTest, FindsTheSameWithAnyNumberOfProcesses) {
  WriteWorld("w.world.json");
  Run({"explore", "w.world.json", "--jobs", "1"});
  const std::string once = out();
  EXPECT_THAT(once, StartsWith("FOUND "));
  Run({"explore", "w.world.json", "--jobs", "3"});
  EXPECT_EQ(out(), once);
}

TEST_F(ExploreTest, StartsNoScheduleAfterTheGivenTime) {
  WriteWorld("w.world.json", /*racy=*/false);
  const std::string most = "1000000000000";
  EXPECT_EQ(Run({"explore", "w.world.json", "--strategy", "uniform", "--schedules", most,
                 "--seconds", "1"}),
            kExitPassed);
  EXPECT_THAT(out(), StartsWith("NONE  w.world.json  "));
  EXPECT_THAT(out(), Not(HasSubstr(most)));
}

TEST_F(ExploreTest, FindsNothingInACorrectWorld) {
  WriteWorld("w.world.json", /*racy=*/false);
  EXPECT_EQ(Run({"explore", "w.world.json", "--schedules", "1500"}), kExitPassed);
  EXPECT_THAT(out(), StartsWith("NONE  w.world.json  1 schedules, complete\n"));
  EXPECT_EQ(Run({"explore", "w.world.json", "--schedules", "1500", "--strategy", "mixed"}),
            kExitPassed);
  EXPECT_THAT(out(), StartsWith("NONE  w.world.json  1500 schedules\n"));
}

TEST_F(ExploreTest, FindsNothingWhenHardened) {
  WriteWorld("w.world.json");
  EXPECT_EQ(Run({"explore", "w.world.json", "--hardened", "--exhaustive"}), kExitPassed);
  EXPECT_THAT(out(), StartsWith("NONE  w.world.json (hardened)  "));
  EXPECT_THAT(out(), HasSubstr(" schedules, complete\n"));
}

TEST_F(ExploreTest, TellsThatAnExhaustiveSearchIsIncomplete) {
  WriteWorld("w.world.json");
  EXPECT_EQ(Run({"explore", "w.world.json", "--hardened", "--schedules", "8"}), kExitPassed);
  EXPECT_THAT(out(), StartsWith("NONE  w.world.json (hardened)  8 schedules"));
  EXPECT_THAT(out(), Not(HasSubstr("complete\n")));
}

TEST_F(ExploreTest, CountsAllViolationsWhenAsked) {
  WriteWorld("w.world.json");
  EXPECT_EQ(
      Run({"explore", "w.world.json", "--schedules", "100", "--all", "--strategy", "uniform"}),
      kExitFailed);
  EXPECT_THAT(out(), StartsWith("FOUND w.world.json  100 schedules, "));
}

TEST_F(ExploreTest, WritesAFileThatReplayRepeats) {
  WriteWorld("w.world.json");
  EXPECT_EQ(Run({"explore", "w.world.json", "--out", "found.json"}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("written: redouble replay found.json"));
  EXPECT_EQ(Run({"replay", "found.json"}), kExitFailed);
  EXPECT_THAT(out(), StartsWith("FAIL found.json  "));
  EXPECT_THAT(out(), HasSubstr("  as recorded\n"));
  EXPECT_THAT(out(), HasSubstr("0 passed, 1 failed"));
}

TEST_F(ExploreTest, ReplayReportsAChangedViolation) {
  WriteWorld("w.world.json");
  Run({"explore", "w.world.json", "--out", "found.json"});
  std::string text = Read("found.json");
  const size_t hash = text.find("\"trace_hash\": \"") + 15;
  Write("other_way.json", text.substr(0, hash) + "0" + text.substr(hash));
  EXPECT_EQ(Run({"replay", "other_way.json"}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("the way there is another"));

  const size_t decisions = text.find("\"decisions\": [") + 14;
  Write("gone.json", text.substr(0, decisions) + text.substr(text.find(']', decisions)));
  EXPECT_EQ(Run({"replay", "gone.json"}), kExitPassed);
  EXPECT_THAT(out(), HasSubstr("it does not happen any more"));
}

TEST_F(ExploreTest, ReplayRefusesAWorldWithoutASchedule) {
  WriteWorld("w.world.json");
  EXPECT_EQ(Run({"replay", "w.world.json"}), kExitBadUsage);
  EXPECT_THAT(err(), HasSubstr("redouble explore looks for one"));
}

TEST_F(ExploreTest, WritesTheTableOfACatalogue) {
  WriteWorld("hazards/w.world.json");
  Write("hazards/README.md", "before\n<!-- catalogue -->\nold\n<!-- end of catalogue -->\nafter\n");
  EXPECT_EQ(Run({"explore", "hazards", "--schedules", "300", "--catalogue", "hazards/README.md"}),
            kExitPassed);
  const std::string text = Read("hazards/README.md");
  EXPECT_THAT(text, StartsWith("before\n<!-- catalogue -->\n\n| race |"));
  EXPECT_THAT(text, HasSubstr("| [the edge](w.world.json) | s | "));
  EXPECT_THAT(text, HasSubstr(" of 300 | 0 of 2 | 1 | all "));
  EXPECT_THAT(text, HasSubstr(" (complete) |"));
  EXPECT_THAT(text, Not(HasSubstr("old")));
  EXPECT_THAT(text, HasSubstr("<!-- end of catalogue -->\nafter\n"));
}

TEST_F(ExploreTest, FailsACatalogueWhoseHazardIsNotFound) {
  WriteWorld("hazards/w.world.json", /*racy=*/false);
  Write("hazards/README.md", "<!-- catalogue -->\n<!-- end of catalogue -->\n");
  EXPECT_EQ(Run({"explore", "hazards", "--schedules", "50", "--catalogue", "hazards/README.md"}),
            kExitFailed);
  EXPECT_THAT(Read("hazards/README.md"), HasSubstr("| not found |"));
}

TEST_F(ExploreTest, FailsACatalogueWithAWorldThatNoScheduleKeeps) {
  WriteWorld("hazards/w.world.json");
  std::string text = Read("hazards/w.world.json");
  text.replace(text.find("\"at_most\": 1"), 12, "\"at_most\": 0");
  Write("hazards/w.world.json", text);
  Write("hazards/README.md", "<!-- catalogue -->\n<!-- end of catalogue -->\n");
  EXPECT_EQ(Run({"explore", "hazards", "--schedules", "50", "--catalogue", "hazards/README.md"}),
            kExitFailed);
  EXPECT_THAT(out(), HasSubstr("ALWAYS hazards/w.world.json  no schedule keeps the invariants\n"));
}

TEST_F(ExploreTest, RefusesBadUsage) {
  WriteWorld("w.world.json");
  WriteWorld("v.world.json");
  Write("bad.world.json", "{}");
  Write("plain.md", "no marks");
  std::filesystem::create_directories(folder_ / "empty");
  const std::vector<std::pair<std::vector<std::string>, std::string>> usages = {
      {{}, "FILES are missing"},
      {{"w.world.json", "--program", "true"}, "FILES excludes --program"},
      {{"w.world.json", "--setup", "SET n 0"}, "--setup requires --program"},
      {{"--program", "bash 'x"}, "--program \"bash 'x\": a quote is not closed"},
      {{"--program", ""}, "--program \"\" is empty"},
      {{"--program", "true", "--setup", " "}, "--setup \" \" is empty"},
      {{"--program", "true", "--setup", "NOSUCH"}, "setup: the command NOSUCH fails"},
      {{"--program", "no-such-program"}, "no-such-program is in no folder of PATH"},
      {{"none.json"}, "none.json: no such file or folder"},
      {{"empty"}, "no *.world.json file in this folder"},
      {{"bad.world.json"}, "bad.world.json: "},
      {{"w.world.json", "v.world.json", "--out", "x.json"}, "--out takes one world at a time"},
      {{"w.world.json", "--out", "none/x.json"}, "none/x.json: cannot be written"},
      {{"w.world.json", "--schedules", "0"}, "--schedules"},
      {{"w.world.json", "--strategy", "luck"}, "--strategy"},
      {{"w.world.json", "--schedule", "luck"}, "w.world.json: \"luck\"; expected a seed"},
      {{"w.world.json", "--catalogue", "none.md"}, "none.md: "},
      {{"w.world.json", "--catalogue", "plain.md"}, "expected the lines"},
  };
  for (const auto& [arguments, message] : usages) {
    std::vector<std::string> line = {"explore"};
    line.insert(line.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(Run(line), kExitBadUsage) << message;
    EXPECT_THAT(err(), HasSubstr(message));
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
