// The systems that the program knows: the one place that names them all.
//
// Adding a system: its operations in scenarios/operations, its families in core, a line each here.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_CLI_SYSTEMS_H_
#define REDOUBLE_SIM_CLI_SYSTEMS_H_

#include <vector>

#include "core/store/key_family.h"
#include "core/store/key_rules.h"
#include "sim/scenario/operation.h"

namespace redouble::sim {

// The operations of each system, built once; valid for ever.
const SystemTable& AllSystems();

// The key families of all systems, a system after the other.
std::vector<store::KeyFamily> AllKeyFamilies();

// The rules of all systems' keys, in the same order. The orchestrator has two forms of keys, of
// which a deployment chooses one.
std::vector<store::KeyRules> AllKeyRules(bool hash_tagged);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_SYSTEMS_H_
