// The systems that the program knows: those of this project, and those that a program of one's own
// adds.
//
//   Systems systems;
//   absl::Status added = systems.Add({"shop", ShopOperations(), ShopRules()});
//
// To add a system to this project, write its operations in sim/operations and its key families in
// core, and add a line for each in systems.cc.
//
// Thread-safety: free functions; const use of Systems is safe from any thread.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_SYSTEMS_H_
#define REDOUBLE_SIM_CLI_SUPPORT_SYSTEMS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_rules.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::sim {

// Returns the operations of each system of this project, built once and valid until the program
// ends.
const SystemTable& AllSystems();

// Returns the key families of all systems of this project in one layout, grouped by system. A
// system without a cluster layout has its documented keys in both.
std::vector<store::KeyFamily> AllKeyFamilies(
    store::KeyLayout layout = store::KeyLayout::kDocumented);

// Returns the key rules of all systems in one layout, in the same order.
std::vector<store::KeyRules> AllKeyRules(store::KeyLayout layout = store::KeyLayout::kDocumented);

// A system of one's own.
struct System {
  std::string name;  // In files: "system": "shop".
  OperationTable operations = {};
  // Its key families and rules, whose rows must outlive Systems; a RulesFile
  // (sim/inspect/rules_file.h) has them as well.
  store::KeyRules rules = {};
};

class Systems {
 public:
  // The systems of this project, and "programs" (sim/cli/programs/program_operations.h).
  Systems();

  // Errors: InvalidArgument if the name is empty or taken.
  absl::Status Add(System system);

  const SystemTable& operations() const { return operations_; }
  // The families and rules of all systems in one layout; those that were added come first, and are
  // the same in every layout.
  std::vector<store::KeyFamily> KeyFamilies(store::KeyLayout layout) const;
  std::vector<store::KeyRules> KeyRules(store::KeyLayout layout) const;

 private:
  SystemTable operations_;
  std::vector<store::KeyRules> added_;
};

// The systems of this project alone.
const Systems& BuiltInSystems();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_SYSTEMS_H_
