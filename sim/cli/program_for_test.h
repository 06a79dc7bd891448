// A fixture that runs the program in a temporary folder.
#ifndef REDOUBLE_SIM_CLI_PROGRAM_FOR_TEST_H_
#define REDOUBLE_SIM_CLI_PROGRAM_FOR_TEST_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/sim/cli/program.h"

namespace redouble::inline v0_1::sim {

class ProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(std::getenv("TEST_TMPDIR")) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }

  int Run(std::vector<std::string> arguments) {
    out_.str("");
    err_.str("");
    return RunProgram(std::move(arguments), ProgramContext{out_, err_, folder_, {folder_}});
  }

  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  // Writes a scenario that passes if `reply` is the reply to INCR on a new key.
  void WriteScenario(const std::string& name, int reply, const std::string& title = "a title") {
    Write(name, R"({"name": ")" + title + R"(", "description": "counts", "system": "redis",
        "start": "2026-05-09T14:03:02Z", "steps": [
          {"kind": "command", "command": ["INCR", "n"], "expect": )" +
                    std::to_string(reply) + R"(},
          {"kind": "advance", "by": "1m30s"}]})");
  }

  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

  std::filesystem::path folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_PROGRAM_FOR_TEST_H_
