#include "redouble/sim/cli/program.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "CLI/Config.hpp"
#include "CLI/Error.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/text/nearest_word.h"
#include "redouble/sim/cli/help.h"
#include "redouble/sim/cli/serve/redis_server.h"
#include "redouble/sim/cli/support/version.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kDescription[] =
    "redouble: a deterministic Redis 7.0 for tests, with a scenario runner and a schedule "
    "explorer.";
constexpr char kFooter[] =
    "Examples:\n"
    "  redouble serve --clock manual          a Redis whose clients move its clock\n"
    "  redouble replay                        all scenarios, on the embedded engine\n"
    "  redouble replay --spawn-redis          the same on a real redis-server, in virtual time\n"
    "  redouble help replay                   options and examples of a subcommand\n"
    "\n"
    "Exit codes: 0 all passed, 1 something failed, 2 bad usage (nothing was run).";

// CLI11 would only say that a subcommand is required. False, with an error, for a first word that
// is neither a subcommand nor an option.
bool BeginsWithSubcommand(const std::vector<std::string>& arguments,
                          const ProgramContext& context) {
  if (arguments.empty() || arguments[0].starts_with('-')) return true;
  std::vector<std::string> known;
  for (const Subcommand& subcommand : Subcommands()) {
    if (subcommand.name == arguments[0]) return true;
    known.emplace_back(subcommand.name);
  }
  context.err << "redouble: unknown subcommand \"" << arguments[0] << "\""
              << base::DidYouMean(arguments[0], known) << "; known: " << absl::StrJoin(known, " ")
              << "\n";
  return false;
}

// Prints what is wrong with the command line, and the option that a misspelt one may mean; returns
// the exit code.
int Refuse(const CLI::App& app, const CLI::ParseError& error, const ProgramContext& context) {
  const int code = app.exit(error, context.out, context.err);
  if (code == 0) return kExitPassed;
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const std::vector<std::string> known = OptionNames(parsed.empty() ? app : *parsed.front());
  for (const std::string& word : app.remaining(/*recurse=*/true)) {
    const std::string name = word.substr(0, word.find('='));
    if (const auto nearest = base::NearestWord(name, known)) {
      context.err << name << ": did you mean " << *nearest << "?\n";
    }
  }
  return kExitBadUsage;
}

// Reads the command line; gives what to run, or the exit code when there is nothing to run.
std::pair<std::function<int()>, int> Parse(CLI::App& app, std::vector<std::string> arguments,
                                           const ProgramContext& context) {
  app.require_subcommand(1);
  app.footer(kFooter);
  app.set_version_flag("--version",
                       absl::StrCat("redouble ", kVersion, " (Redis ", kRedisVersion, ")"));
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
    return {nullptr, Refuse(app, error, context)};
  }
  for (auto& [sub, run] : runs) {
    if (sub->parsed()) return {std::move(run), kExitPassed};
  }
  return {nullptr, kExitBadUsage};
}

}  // namespace

int RunProgram(std::vector<std::string> arguments, const ProgramContext& context) {
  try {
    // Its arguments are redis-server's, which CLI11 does not understand.
    if (!arguments.empty() && arguments[0] == kRedisServer) {
      arguments.erase(arguments.begin());
      return RunRedisServer(arguments, context);
    }
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

}  // namespace redouble::inline v0_1::sim
