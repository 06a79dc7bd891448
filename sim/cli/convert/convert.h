// `redouble convert`: writes the keys of one kind of file as another kind: RDB, append-only log,
// commands, JSON or scenario. Use it to read production's data as text, or to make data for a test.
//
//   redouble convert dump.rdb keys.json
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_CONVERT_CONVERT_H_
#define REDOUBLE_SIM_CLI_CONVERT_CONVERT_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// As Subcommand::add. Exit codes: 0 converted, 1 a file that cannot be read or written, 2 bad
// usage.
std::function<int()> AddConvert(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_CONVERT_CONVERT_H_
