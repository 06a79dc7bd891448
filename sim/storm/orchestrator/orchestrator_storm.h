// The storm of the orchestrator: workflow runs from their start to their recorded result.
//
// Starters start runs, and some of them twice; workers execute tokens, a few of them for minutes;
// coordinators process signals; approvers decide; services, which run until the end, sweep,
// recover, reclaim and deliver again, and handle what is left; an operator recovers signals of
// coordinators that are alive, and cancels runs. A hardened run has all options of Hardening. One
// that is not takes signals as the original documents do, without reliable_pop, which is on by
// default.
//
// Thread-safety: a free function.
// Source: docs/systems/orchestrator.md 5 and 7.
#ifndef REDOUBLE_SIM_STORM_ORCHESTRATOR_ORCHESTRATOR_STORM_H_
#define REDOUBLE_SIM_STORM_ORCHESTRATOR_ORCHESTRATOR_STORM_H_

#include <cstdint>

#include "redouble/sim/storm/storm.h"

namespace redouble::inline v0_1::sim {

// The shards of the queues in the cluster layout.
inline constexpr int64_t kClusterQueueShards = 6;

StormSystem OrchestratorStorm();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_ORCHESTRATOR_ORCHESTRATOR_STORM_H_
