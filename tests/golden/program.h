// The golden runner as a function: parses a command line, replays goldens and prints the results.
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

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::golden {

// Runs the program with `arguments`, without the program's name. Prints a line for each file, below
// it the first difference of each mode, and `N passed, N failed` at the end. A file fails if a mode
// fails or if it is not a golden of the system. It passes if a mode passed and none failed. A file
// of which every mode was skipped is not counted. Returns 0 if nothing failed and something passed,
// 1 if a file failed or none passed, 2 for bad usage, which includes a missing path and a folder
// without goldens.
int RunGoldens(std::vector<std::string> arguments, const sim::ProgramContext& context);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_PROGRAM_H_
