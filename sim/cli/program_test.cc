#include "redouble/sim/cli/program.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/cli/program_for_test.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/cli/support/version.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> Lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_F(ProgramTest, ExplainsItselfByExample) {
  EXPECT_EQ(Run({"--help"}), kExitPassed);
  EXPECT_THAT(out(), HasSubstr("redouble replay --spawn-redis"));
  for (const Subcommand& subcommand : Subcommands()) {
    EXPECT_THAT(out(), HasSubstr(std::string(subcommand.summary)));
  }
}

TEST_F(ProgramTest, EverySubcommandExplainsItselfByExample) {
  for (const Subcommand& subcommand : Subcommands()) {
    const std::string name(subcommand.name);
    EXPECT_EQ(Run({name, "--help"}), kExitPassed);
    EXPECT_THAT(out(), HasSubstr("Examples:\n  redouble " + name));
    EXPECT_EQ(err(), "");
  }
}

TEST_F(ProgramTest, RefusesBadUsage) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {},
           {"fly"},
           {"replay", "--fly"},
           {"replay", "--filter"},
           {"replay", "--flush"},
           {"replay", "--spawn-redis", "--redis", "redis://127.0.0.1"},
           {"keys", "--format", "yaml"},
           {"keys", "--system", "abacus"},
           {"keys", "everything"}}) {
    EXPECT_EQ(Run(arguments), kExitBadUsage) << testing::PrintToString(arguments);
    EXPECT_NE(err(), "");
    EXPECT_EQ(out(), "");
  }
}

TEST_F(ProgramTest, NamesItsSubcommandsWhenItRefusesAnother) {
  EXPECT_EQ(Run({"fly"}), kExitBadUsage);
  EXPECT_THAT(err(), StartsWith("redouble: unknown subcommand \"fly\"; known: "));
  for (const Subcommand& subcommand : Subcommands()) {
    EXPECT_THAT(err(), HasSubstr(" " + std::string(subcommand.name)));
  }
}

TEST_F(ProgramTest, SuggestsWhatAMisspeltWordMeans) {
  EXPECT_EQ(Run({"repaly"}), kExitBadUsage);
  EXPECT_THAT(err(), StartsWith("redouble: unknown subcommand \"repaly\"; did you mean "
                                "\"replay\"?; known: "));
  EXPECT_EQ(Run({"serve", "--prot", "7000"}), kExitBadUsage);
  EXPECT_THAT(err(), HasSubstr("--prot: did you mean --port?\n"));
  EXPECT_EQ(Run({"replay", "--filtre=x"}), kExitBadUsage);
  EXPECT_THAT(err(), HasSubstr("--filtre: did you mean --filter?\n"));
  EXPECT_EQ(Run({"serve", "--zebra"}), kExitBadUsage);
  EXPECT_THAT(err(), Not(HasSubstr("did you mean")));
}

TEST_F(ProgramTest, SaysItsVersion) {
  EXPECT_EQ(Run({"--version"}), kExitPassed);
  EXPECT_EQ(out(), std::string("redouble ") + kVersion + " (Redis " + kRedisVersion + ")\n");
}

TEST_F(ProgramTest, HelpIsASubcommandToo) {
  EXPECT_EQ(Run({"--help"}), kExitPassed);
  const std::string help = out();
  EXPECT_EQ(Run({"help"}), kExitPassed);
  EXPECT_EQ(out(), help);
  EXPECT_EQ(Run({"help", "serve"}), kExitPassed);
  EXPECT_THAT(out(), HasSubstr("--ready-file"));
  EXPECT_EQ(Run({"help", "sevre"}), kExitBadUsage);
  EXPECT_THAT(err(), StartsWith("redouble help: unknown subcommand \"sevre\"; did you mean "
                                "\"serve\"?; known: replay "));
}

// After a change of options: redouble help --man, redouble completion SHELL.
TEST_F(ProgramTest, HasAManualPageAndCompletionsThatAreCurrent) {
  for (const auto& [arguments, file] : std::map<std::vector<std::string>, std::string>{
           {{"help", "--man"}, "docs/redouble.1"},
           {{"completion", "bash"}, "docs/completions/redouble.bash"},
           {{"completion", "zsh"}, "docs/completions/_redouble"},
           {{"completion", "fish"}, "docs/completions/redouble.fish"}}) {
    EXPECT_EQ(Run(arguments), kExitPassed);
    std::ifstream stream(file);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    EXPECT_EQ(text, out()) << file << ": write it anew";
  }
  EXPECT_EQ(Run({"completion", "tcsh"}), kExitBadUsage);
}

