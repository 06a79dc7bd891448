// The storm of the 3scale backend: reports, authrep requests, workers and a consumer of events.
//
// Listeners accept reports and authrep requests of two applications, most of them of one; workers
// run the jobs, and repeat the ones that fail; system consumes the events. A hardened run has all
// options of Hardening.
//
// Thread-safety: a free function.
// Source: docs/systems/threescale.md 8.
#ifndef REDOUBLE_SIM_STORM_THREESCALE_THREESCALE_STORM_H_
#define REDOUBLE_SIM_STORM_THREESCALE_THREESCALE_STORM_H_

#include "redouble/sim/storm/storm.h"

namespace redouble::inline v0_1::sim {

StormSystem ThreescaleStorm();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_THREESCALE_THREESCALE_STORM_H_
