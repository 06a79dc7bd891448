#include "redouble/sim/cli/support/systems.h"

#include "redouble/core/gateway/key_rules.h"
#include "redouble/core/korvet/key_rules.h"
#include "redouble/core/orchestrator/key_rules.h"
#include "redouble/core/relayna/key_rules.h"
#include "redouble/core/studio/key_rules.h"
#include "redouble/core/threescale/key_rules.h"
#include "redouble/sim/operations/gateway/gateway_operations.h"
#include "redouble/sim/operations/korvet/korvet_operations.h"
#include "redouble/sim/operations/orchestrator/orchestrator_operations.h"
#include "redouble/sim/operations/relayna/relayna_operations.h"
#include "redouble/sim/operations/studio/studio_operations.h"
#include "redouble/sim/operations/threescale/threescale_operations.h"

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
