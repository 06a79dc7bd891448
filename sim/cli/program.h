// The `redouble` program as a function, so that tests can run it.
//
//   std::ostringstream out, err;
//   const ProgramContext context{out, err, "/work", {"/work"}};
//   RunProgram({"replay", "scenarios/gateway"}, context);  // 0: all passed
//
// main_function.h has the function for a program of one's own.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_PROGRAM_H_
#define REDOUBLE_SIM_CLI_PROGRAM_H_

#include <string>
#include <vector>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// Runs the program with `arguments`, without the program's name; returns the exit code
// (subcommand.h). Does not throw.
int RunProgram(std::vector<std::string> arguments, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_PROGRAM_H_
