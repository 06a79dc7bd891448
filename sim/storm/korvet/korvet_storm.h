// The storm of Korvet: a topic that producers write and a group of consumers reads.
//
// Producers write batches, most of them to one partition, some with ids of their own. Consumers
// join, poll, commit, crash and leave. An administrator shortens the retention, deletes the topic
// and creates it again. A hardened run has all options of Hardening.
//
// Thread-safety: a free function.
// Source: docs/systems/korvet.md 8.
#ifndef REDOUBLE_SIM_STORM_KORVET_KORVET_STORM_H_
#define REDOUBLE_SIM_STORM_KORVET_KORVET_STORM_H_

#include "redouble/sim/storm/storm.h"

namespace redouble::inline v0_1::sim {

StormSystem KorvetStorm();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_KORVET_KORVET_STORM_H_
