// How the actors and the setup of a world file run their steps, and what they record for the
// invariants.
//
// Used by WorldExperiment (sim/world_file/world_experiment.h).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_FILE_ACTOR_RUN_H_
#define REDOUBLE_SIM_WORLD_FILE_ACTOR_RUN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "redouble/core/base/task/task.h"
#include "redouble/sim/world/world.h"
#include "redouble/sim/world_file/invariant.h"
#include "redouble/sim/world_file/world_step.h"

namespace redouble::inline v0_1::sim {

// The state of one run.
struct RunState {
  World& world;
  // The text of each error reply that a fault may give.
  std::vector<std::string> fault_errors;
  // The single-key commands are recorded in `observed.history`.
  bool has_history;
  Observations observed = {};
};

// Runs the steps of an actor. All arguments must outlive the task.
base::Task<void> RunActor(Actor& actor, const std::vector<WorldStep>& steps, RunState& state);

// Runs the steps of the setup on a connection of its own. Errors: InvalidArgument if a step fails.
absl::Status SetUp(const std::vector<WorldStep>& steps, RunState& state);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_FILE_ACTOR_RUN_H_
