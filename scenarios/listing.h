// The scenario files as a test finds them in its runfiles.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SCENARIOS_LISTING_H_
#define REDOUBLE_SCENARIOS_LISTING_H_

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace redouble::scenarios {

// The names of all scenario files ("scenarios/gateway/x.json"), as `redouble replay` without
// arguments finds them. Fails the test, or ends the program before it begins, when there are none.
std::vector<std::string> AllScenarioNames();

// The names of all worlds ("scenarios/hazards/gateway/x.world.json").
std::vector<std::string> AllWorldNames();

// Reads one of the scenarios. Fails the test and gives an empty scenario when it is malformed.
sim::Scenario ReadScenario(const std::string& name);

// The bytes of a file below the workspace's root.
std::string ReadSource(const std::string& name);

// A name for a test case: only letters, digits and underscores.
std::string CaseName(const std::string& name);

}  // namespace redouble::scenarios

#endif  // REDOUBLE_SCENARIOS_LISTING_H_
