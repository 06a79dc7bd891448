// `redouble keys`: prints the inventory of key families, from the tables that the code uses.
//
// `--system` selects one system; `--layout` the layout of the keys; `--format` is table, json or
// markdown, as in sim/inspect/key_inventory.h.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_KEYS_H_
#define REDOUBLE_SIM_CLI_KEYS_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// As Subcommand::add. Exit codes: 0, or 2 for an unknown system, layout or format.
std::function<int()> AddKeys(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_KEYS_H_
