#include "redouble/sim/cli/storm/storm_systems.h"

#include "redouble/sim/storm/gateway/gateway_storm.h"
#include "redouble/sim/storm/korvet/korvet_storm.h"
#include "redouble/sim/storm/orchestrator/orchestrator_storm.h"
#include "redouble/sim/storm/relayna/relayna_storm.h"
#include "redouble/sim/storm/studio/studio_storm.h"
#include "redouble/sim/storm/threescale/threescale_storm.h"

namespace redouble::inline v0_1::sim {

std::vector<StormSystem> AllStorms() {
  return {GatewayStorm(), KorvetStorm(), OrchestratorStorm(),
          RelaynaStorm(), StudioStorm(), ThreescaleStorm()};
}

}  // namespace redouble::inline v0_1::sim
