// `redouble inspect`: what a database holds, by the inventory, and what of it cannot be right.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_INSPECT_H_
#define REDOUBLE_SIM_CLI_INSPECT_H_

#include <functional>

#include "sim/cli/subcommand.h"

namespace redouble::sim {

std::function<int()> AddInspect(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_INSPECT_H_
