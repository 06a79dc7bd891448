// ExploreInProcesses: Explore (sim/explore/explore.h) for long searches, which several processes
// share.
//
//   const absl::StatusOr<sim::Exploration> found =
//       sim::ExploreInProcesses(experiment, {.schedules = 1'000'000}, /*jobs=*/4);
//
// The schedules are divided into parts, and each part is a search of its own. The parts do not
// depend on the number of processes, and so the result does not either, unless
// ExploreOptions::is_over ends the search. Explore has another result: here, strategies that learn
// from earlier runs do so within a part. Of an exhaustive search, the one by rising number of
// preemptions and faults is one part, because it enters no state twice; the one without a bound is
// divided by the beginnings of its schedules (sim/explore/divided.h). With Strategy::kCombined, the
// random schedules are further parts.
//
// The processes are forks of this one: what an experiment changes outside of its world in them is
// lost.
//
// Thread-safety: one thread; no other thread may run when it is called.
#ifndef REDOUBLE_SIM_EXPLORE_PARALLEL_EXPLORE_IN_PROCESSES_H_
#define REDOUBLE_SIM_EXPLORE_PARALLEL_EXPLORE_IN_PROCESSES_H_

#include "absl/status/statusor.h"
#include "redouble/sim/explore/divided.h"
#include "redouble/sim/explore/explore.h"

namespace redouble::inline v0_1::sim {

// Runs at most `jobs` processes at once. The default division suits searches that take longer than
// the start of a process. Errors: Unavailable if a process cannot be created;
// Internal if one dies; InvalidArgument if the violation that was found does not repeat itself.
absl::StatusOr<Exploration> ExploreInProcesses(const Experiment& experiment,
                                               const ExploreOptions& options, int jobs,
                                               const DivisionOptions& division = {});

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_PARALLEL_EXPLORE_IN_PROCESSES_H_
