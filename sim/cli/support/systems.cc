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

std::vector<store::KeyFamily> AllKeyFamilies(store::KeyLayout layout) {
  std::vector<store::KeyFamily> families;
  for (const store::KeyRules& rules : AllKeyRules(layout)) {
    families.insert(families.end(), rules.families.begin(), rules.families.end());
  }
  return families;
}

std::vector<store::KeyRules> AllKeyRules(store::KeyLayout layout) {
  return {gateway::KeyRules(layout), korvet::KeyRules(), orchestrator::KeyRules(layout),
          relayna::KeyRules(layout), studio::KeyRules(), threescale::KeyRules(layout)};
}

}  // namespace redouble::sim
