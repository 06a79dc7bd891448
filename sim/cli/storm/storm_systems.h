// The systems that have a storm. The program and the generated tables of promises read this list.
//
// To add one, write it in sim/storm/SYSTEM, add a row here, and add the markers of the table to the
// page of the system.
//
// Thread-safety: a free function.
#ifndef REDOUBLE_SIM_CLI_STORM_STORM_SYSTEMS_H_
#define REDOUBLE_SIM_CLI_STORM_STORM_SYSTEMS_H_

#include <vector>

#include "redouble/sim/storm/storm.h"

namespace redouble::inline v0_1::sim {

// Returns the storms of all systems, in the order of their names.
std::vector<StormSystem> AllStorms();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_STORM_STORM_SYSTEMS_H_
