// Subcommand: one verb of the program `redouble`.
//
// A subcommand is one file and one row of the table in subcommands.cc. Its Add function declares
// its options on a CLI11 app and returns the function to call after the command line has been
// parsed:
//
//   std::function<int()> AddPing(CLI::App& app, const ProgramContext& context) {
//     auto uri = std::make_shared<std::string>();
//     app.add_option("URI", *uri, "The server");
//     app.footer("Examples:\n  redouble ping redis://127.0.0.1\n");
//     return [uri, &context] { return Ping(*uri, context); };
//   }
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_SUBCOMMAND_H_
#define REDOUBLE_SIM_CLI_SUPPORT_SUBCOMMAND_H_

#include <filesystem>
#include <functional>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "CLI/App.hpp"
#include "redouble/sim/cli/support/systems.h"

namespace redouble::inline v0_1::sim {

// Exit codes.
inline constexpr int kExitPassed = 0;  // All passed.
inline constexpr int kExitFailed =
    1;  // Something failed: a scenario, or the connection to a server.
inline constexpr int kExitBadUsage = 2;  // The command line or a file is wrong; nothing ran.

// The streams and folders of one run of the program.
struct ProgramContext {
  std::ostream& out;
  std::ostream& err;
  // The user's folder, to which relative paths refer.
  std::filesystem::path folder;
  // Folders that may hold the project's "scenarios", in order of preference.
  std::vector<std::filesystem::path> roots;
  // The systems that files may name (support/systems.h).
  const Systems& systems = BuiltInSystems();
  // Whether `err` is a terminal, where a line may be written again.
  bool on_terminal = false;
};

struct Subcommand {
  std::string_view name;
  std::string_view summary;
  // Declares the options and returns the function that runs the subcommand and returns the exit
  // code. The app and the context outlive both.
  std::function<int()> (*add)(CLI::App& app, const ProgramContext& context);
};

// Returns all subcommands, in the order of the help text.
std::span<const Subcommand> Subcommands();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_SUBCOMMAND_H_
