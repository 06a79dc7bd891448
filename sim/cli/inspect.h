// `redouble inspect`: counts the keys of a database by family and lists anomalies, such as keys of
// no family, keys without a required TTL, and orphans.
//
// The database is the end of a scenario, a moment of it, or a live Redis, which is only read.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_INSPECT_H_
#define REDOUBLE_SIM_CLI_INSPECT_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// As Subcommand::add. Exit codes: 0 no anomaly, 1 anomalies or an error of the server, 2 bad usage.
std::function<int()> AddInspect(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_INSPECT_H_
