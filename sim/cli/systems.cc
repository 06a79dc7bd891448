#include "sim/cli/systems.h"

#include "core/gateway/keys.h"
#include "core/korvet/keys.h"
#include "core/orchestrator/keys.h"
#include "core/relayna/keys.h"
#include "core/studio/keys.h"
#include "core/threescale/keys.h"
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
  for (const std::span<const store::KeyFamily> system :
       {gateway::KeyFamilies(), korvet::KeyFamilies(), orchestrator::KeyFamilies(),
        relayna::KeyFamilies(), studio::KeyFamilies(), threescale::KeyFamilies()}) {
    families.insert(families.end(), system.begin(), system.end());
  }
  return families;
}

}  // namespace redouble::sim
