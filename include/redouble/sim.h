// The simulator: worlds of actors, faults, schedule exploration and scenario files.
//
//   auto experiment = [](sim::World& world) { world.Spawn("a", TransferOnce); };
//   const sim::Exploration result = sim::Explore(experiment);
//
// docs/finding_a_race.md is the tutorial.
//
// Thread-safety: one thread for each world.
#ifndef REDOUBLE_SIM_H_
#define REDOUBLE_SIM_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/sim/check/history.h"
#include "redouble/sim/check/linearizability.h"
#include "redouble/sim/check/properties.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/explore/parallel/explore_in_processes.h"
#include "redouble/sim/explore/strategies.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/fault/faulty_store.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/sim/scenario/runner.h"
#include "redouble/sim/scenario/scenario.h"
#include "redouble/sim/trace/trace.h"
#include "redouble/sim/world/connection.h"
#include "redouble/sim/world/journal.h"
#include "redouble/sim/world/world.h"
#include "redouble/sim/world_file/world_experiment.h"
#include "redouble/sim/world_file/world_file.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_SIM_H_
