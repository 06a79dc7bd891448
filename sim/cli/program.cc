#include "sim/cli/program.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "CLI/Config.hpp"
#include "CLI/Error.hpp"
#include "CLI/Formatter.hpp"

namespace redouble::sim {
namespace {

constexpr char kDescription[] =
    "redouble: a deterministic double of Redis, and five systems' keys replayed on it.";
constexpr char kFooter[] =
    "Examples:\n"
    "  redouble replay                        all scenarios, on the embedded engine\n"
    "  redouble replay --spawn-redis          the same on a real redis-server, in virtual time\n"
    "  redouble replay --help                 all about one subcommand\n"
    "\n"
    "Exit codes: 0 all passed, 1 something failed, 2 bad usage (nothing was run).";

// CLI11 would only say that a subcommand is required. False, with an error, for a first word that
// is neither a subcommand nor an option.
bool BeginsWithSubcommand(const std::vector<std::string>& arguments,
                          const ProgramContext& context) {
  if (arguments.empty() || arguments[0].starts_with('-')) return true;
  std::string known;
  for (const Subcommand& subcommand : Subcommands()) {
    if (subcommand.name == arguments[0]) return true;
    known.append(" ").append(subcommand.name);
  }
  context.err << "redouble: unknown subcommand \"" << arguments[0] << "\"; known:" << known << "\n";
  return false;
}

// Reads the command line; gives what to run, or the exit code when there is nothing to run.
std::pair<std::function<int()>, int> Parse(CLI::App& app, std::vector<std::string> arguments,
                                           const ProgramContext& context) {
  app.require_subcommand(1);
  app.footer(kFooter);
  std::vector<std::pair<CLI::App*, std::function<int()>>> runs;
  for (const Subcommand& subcommand : Subcommands()) {
    CLI::App* sub =
        app.add_subcommand(std::string(subcommand.name), std::string(subcommand.summary));
    runs.emplace_back(sub, subcommand.add(*sub, context));
  }
  try {
    // CLI11 takes the arguments from the end.
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, context.out, context.err);
    return {nullptr, code == 0 ? kExitPassed : kExitBadUsage};
  }
  for (auto& [sub, run] : runs) {
    if (sub->parsed()) return {std::move(run), kExitPassed};
  }
  return {nullptr, kExitBadUsage};
}

}  // namespace

int RunProgram(std::vector<std::string> arguments, const ProgramContext& context) {
  try {
    if (!BeginsWithSubcommand(arguments, context)) return kExitBadUsage;
    CLI::App app(kDescription, "redouble");
    const auto [run, code] = Parse(app, std::move(arguments), context);
    return run ? run() : code;
  } catch (const std::exception& error) {
    // Out of memory, or a file system that breaks while it is read.
    context.err << "redouble: " << error.what() << "\n";
    return kExitFailed;
  }
}

}  // namespace redouble::sim
