// `redouble record`: writes what the clients of a live Redis do as a scenario.
//
// The source is a server, which is asked for MONITOR, or a file of MONITOR's lines. A server is
// read until the time or the number of commands given on the command line, or until it is
// interrupted.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_RECORD_RECORD_H_
#define REDOUBLE_SIM_CLI_RECORD_RECORD_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// As Subcommand::add. Exit codes: 0, 1 if the source or the file fails, 2 for bad usage.
std::function<int()> AddRecord(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_RECORD_RECORD_H_
