#include "redouble/sim/cli/support/systems.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/gateway/key_rules.h"
#include "redouble/core/korvet/key_rules.h"
#include "redouble/core/orchestrator/key_rules.h"
#include "redouble/core/relayna/key_rules.h"
#include "redouble/core/studio/key_rules.h"
#include "redouble/core/threescale/key_rules.h"
#include "redouble/sim/cli/programs/program_operations.h"
#include "redouble/sim/operations/gateway/gateway_operations.h"
#include "redouble/sim/operations/korvet/korvet_operations.h"
#include "redouble/sim/operations/orchestrator/orchestrator_operations.h"
#include "redouble/sim/operations/relayna/relayna_operations.h"
#include "redouble/sim/operations/studio/studio_operations.h"
#include "redouble/sim/operations/threescale/threescale_operations.h"

namespace redouble::inline v0_1::sim {

const SystemTable& AllSystems() {
  static const SystemTable* const systems =
      new SystemTable{{"gateway", scenarios::GatewayOperations()},
                      {"korvet", scenarios::KorvetOperations()},
                      {"orchestrator", scenarios::OrchestratorOperations()},
                      {"relayna", scenarios::RelaynaOperations()},
                      {"studio", scenarios::StudioOperations()},
                      {"threescale", scenarios::ThreescaleOperations()}};
  return *systems;
}

std::vector<store::KeyFamily> AllKeyFamilies(store::KeyLayout layout) {
  return BuiltInSystems().KeyFamilies(layout);
}

std::vector<store::KeyRules> AllKeyRules(store::KeyLayout layout) {
  return {gateway::KeyRules(layout), korvet::KeyRules(layout), orchestrator::KeyRules(layout),
          relayna::KeyRules(layout), studio::KeyRules(layout), threescale::KeyRules(layout)};
}

Systems::Systems() : operations_(AllSystems()) {
  operations_.emplace(kProgramSystem, ProgramOperations());
}

absl::Status Systems::Add(System system) {
  if (system.name.empty()) return absl::InvalidArgumentError("a system needs a name");
  const auto [added, is_new] = operations_.try_emplace(system.name, std::move(system.operations));
  if (!is_new) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is a system \"", system.name, "\" already"));
  }
  if (!system.rules.families.empty()) added_.push_back(system.rules);
  return absl::OkStatus();
}

std::vector<store::KeyFamily> Systems::KeyFamilies(store::KeyLayout layout) const {
  std::vector<store::KeyFamily> families;
  for (const store::KeyRules& rules : KeyRules(layout)) {
    families.insert(families.end(), rules.families.begin(), rules.families.end());
  }
  return families;
}

std::vector<store::KeyRules> Systems::KeyRules(store::KeyLayout layout) const {
  std::vector<store::KeyRules> rules = added_;
  for (const store::KeyRules& built_in : AllKeyRules(layout)) rules.push_back(built_in);
  return rules;
}

const Systems& BuiltInSystems() {
  static const Systems& systems = *new Systems();
  return systems;
}

}  // namespace redouble::inline v0_1::sim
