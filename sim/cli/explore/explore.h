// `redouble explore`: searches for schedules that violate the invariants of world files, shrinks
// them and writes them to files.
//
// A schedule is a seed, or with --exhaustive one of all schedules. The result does not depend on
// how many processes share the work.
//
// Thread-safety: one thread; the seeds are divided among child processes.
#ifndef REDOUBLE_SIM_CLI_EXPLORE_EXPLORE_H_
#define REDOUBLE_SIM_CLI_EXPLORE_EXPLORE_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// As Subcommand::add. Exit codes: 0 no violation, 1 a violation, 2 bad usage or a wrong file. With
// --catalogue: 1 if a row of the catalogue does not hold.
std::function<int()> AddExplore(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_EXPLORE_EXPLORE_H_
