// The storm of the gateway: requests with budgets, rate limits and reservations.
//
// Gateways admit and settle requests of a few virtual keys, most of them of one; clients go away
// and have their requests settled a second time; an operator corrects the spend. The day and the
// month end during the run. A hardened run has all options of Hardening, and sweeps.
//
// Thread-safety: a free function.
// Source: docs/systems/gateway.md 7.
#ifndef REDOUBLE_SIM_STORM_GATEWAY_GATEWAY_STORM_H_
#define REDOUBLE_SIM_STORM_GATEWAY_GATEWAY_STORM_H_

#include "redouble/sim/storm/storm.h"

namespace redouble::inline v0_1::sim {

StormSystem GatewayStorm();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_GATEWAY_GATEWAY_STORM_H_
