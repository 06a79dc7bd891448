// Compares the memory engine with a real redis-server on random programs:
//
//   bazel run -c opt //tests/differential -- --group strings --programs 20000
//   bazel run -c opt //tests/differential -- --group lists,hashes --commands 1000000
//   bazel run -c opt //tests/differential -- --judge redis-8.0 --commands 1000000
//   bazel run -c opt //tests/differential -- --resp3 --commands 1000000
//
// With --judge, the server is one of tools/judges, in the folder that REDOUBLE_JUDGES names, and
// the engine has the compatibility of that name.
//
// Prints progress, a table (group, programs, commands, differences), and every difference with its
// shortest program. Exit codes: 0 without differences, 1 with differences, 2 for invalid options.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/core/store/table/version.h"
#include "redouble/tests/differential/campaign.h"
#include "redouble/tests/differential/groups.h"
#include "redouble/tests/judges/judges.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

struct Row {
  std::string group;
  CampaignResult result;
  double seconds = 0;
};

void PrintRow(const Row& row) {
  std::printf("%-14s %10ld %12ld %12ld %9.1f %12.0f\n", row.group.c_str(),
              static_cast<long>(row.result.programs), static_cast<long>(row.result.commands),
              static_cast<long>(row.result.differences), row.seconds,
              row.seconds > 0 ? static_cast<double>(row.result.commands) / row.seconds : 0.0);
  std::fflush(stdout);
}

Row RunGroup(const CampaignOptions& options, Target& server, Target& memory) {
  constexpr int64_t kProgressEvery = 1000;
  const auto begin = std::chrono::steady_clock::now();
  const auto progress = [&](const CampaignResult& result) {
    if (result.programs % kProgressEvery != 0) return;
    std::cerr << options.group << ": " << result.programs << " of " << options.programs
              << " programs, " << result.commands << " commands, " << result.differences
              << " differences\n";
  };
  Row row{options.group, RunCampaign(options, server, memory, progress)};
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  row.seconds = taken.count();
  return row;
}

// The server to compare with: the one of PATH, or a judge.
std::unique_ptr<ServerTarget> StartServer(const std::string& judge, bool resp3) {
  if (judge.empty()) return std::make_unique<ServerTarget>(std::vector<std::string>(), resp3);
  const std::optional<std::string> program = JudgeProgram(judge);
  if (!program.has_value()) return nullptr;
  return std::make_unique<ServerTarget>(JudgeConfig(), resp3, *program);
}

int Run(CampaignOptions options, const std::vector<std::string>& groups, const std::string& judge) {
  const std::unique_ptr<ServerTarget> server = StartServer(judge, options.resp3);
  if (server == nullptr) {
    std::cerr << judge << " is not there: run tools/judges and set REDOUBLE_JUDGES\n";
    return 2;
  }
  memory::EngineOptions engine;
  engine.compatibility = options.version;
  MemoryTarget memory(engine, options.resp3);
  std::vector<Row> rows;
  for (const std::string& group : groups) {
    if (GeneratorsOf(group, options.version).empty()) {
      std::cerr << "no such group, or the engine has none of its commands: " << group << "\n";
      return 2;
    }
    options.group = group;
    rows.push_back(RunGroup(options, *server, memory));
  }
  bool equal = true;
  for (const Row& row : rows) {
    std::cout << row.result.report;
    equal = equal && row.result.differences == 0;
  }
  std::printf("\n%-14s %10s %12s %12s %9s %12s\n", "group", "programs", "commands", "differences",
              "seconds", "commands/s");
  for (const Row& row : rows) PrintRow(row);
  return equal ? 0 : 1;
}

std::vector<std::string> GroupsThatExist() {
  std::vector<std::string> groups;
  for (const std::string_view name : GroupNames()) {
    if (!GeneratorsOf(name).empty()) groups.emplace_back(name);
  }
  return groups;
}

}  // namespace
}  // namespace redouble::inline v0_1::tests

int main(int argc, char** argv) {
  using namespace redouble::tests;
  CLI::App app("Compares the memory engine with a real redis-server on random programs.");
  CampaignOptions options;
  options.max_differences = 3;
  std::vector<std::string> groups;
  bool by_commands = false;
  app.add_option("--group", groups, "Groups of commands, or \"all\" for a mixture; default: each")
      ->delimiter(',');
  app.add_option("--programs", options.programs, "How many programs per group")
      ->check(CLI::PositiveNumber);
  CLI::Option* commands = app.add_option("--commands", options.max_total_commands,
                                         "How many commands per group, instead of --programs")
                              ->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "Decides the programs");
  app.add_option("--first", options.first, "Number of the first program");
  app.add_option("--max-commands", options.max_commands, "The longest program")
      ->check(CLI::PositiveNumber);
  app.add_option("--max-differences", options.max_differences, "Ends a group after so many");
  app.add_flag("--resp3", options.resp3, "Compares the replies of RESP3 and their types");
  std::string judge;
  app.add_option("--judge", judge, "Another server, and the compatibility: a name of tools/judges")
      ->check(CLI::IsMember(JudgeNames()));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  by_commands = commands->count() > 0;
  if (by_commands) options.programs = options.max_total_commands;
  if (groups.empty()) groups = GroupsThatExist();
  if (!judge.empty()) options.version = redouble::store::VersionNamed(judge).value();
  return Run(options, groups, judge);
}
