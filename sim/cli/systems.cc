#include "sim/cli/systems.h"

#include "core/gateway/key_rules.h"
#include "core/korvet/key_rules.h"
#include "core/orchestrator/key_rules.h"
#include "core/relayna/key_rules.h"
#include "core/studio/key_rules.h"
#include "core/threescale/key_rules.h"
#include "scenarios/operations/gateway_operations.h"
#include "scenarios/operations/korvet_operations.h"
#include "scenarios/operations/orchestrator_operations.h"
#include "scenarios/operations/relayna_operations.h"
#include "scenarios/operations/studio_operations.h"
#include "scenarios/operations/threescale_operations.h"

namespace redouble::sim {

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

std::vector<store::KeyFamily> AllKeyFamilies() {
  std::vector<store::KeyFamily> families;
  for (const store::KeyRules& rules : AllKeyRules(/*hash_tagged=*/false)) {
    families.insert(families.end(), rules.families.begin(), rules.families.end());
  }
  return families;
}

std::vector<store::KeyRules> AllKeyRules(bool hash_tagged) {
  const orchestrator::KeyForm form =
      hash_tagged ? orchestrator::KeyForm::kHashTagged : orchestrator::KeyForm::kPlain;
  return {gateway::KeyRules(), korvet::KeyRules(), orchestrator::KeyRules(form),
          relayna::KeyRules(), studio::KeyRules(), threescale::KeyRules()};
}

}  // namespace redouble::sim
