#include "redouble/sim/cli/storm/storm_systems.h"

#include "redouble/sim/storm/gateway/gateway_storm.h"
#include "redouble/sim/storm/korvet/korvet_storm.h"

namespace redouble::sim {

std::vector<StormSystem> AllStorms() { return {GatewayStorm(), KorvetStorm()}; }

}  // namespace redouble::sim
