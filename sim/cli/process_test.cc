// Tests that need a second process of the program.

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace fs = std::filesystem;

struct Ended {
  int exit_code;
  std::string output;  // Standard output and error.
};

// Runs a shell command at the root of the runfiles.
Ended Shell(const std::string& command) {
  Ended ended{-1, ""};
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ended;
  std::array<char, 4096> buffer;
  while (const size_t read = fread(buffer.data(), 1, buffer.size(), pipe)) {
    ended.output.append(buffer.data(), read);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  return ended;
}

// Returns "PASS file hash" of each scenario, which must not depend on the process.
std::vector<std::string> Outcomes(const std::string& output) {
  static const std::regex line("((?:PASS|FAIL) \\S+).* ([0-9a-f]{64})");
  std::vector<std::string> outcomes;
  for (std::sregex_iterator match(output.begin(), output.end(), line), end; match != end; ++match) {
    outcomes.push_back((*match)[1].str() + " " + (*match)[2].str());
  }
  return outcomes;
}

const char kProgram[] = "./redouble";

TEST(Process, HasTheSameTracesAsAnother) {
  // The folder is named because without Bazel's environment the program finds the scenarios of the
  // last build.
  const std::string replay = std::string(kProgram) + " replay --verbose scenarios";
  const Ended first = Shell(replay);
  // Another environment, so that addresses differ.
  const Ended second = Shell("env -i NOISE=" + std::string(2000, 'x') + " " + replay);
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_EQ(second.exit_code, 0) << second.output;
  EXPECT_GE(Outcomes(first.output).size(), 10u);
  EXPECT_EQ(Outcomes(first.output), Outcomes(second.output));
}

TEST(Process, RepeatsWhatAnotherProcessFoundToTheSameTrace) {
  const fs::path world = fs::path(std::getenv("TEST_TMPDIR")) / "w.world.json";
  const fs::path found = fs::path(std::getenv("TEST_TMPDIR")) / "found.world.json";
  std::ofstream(world) << R"({"name": "a crash leaves a counter for ever", "description": "d",
      "source": "s", "system": "gateway", "start": "2026-05-09T14:03:02Z",
      "actors": {"a": [{"kind": "command", "command": ["INCR", "n"]},
                       {"kind": "command", "command": ["EXPIRE", "n", "70"]}],
                 "b": [{"kind": "command", "command": ["PING"]}]},
      "faults": [{"fault": "crash", "probability": 0.2, "for": "inf"}],
      "invariants": [{"kind": "expires", "keys": "n"}]})";
  const Ended explored =
      Shell(std::string(kProgram) + " explore " + world.string() + " --out " + found.string());
  EXPECT_EQ(explored.exit_code, 1) << explored.output;
  const std::string replay = std::string(kProgram) + " replay --verbose " + found.string();
  const Ended first = Shell(replay);
  const Ended second = Shell("env -i NOISE=" + std::string(2000, 'x') + " " + replay);
  EXPECT_EQ(first.exit_code, 1) << first.output;
  EXPECT_NE(first.output.find("\n  as recorded\n"), std::string::npos) << first.output;
  EXPECT_EQ(Outcomes(first.output).size(), 1u);
  EXPECT_EQ(first.output, second.output);
}

TEST(Process, FindsTheInstalledScenarios) {
  const fs::path prefix = fs::path(std::getenv("TEST_TMPDIR")) / "prefix";
  const fs::path scenarios = prefix / "share" / "redouble" / "scenarios" / "redis";
  fs::create_directories(prefix / "bin");
  fs::create_directories(scenarios);
  fs::copy_file(kProgram, prefix / "bin" / "redouble");
  std::ofstream(scenarios / "ping.json")
      << R"({"name": "n", "description": "d", "system": "redis", "start": "2026-05-09T14:03:02Z",
             "steps": [{"kind": "command", "command": ["PING"], "expect": {"status": "PONG"}}]})";
  const std::string program = (prefix / "bin" / "redouble").string();
  const Ended replayed = Shell("cd " + prefix.string() + " && env -i " + program + " replay");
  EXPECT_EQ(replayed.exit_code, 0) << replayed.output;
  EXPECT_NE(replayed.output.find("1 passed, 0 failed"), std::string::npos) << replayed.output;
}

TEST(Process, EndsWithTheExitCode) {
  EXPECT_EQ(Shell(std::string(kProgram) + " keys").exit_code, 0);
  EXPECT_EQ(Shell(std::string(kProgram) + " replay no_such_file.json").exit_code, 2);
  const fs::path file = fs::path(std::getenv("TEST_TMPDIR")) / "failing.json";
  std::ofstream(file) << R"({"name": "n", "description": "d", "system": "redis",
      "start": "1970-01-01T00:00:00Z",
      "steps": [{"kind": "command", "command": ["INCR", "n"], "expect": 2}]})";
  EXPECT_EQ(Shell(std::string(kProgram) + " replay " + file.string()).exit_code, 1);
}

TEST(Process, FindsTheScenariosFromAnywhere) {
  const std::string program = (fs::current_path() / kProgram).lexically_normal().string();
  // The runfiles beside the program, which do not depend on the current folder; Bazel's tests name
  // them in the environment.
  const Ended beside = Shell("cd / && " + program + " replay --filter leap_day");
  EXPECT_EQ(beside.exit_code, 0) << beside.output;
}

TEST(Process, UsesBazelsFolderOfTheCaller) {
  const fs::path root = fs::path(std::getenv("TEST_TMPDIR")) / "workspace";
  fs::create_directories(root / "scenarios/redis");
  std::ofstream(root / "scenarios/redis/only.json") << R"({"name": "n", "description": "d",
      "system": "redis", "start": "1970-01-01T00:00:00Z",
      "steps": [{"kind": "command", "command": ["PING"]}]})";
  const std::string environment = "BUILD_WORKSPACE_DIRECTORY=" + root.string() +
                                  " BUILD_WORKING_DIRECTORY=" + (root / "scenarios").string() + " ";
  const Ended all = Shell(environment + kProgram + " replay");
  EXPECT_NE(all.output.find("PASS scenarios/redis/only.json"), std::string::npos) << all.output;
  const Ended relative = Shell(environment + kProgram + " replay redis/only.json");
  EXPECT_NE(relative.output.find("PASS redis/only.json"), std::string::npos) << relative.output;
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
