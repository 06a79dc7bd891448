// WorldExperiment: turns a world file into an experiment that Explore can run.
//
// Use it to explore a world file, in its documented or in its hardened variant, and to shrink the
// file to the steps, actors and faults that a violation needs.
//
//   const sim::WorldExperiment experiment(world, {.hardened = false});
//   const sim::Exploration found = sim::Explore(experiment.experiment(), experiment.Options());
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_FILE_WORLD_EXPERIMENT_H_
#define REDOUBLE_SIM_WORLD_FILE_WORLD_EXPERIMENT_H_

#include <memory>
#include <vector>

#include "redouble/sim/explore/explore.h"
#include "redouble/sim/world_file/actor_run.h"
#include "redouble/sim/world_file/world_file.h"

namespace redouble::inline v0_1::sim {

// Which variant of a world file is run.
struct WorldVariant {
  // Runs the operations with the options that remove the hazard.
  bool hardened = false;
  // ExploreOptions::swarm.
  bool swarm = false;
};

class WorldExperiment {
 public:
  // `world` must outlive the experiment. If an invariant is "serializable", the constructor
  // computes the serial states: one run for each order of the actors.
  WorldExperiment(const WorldFile& world, WorldVariant variant);

  // Returns a function that fills a world with the file's setup, actors and invariants. What is
  // wrong in the file ends a run with a mistake: a setup step that fails, arguments that an
  // operation rejects, an error reply to a command (unless the step has "may_fail", or a fault gave
  // it) or to a command of an invariant.
  Experiment experiment() const;
  // Returns `options` with the start, faults and swarm of the file and the variant.
  ExploreOptions Options(ExploreOptions options = {}) const;

 private:
  void AddInvariant(World& world, const std::shared_ptr<RunState>& state,
                    const std::shared_ptr<const WorldInvariant>& invariant) const;
  void HardenActors();
  void ComputeSerialStates();

  const WorldFile& world_;
  const WorldVariant variant_;
  std::vector<WorldActor> actors_;  // The actors with the arguments of the variant.
  std::vector<WorldStep> setup_;
  std::vector<Json> serial_states_;
};

// Returns the violation in the form in which a world file stores it.
RecordedViolation Record(const Violation& violation, WorldVariant variant);

// Returns true if a shrunk violation has the cause of another one: the same invariant, the same
// faults, and no other conflicts.
bool HasSameCause(const Violation& violation, const Cause& cause);

// Shrinks the file: removes steps, actors and faults as long as the invariant still breaks by the
// same cause within `schedules` schedules, and still holds in some run without faults. Returns the
// smallest file found; returns the file itself if nothing can be removed.
WorldFile ShrinkWorld(const WorldFile& world, WorldVariant variant, const Cause& cause,
                      int64_t schedules, const SystemTable& systems);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_FILE_WORLD_EXPERIMENT_H_
