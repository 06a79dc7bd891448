// RunMain: the main function of `redouble`, for a program of one's own.
//
// Such a program replays, explores and inspects files whose operations are the user's C++, beside
// everything else that `redouble` does:
//
//   #include "redouble/program.h"
//
//   int main(int argc, char** argv) {
//     redouble::sim::Systems systems;
//     const absl::Status added = systems.Add({"shop", ShopOperations(), ShopRules()});
//     if (!added.ok()) return std::cerr << added << "\n", 1;
//     return redouble::sim::RunMain(argc, argv, systems);
//   }
//
//   ./shop explore checkout.world.json      # "system": "shop" in the file
//
// sim/operations/operation.h shows how an operation is written.
//
// Thread-safety: one thread, once in a process.
#ifndef REDOUBLE_SIM_CLI_MAIN_FUNCTION_H_
#define REDOUBLE_SIM_CLI_MAIN_FUNCTION_H_

#include "redouble/sim/cli/support/systems.h"

namespace redouble::inline v0_1::sim {

// Runs the program with the arguments and the streams of the process, and returns its exit code.
int RunMain(int argc, char** argv, const Systems& systems = BuiltInSystems());

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_MAIN_FUNCTION_H_
