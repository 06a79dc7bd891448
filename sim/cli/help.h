// `redouble help` and `redouble completion`: texts made from the table of subcommands and options.
//
// The manual page (docs/redouble.1) and the shell completions (docs/completions) are these
// functions' output; a test compares them.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_HELP_H_
#define REDOUBLE_SIM_CLI_HELP_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// As Subcommand::add.
std::function<int()> AddHelp(CLI::App& app, const ProgramContext& context);
std::function<int()> AddCompletion(CLI::App& app, const ProgramContext& context);

// Returns the manual page of the program in roff, and its completion in a shell's language: "bash",
// "zsh" or "fish". `app` has all subcommands.
std::string ManualPage(const CLI::App& app);
std::string CompletionFor(std::string_view shell, const CLI::App& app);

// Returns the long names of the options of an app, with their dashes.
std::vector<std::string> OptionNames(const CLI::App& app);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_HELP_H_
