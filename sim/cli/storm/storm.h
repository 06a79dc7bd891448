// `redouble storm`: runs the storms of a system, and says which promises broke and why.
//
// A run is a number, from 0 on; with the seed it decides all that happens. The result does not
// depend on how many processes share the work.
//
// Thread-safety: one thread; the runs are divided among child processes.
#ifndef REDOUBLE_SIM_CLI_STORM_STORM_H_
#define REDOUBLE_SIM_CLI_STORM_STORM_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// As Subcommand::add. Exit codes: 0 nothing but what the documents list, and with --hardened
// nothing at all; 1 something else; 2 bad usage.
std::function<int()> AddStorm(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_STORM_STORM_H_
