// A program of one's own: everything that `redouble` does, with the operations of one's own systems
// in scenarios and worlds, and their key families in `inspect`.
//
//   int main(int argc, char** argv) {
//     redouble::sim::Systems systems;
//     const absl::Status added = systems.Add({"shop", ShopOperations()});
//     if (!added.ok()) return std::cerr << added << "\n", 1;
//     return redouble::sim::RunMain(argc, argv, systems);
//   }
//
// tests/consumer/own_program.cc is the whole program, with an operation.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_PROGRAM_H_
#define REDOUBLE_PROGRAM_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/core/base/status/status_macros.h"
#include "redouble/sim/cli/main_function.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/inspect/rules_file.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/operation.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_PROGRAM_H_
