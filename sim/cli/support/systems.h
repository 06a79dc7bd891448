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
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_rules.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::sim {

// Returns the operations of each system, built once and valid until the program ends.
const SystemTable& AllSystems();

// Returns the key families of all systems in one layout, grouped by system. A system without a
// cluster layout has its documented keys in both.
std::vector<store::KeyFamily> AllKeyFamilies(
    store::KeyLayout layout = store::KeyLayout::kDocumented);

// Returns the key rules of all systems in one layout, in the same order.
std::vector<store::KeyRules> AllKeyRules(store::KeyLayout layout = store::KeyLayout::kDocumented);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_SYSTEMS_H_
