// The storm of Studio: the registry of services, their events and the search index.
//
// Operators create, change, refresh and delete services that share a few URLs, most of them one;
// pushers push events of their tasks; a checker refreshes their health and prunes the index. A
// hardened run has all options of Hardening.
//
// Thread-safety: a free function.
// Source: docs/systems/studio.md 5 and 7.
#ifndef REDOUBLE_SIM_STORM_STUDIO_STUDIO_STORM_H_
#define REDOUBLE_SIM_STORM_STUDIO_STUDIO_STORM_H_

#include "redouble/sim/storm/storm.h"

namespace redouble::inline v0_1::sim {

StormSystem StudioStorm();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_STUDIO_STUDIO_STORM_H_
