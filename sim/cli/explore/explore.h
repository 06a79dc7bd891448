// `redouble explore`: searches for schedules that violate the invariants of world files, shrinks
// them and writes them to files.
//
// Thread-safety: one thread; the seeds are divided among child processes.
#ifndef REDOUBLE_SIM_CLI_EXPLORE_EXPLORE_H_
#define REDOUBLE_SIM_CLI_EXPLORE_EXPLORE_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::sim {

// As Subcommand::add.
std::function<int()> AddExplore(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_EXPLORE_EXPLORE_H_
