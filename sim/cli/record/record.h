// `redouble record`: what the clients of a live Redis do, as a scenario.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_RECORD_RECORD_H_
#define REDOUBLE_SIM_CLI_RECORD_RECORD_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::sim {

// As Subcommand::add.
std::function<int()> AddRecord(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_RECORD_RECORD_H_
