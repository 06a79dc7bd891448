// Subcommand: one verb of the `redouble` program, and what all of them share.
//
// A subcommand is one file and one row of the table in subcommands.cc. Its Add function declares
// its options on a CLI11 app and returns what to do once they are read:
//
//   std::function<int()> AddPing(CLI::App& app, const ProgramContext& context) {
//     auto uri = std::make_shared<std::string>();
//     app.add_option("URI", *uri, "Where the server is");
//     app.footer("Examples:\n  redouble ping redis://127.0.0.1\n");
//     return [uri, &context] { return Ping(*uri, context); };
//   }
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_SUBCOMMAND_H_
#define REDOUBLE_SIM_CLI_SUBCOMMAND_H_

#include <filesystem>
#include <functional>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "CLI/App.hpp"

namespace redouble::sim {

// What the process ends with.
inline constexpr int kExitPassed = 0;  // All passed.
inline constexpr int kExitFailed = 1;  // Something failed: a scenario, a server that is not there.
inline constexpr int kExitBadUsage = 2;  // The command line or a file is wrong: nothing was run.

// Where a run of the program takes place.
struct ProgramContext {
  std::ostream& out;
  std::ostream& err;
  // What relative paths are relative to: where the user stands.
  std::filesystem::path folder;
  // Folders that may hold the project's "scenarios", the best first.
  std::vector<std::filesystem::path> roots;
};

struct Subcommand {
  std::string_view name;
  std::string_view summary;
  // Declares the options and gives what runs the subcommand, which returns the exit code. The app
  // and the context outlive both.
  std::function<int()> (*add)(CLI::App& app, const ProgramContext& context);
};

// All subcommands, in the order in which help shows them.
std::span<const Subcommand> Subcommands();

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_SUBCOMMAND_H_
