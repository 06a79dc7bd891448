// `redouble explore`: looks for schedules that break the invariants of world files, shrinks what it
// finds and writes it down.
//
// Thread-safety: one thread; the seeds are spread over child processes.
#ifndef REDOUBLE_SIM_CLI_EXPLORE_H_
#define REDOUBLE_SIM_CLI_EXPLORE_H_

#include <functional>

#include "sim/cli/subcommand.h"

namespace redouble::sim {

// As Subcommand::add.
std::function<int()> AddExplore(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_EXPLORE_H_
