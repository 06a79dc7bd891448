// The JSON in which a child process of `redouble storm` returns its runs: counts of commands,
// faults and checks, the breaches of promises, and the hash of the trace. Only parent and child of
// one program read it.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_CLI_STORM_STORM_JSON_H_
#define REDOUBLE_SIM_CLI_STORM_STORM_JSON_H_

#include "redouble/sim/json/json.h"
#include "redouble/sim/storm/storm_run.h"

namespace redouble::inline v0_1::sim {

Json ToJson(const StormReport& report);
// Requires what ToJson returns.
StormReport ReportFromJson(const Json& json);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_STORM_STORM_JSON_H_
