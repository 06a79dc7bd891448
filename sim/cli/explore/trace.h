// `redouble trace diff`: prints the first event in which two traces differ.
//
// A trace is a file of JSON lines (sim/trace/trace.h), written by `redouble replay --trace`. Equal
// runs have equal traces, so the first difference is where two builds or two seeds part.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_EXPLORE_TRACE_H_
#define REDOUBLE_SIM_CLI_EXPLORE_TRACE_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// As Subcommand::add. Exit codes: 0 equal, 1 different, 2 bad usage or a file that is not a trace.
std::function<int()> AddTrace(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_EXPLORE_TRACE_H_
