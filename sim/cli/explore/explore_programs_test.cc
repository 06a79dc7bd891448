#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/cli/program_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ExploreProgramsTest : public ProgramTest {
 protected:
  // Writes a script in which `ask WORDS` sends a command and sets $reply to its value, and returns
  // the command line that runs it.
  std::string Script(const std::string& name, const std::string& text) {
    Write(name, R"(
        exec 3<>/dev/tcp/$REDIS_HOST/$REDIS_PORT
        ask() {
          echo "$*" >&3; read -r reply <&3
          [[ $reply == \$[0-9]* ]] && read -r reply <&3
          reply=${reply%$'\r'}
        }
        )" + text);
    return "bash " + (folder_ / name).string();
  }

  std::string AddsOne() { return Script("add_one.sh", R"(ask GET n; ask SET n $((reply + 1)))"); }

  // Explores two runs of one program, which begin with n = 0.
  int ExploreTwo(const std::string& program, const std::vector<std::string>& more = {}) {
    std::vector<std::string> line = {"explore", "--program", program,  "--program",
                                     program,   "--setup",   "SET n 0"};
    line.insert(line.end(), more.begin(), more.end());
    return Run(line);
  }
};

TEST_F(ExploreProgramsTest, FindsALostUpdate) {
  const std::string program = AddsOne();
  EXPECT_EQ(ExploreTwo(program), kExitFailed);
  EXPECT_THAT(out(), StartsWith("FOUND programs  "));
  EXPECT_THAT(out(), HasSubstr("  the keys are those of a serial order: no serial order gives "
                               R"({"keys":{"n":{"type":"string","value":"1"}}})"
                               "\n"
                               "  program 1  [\"GET\",\"n\"] -> 0\n"
                               "  program 2  [\"GET\",\"n\"] -> 0\n"
                               "  program 2  [\"SET\",\"n\",\"1\"] -> {\"status\":\"OK\"}\n"
                               "  program 1  [\"SET\",\"n\",\"1\"] -> {\"status\":\"OK\"}\n"
                               "  6 steps, 1 decisions that are not quiet, trace "));
  EXPECT_THAT(out(), HasSubstr("  again: redouble explore --program '" + program + "' --program '" +
                               program + "' --setup 'SET n 0' --schedule "));
}

TEST_F(ExploreProgramsTest, RepeatsASchedule) {
  const std::string program = AddsOne();
  EXPECT_EQ(ExploreTwo(program, {"--schedule", "1:0,0,1"}), kExitFailed);
  const std::string first = out();
  EXPECT_THAT(first, StartsWith("FOUND programs  1 schedules\n"));
  EXPECT_EQ(ExploreTwo(program, {"--schedule", "1:0,0,1"}), kExitFailed);
  EXPECT_EQ(out(), first);
  EXPECT_EQ(ExploreTwo(program, {"--schedule", "1:"}), kExitPassed);
}

TEST_F(ExploreProgramsTest, WritesAWorldThatReplayRepeats) {
  EXPECT_EQ(ExploreTwo(AddsOne(), {"--out", "found.json"}), kExitFailed);
  EXPECT_EQ(Run({"replay", "found.json"}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("  as recorded\n"));
}

TEST_F(ExploreProgramsTest, FindsNothingInProgramsThatAreCorrect) {
  EXPECT_EQ(ExploreTwo(Script("incr.sh", "ask INCR n")), kExitPassed);
  EXPECT_THAT(out(), HasSubstr(", complete\n"));
}

TEST_F(ExploreProgramsTest, ReportsAProgramThatFails) {
  EXPECT_EQ(ExploreTwo(Script("fail.sh", "ask GET n; echo no luck; exit 3")), kExitFailed);
  EXPECT_THAT(
      out(),
      HasSubstr("  each program ends with status 0: calls of run: 2, at most 0 expected (bash "));
  EXPECT_THAT(out(), HasSubstr("fail.sh exited with status 3: no luck)\n"));
}

TEST_F(ExploreProgramsTest, RefusesProgramsThatDoNotRepeatThemselves) {
  EXPECT_EQ(ExploreTwo(Script("pid.sh", "ask SET pid $$")), kExitBadUsage);
  EXPECT_THAT(err(), StartsWith("redouble explore: programs: the programs do not repeat "
                                "themselves. In two runs of one schedule, event 1 is\n  {"));
  EXPECT_THAT(err(), HasSubstr("[\"SET\",\"pid\","));
}

TEST_F(ExploreProgramsTest, AWorldFileMayRunPrograms) {
  Write("w.world.json", R"({"name": "n", "description": "d", "source": "s", "system": "programs",
      "start": "2026-05-09T14:03:02Z",
      "setup": [{"kind": "call", "operation": "run", "arguments": {"command": ["bash", ")" +
                            (folder_ / "setup.sh").string() + R"("]}}],
      "actors": {"a": [{"kind": "advance", "by": "1h"},
                       {"kind": "call", "operation": "run", "as": "done",
                        "arguments": {"command": ["bash", ")" +
                            (folder_ / "get.sh").string() + R"("]}}]},
      "invariants": [{"kind": "bound", "value": "done",
                      "expect": {"exit_status": 0, "output": "7\n"}}]})");
  Script("setup.sh", "ask SET n 7");
  Script("get.sh", "ask GET n; echo $reply");
  EXPECT_EQ(Run({"explore", "w.world.json"}), kExitPassed) << out() << err();
  EXPECT_THAT(out(), HasSubstr(", complete\n"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