TEST_F(ProgramTest, TheManualPageHasEveryOption) {
  Run({"help", "--man"});
  const std::string page = out();
  for (const Subcommand& subcommand : Subcommands()) {
    Run({"help", std::string(subcommand.name)});
    std::istringstream words(out());
    for (std::string word; words >> word;) {
      if (!word.starts_with("--")) continue;
      std::string option;
      for (const char c : word.substr(0, word.find_first_of(",=[")))
        option += c == '-' ? "\\-" : std::string(1, c);
      EXPECT_THAT(page, HasSubstr(option)) << subcommand.name;
    }
  }
}

TEST_F(ProgramTest, ReplaysAFileAndSaysSo) {
  WriteScenario("x.json", 1);
  EXPECT_EQ(Run({"replay", "x.json"}), kExitPassed);
  EXPECT_THAT(out(), MatchesRegex("PASS x\\.json  2026-05-09T14:03:02Z \\+1m30s +1 commands +"
                                  "[0-9.]+ ms  [0-9a-f]{16}\n1 passed, 0 failed\n"));
  EXPECT_EQ(err(), "");
}

// The hash is equal in every process, with every compiler and at every optimization level.
TEST_F(ProgramTest, HasATraceHashThatNeverChanges) {
  WriteScenario("x.json", 1);
  EXPECT_EQ(Run({"replay", "--verbose", "x.json"}), kExitPassed);
  EXPECT_THAT(out(),
              HasSubstr("e9064bff7ee63fbd845ecfd5feb44fbf98fd4e8a16f95a41b4f0cb495a64bcbd\n"));
}

TEST_F(ProgramTest, SaysWhatFailedAndWhere) {
  WriteScenario("dir/a.json", 1);
  WriteScenario("dir/b.json", 2);
  WriteScenario("dir/c.json", 1);
  EXPECT_EQ(Run({"replay", "dir"}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("\nFAIL dir/b.json "));
  EXPECT_THAT(out(),
              HasSubstr("\ndir/b.json: step 0 (command): /steps/0/expect: not as expected\n"
                        "  command:  INCR n\n- expected: 2\n+ got:      1\nPASS dir/c.json"));
  EXPECT_THAT(out(), HasSubstr("\n2 passed, 1 failed\n"));
}

TEST_F(ProgramTest, ReplaysAllScenariosWithoutArguments) {
  WriteScenario("scenarios/redis/a.json", 1);
  WriteScenario("scenarios/redis/b.json", 1);
  EXPECT_EQ(Run({"replay"}), kExitPassed);
  EXPECT_THAT(out(), StartsWith("PASS scenarios/redis/a.json"));
  EXPECT_THAT(out(), HasSubstr("2 passed, 0 failed\n"));
}

TEST_F(ProgramTest, FiltersByFileOrName) {
  WriteScenario("dir/leap.json", 1, "around midnight");
  WriteScenario("dir/year.json", 1, "around New Year");
  EXPECT_EQ(Run({"replay", "dir", "--filter", "leap"}), kExitPassed);
  EXPECT_THAT(out(), StartsWith("PASS dir/leap.json"));
  EXPECT_THAT(out(), HasSubstr("1 passed, 0 failed\n"));
  EXPECT_EQ(Run({"replay", "dir", "--filter", "New Year"}), kExitPassed);
  EXPECT_THAT(out(), StartsWith("PASS dir/year.json"));
  EXPECT_EQ(Run({"replay", "dir", "--filter", "century"}), kExitBadUsage);
  EXPECT_EQ(err(), "redouble replay: --filter century: matches no scenario\n");
}

TEST_F(ProgramTest, PrintsTheTraceWhenVerbose) {
  WriteScenario("x.json", 1);
  EXPECT_EQ(Run({"replay", "--verbose", "x.json"}), kExitPassed);
  EXPECT_THAT(out(), StartsWith("x.json: a title: counts\n"
                                "  {\"index\":0,\"us\":1778335382000000,\"client\":\"main\","
                                "\"command\":[\"INCR\",\"n\"],\"reply\":1}\n"));
}

TEST_F(ProgramTest, RunsNothingWhenAFileIsMissing) {
  WriteScenario("x.json", 1);
  EXPECT_EQ(Run({"replay", "x.json", "y.json"}), kExitBadUsage);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(err(), "redouble replay: y.json: no such file or folder\n");
}

TEST_F(ProgramTest, RunsNothingAndSaysAllThatIsWrongWhenFilesAreMalformed) {
  WriteScenario("dir/a.json", 1);
  Write("dir/b.json", "{");
  Write("dir/c.json", R"({"name": "n", "description": "d", "system": "redis",
                          "start": "1970-01-01T00:00:00Z", "steps": [{"kind": "dance"}]})");
  EXPECT_EQ(Run({"replay", "dir"}), kExitBadUsage);
  EXPECT_EQ(out(), "");
  EXPECT_THAT(err(), HasSubstr("redouble replay: dir/b.json: not JSON: "));
  EXPECT_THAT(err(), HasSubstr("redouble replay: dir/c.json: step 0: /steps/0/kind: unknown kind"));
}

