// `redouble serve`: the engine behind sockets, for clients and test suites in any language.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_SERVE_SERVE_H_
#define REDOUBLE_SIM_CLI_SERVE_SERVE_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::sim {

// As Subcommand::add.
std::function<int()> AddServe(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_SERVE_SERVE_H_
