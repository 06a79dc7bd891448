// `redouble replay`: runs scenario files on the memory engine or on live Redis and reports which
// passed.
//
// It prints one line for each scenario: PASS or FAIL, the file, the virtual start time and
// duration, the number of commands, the wall time and the trace hash; for a failure also the place,
// the expected and the actual value. All files are read before the first runs: after an error in
// any of them nothing runs and the exit code is 2.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_REPLAY_REPLAY_H_
#define REDOUBLE_SIM_CLI_REPLAY_REPLAY_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// As Subcommand::add.
std::function<int()> AddReplay(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_REPLAY_REPLAY_H_
