// `redouble inspect`: counts the keys of a database by family and lists anomalies.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_INSPECT_H_
#define REDOUBLE_SIM_CLI_INSPECT_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::sim {

std::function<int()> AddInspect(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_INSPECT_H_
