#include "redouble/sim/cli/storm/storm_systems.h"

#include "redouble/sim/storm/gateway/gateway_storm.h"

namespace redouble::sim {

std::vector<StormSystem> AllStorms() { return {GatewayStorm()}; }

}  // namespace redouble::sim
