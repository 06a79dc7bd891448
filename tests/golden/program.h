// The golden runner as a function: reads a command line, replays goldens, prints what came of them.
//
//   bazel run //tests/golden:run -- --system gateway /path/to/goldens another.json
//
// README.md beside this file describes the command and its rules.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_GOLDEN_PROGRAM_H_
#define REDOUBLE_TESTS_GOLDEN_PROGRAM_H_

#include <string>
#include <vector>

#include "sim/cli/subcommand.h"

namespace redouble::golden {

// Runs the program with the arguments behind its name. Prints a line per file, with the first
// difference of each mode below it, and `N passed, N failed` at the end. A file fails when a mode
// fails or when it is no golden of the system; it passes when a mode passed and none failed; one of
// which every mode was skipped is neither.
// Gives 0 when nothing failed and something passed, 1 when a file failed or none passed, 2 for bad
// usage, which a missing path and a folder without goldens are.
int RunGoldens(std::vector<std::string> arguments, const sim::ProgramContext& context);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_PROGRAM_H_
