// The storm of Relayna: status events, the feed of a service, and workflow contracts.
//
// Workers write events of a few tasks, most of them of one, and write them again; a reader reads
// the feed page by page; consumers acquire a contract, handle it and let it go. A hardened run has
// all options of Hardening.
//
// Thread-safety: a free function.
// Source: docs/systems/relayna.md 8.
#ifndef REDOUBLE_SIM_STORM_RELAYNA_RELAYNA_STORM_H_
#define REDOUBLE_SIM_STORM_RELAYNA_RELAYNA_STORM_H_

#include "redouble/sim/storm/storm.h"

namespace redouble::inline v0_1::sim {

StormSystem RelaynaStorm();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_RELAYNA_RELAYNA_STORM_H_
