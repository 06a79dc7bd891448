// `redouble replay`: runs scenario files on the memory engine or on live Redis, and says which
// passed.
//
// One line per scenario: PASS or FAIL, the file, the virtual time it began at and how long it
// lasted, commands, wall time and trace hash. A scenario that fails is followed by the place, the
// expected and the got. All files are read before the first runs: one that is malformed ends the
// program with exit code 2 and nothing run.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_REPLAY_H_
#define REDOUBLE_SIM_CLI_REPLAY_H_

#include <functional>

#include "sim/cli/subcommand.h"

namespace redouble::sim {

// As Subcommand::add.
std::function<int()> AddReplay(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_REPLAY_H_