TEST_F(ProgramTest, TakesPathsRelativeToTheCaller) {
  WriteScenario("dir/x.json", 1);
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunProgram({"replay", "x.json"}, ProgramContext{out, err, folder_ / "dir", {}}),
            kExitPassed);
}

TEST_F(ProgramTest, TellsAnUnreachableServerFromAWrongUri) {
  WriteScenario("x.json", 1);
  EXPECT_EQ(Run({"replay", "--redis", "unix:///nowhere/none.sock", "x.json"}), kExitFailed);
  EXPECT_THAT(err(), HasSubstr("none.sock"));
  EXPECT_EQ(out(), "");
  EXPECT_EQ(Run({"replay", "--redis", "http://127.0.0.1", "x.json"}), kExitBadUsage);
  EXPECT_THAT(err(), HasSubstr("URI"));
}

TEST_F(ProgramTest, PrintsEveryFamilyOfEverySystemInEachFormat) {
  const std::vector<store::KeyFamily> families = AllKeyFamilies();
  ASSERT_FALSE(families.empty());
  for (const std::vector<std::string>& format :
       std::vector<std::vector<std::string>>{{"keys"}, {"keys", "--format", "table"}}) {
    EXPECT_EQ(Run(format), kExitPassed);
    EXPECT_EQ(Lines(out()).size(), 1 + families.size());
    for (const store::KeyFamily& family : families) {
      const std::string row = std::string(family.system) + " .*" + std::string(family.id) + " .*";
      EXPECT_THAT(Lines(out()), Contains(MatchesRegex(row)));
    }
  }
  EXPECT_EQ(Run({"keys", "--format", "json"}), kExitPassed);
  const Json inventory = Json::parse(out());
  ASSERT_EQ(inventory.size(), families.size());
  for (size_t i = 0; i < families.size(); ++i) {
    EXPECT_EQ(inventory[i].at("id"), families[i].id);
    EXPECT_EQ(inventory[i].at("pattern"), families[i].pattern);
  }
  EXPECT_EQ(Run({"keys", "--format", "markdown"}), kExitPassed);
  for (const store::KeyFamily& family : families) {
    EXPECT_THAT(out(), HasSubstr("\n| " + std::string(family.id) + " | `"));
    EXPECT_THAT(out(), HasSubstr("## " + std::string(family.system) + "\n"));
  }
}

TEST_F(ProgramTest, PrintsTheFamiliesOfTheClusterLayout) {
  EXPECT_EQ(Run({"keys", "--layout", "cluster", "--format", "json"}), kExitPassed);
  const Json inventory = Json::parse(out());
  std::map<std::string, std::string> pattern_of;
  for (const Json& family : inventory) pattern_of[family.at("id")] = family.at("pattern");
  EXPECT_EQ(pattern_of.size(), AllKeyFamilies(store::KeyLayout::kCluster).size());
  EXPECT_EQ(pattern_of["gateway.daily_budget"], "budget:daily:{{{key_id:uuid}}}:{day:d8}");
  EXPECT_EQ(Run({"keys", "--layout", "x"}), kExitBadUsage);
  EXPECT_EQ(err(), "redouble keys: --layout: expected documented or cluster, got 'x'\n");
}

TEST_F(ProgramTest, PrintsTheFamiliesOfOneSystem) {
  std::map<std::string, size_t> count_of;
  for (const store::KeyFamily& family : AllKeyFamilies()) ++count_of[std::string(family.system)];
  for (const auto& [system, count] : count_of) {
    EXPECT_EQ(Run({"keys", "--system", system, "--format", "json"}), kExitPassed);
    const Json inventory = Json::parse(out());
    EXPECT_EQ(inventory.size(), count) << system;
    for (const Json& family : inventory) EXPECT_EQ(family.at("system"), system);
  }
}

TEST_F(ProgramTest, NamesWhatItKnowsWhenItRefusesAKeysOption) {
  Run({"keys", "--system", "abacus"});
  EXPECT_THAT(err(), StartsWith("redouble keys: --system: unknown system \"abacus\"; known: "));
  EXPECT_THAT(err(), HasSubstr("gateway"));
  Run({"keys", "--format", "yaml"});
  EXPECT_EQ(err(),
            "redouble keys: --format: unknown format \"yaml\"; known: table, json, markdown\n");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
