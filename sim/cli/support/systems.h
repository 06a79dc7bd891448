// The list of the systems that the program knows.
//
// To add a system, write its operations in sim/operations and its key families in core, and add a
// line for each here.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_SYSTEMS_H_
#define REDOUBLE_SIM_CLI_SUPPORT_SYSTEMS_H_

#include <vector>

#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_rules.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::sim {

// Returns the operations of each system, built once and valid until the program ends.
const SystemTable& AllSystems();

// Returns the key families of all systems, grouped by system.
std::vector<store::KeyFamily> AllKeyFamilies();

// Returns the key rules of all systems, in the same order. The orchestrator has two key formats; a
// deployment uses one of them.
std::vector<store::KeyRules> AllKeyRules(bool hash_tagged);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_SYSTEMS_H_
