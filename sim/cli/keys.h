// `redouble keys`: the inventory of key families, from the tables that the code itself uses.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_KEYS_H_
#define REDOUBLE_SIM_CLI_KEYS_H_

#include <functional>

#include "sim/cli/subcommand.h"

namespace redouble::sim {

// As Subcommand::add.
std::function<int()> AddKeys(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_KEYS_H_
