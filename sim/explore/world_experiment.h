// WorldExperiment: runs a world file.
//
//   const sim::WorldExperiment experiment(world, {.hardened = false});
//   const sim::Exploration found = sim::Explore(experiment.experiment(), experiment.options());
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_EXPLORE_WORLD_EXPERIMENT_H_
#define REDOUBLE_SIM_EXPLORE_WORLD_EXPERIMENT_H_

#include <memory>
#include <vector>

#include "sim/explore/explore.h"
#include "sim/explore/world_file.h"

namespace redouble::sim {

struct WorldVariant {
  // With the options that remove the hazard.
  bool hardened = false;
  // Each run draws its faults.
  bool swarm = false;
};

class WorldExperiment {
 public:
  // `world` must outlive the experiment. Its serial states, if an invariant needs them, are
  // computed now: as many runs as there are orders of its actors.
  WorldExperiment(const WorldFile& world, WorldVariant variant);

  // Fills a world with the file's set-up, actors and invariants. A step of the set-up that fails,
  // and arguments that an operation does not take, break the invariant "setup".
  Experiment experiment() const;
  // Start, faults and swarm as the file and the variant say; the rest as `options`.
  ExploreOptions Options(ExploreOptions options = {}) const;

 private:
  void HardenActors();
  void ComputeSerialStates();

  const WorldFile& world_;
  const WorldVariant variant_;
  std::vector<WorldActor> actors_;  // With what the variant adds to their arguments.
  std::vector<Step> setup_;
  std::vector<Json> serial_states_;
};

// The violation of the variant as the file keeps it.
RecordedViolation Record(const Violation& violation, WorldVariant variant);

// Shrinks the file itself: leaves out steps, actors and faults without which the same invariant
// still breaks within `schedules` schedules, and without which it still could hold. Returns the
// smallest file found, which is the file itself when nothing can go.
WorldFile ShrinkWorld(const WorldFile& world, WorldVariant variant, std::string_view invariant,
                      int64_t schedules, const SystemTable& systems);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_EXPLORE_WORLD_EXPERIMENT_H_
