// Lists and reads the scenario files in the runfiles of a test.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SCENARIOS_LISTING_H_
#define REDOUBLE_SCENARIOS_LISTING_H_

#include <string>
#include <vector>

#include "redouble/sim/scenario/scenario.h"

namespace redouble::inline v0_1::scenarios {

// Returns the names of all scenario files ("scenarios/gateway/x.json"), as `redouble replay`
// without arguments finds them. Without any, the test fails, or the program ends before the first
// test.
std::vector<std::string> AllScenarioNames();

// Returns the names of all worlds ("scenarios/hazards/gateway/x.world.json").
std::vector<std::string> AllWorldNames();

// Reads a scenario. If it is malformed, the test fails and the result is an empty scenario.
sim::Scenario ReadScenario(const std::string& name);

// Returns the bytes of a file below the root of the workspace.
std::string ReadSource(const std::string& name);

// Returns a name for a test case: only letters, digits and underscores.
std::string CaseName(const std::string& name);

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SCENARIOS_LISTING_H_
