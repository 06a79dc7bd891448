// WorldSurvey: how often, and with how little, the schedules of a world file break an invariant.
//
// A world of the catalogue is a race only if some of its schedules break an invariant and others do
// not. A survey runs three fixed sets of schedules, so that the answer is the same on every
// machine: random ones, all orders of the actors one after another, and those with the fewest
// preemptions and faults. It also counts the schedules of the world, if they are few.
//
//   const WorldSurvey survey = SurveyWorld(world, {.hardened = false});
//   // survey.random_failing of survey.random_schedules break an invariant.
//
// Thread-safety: free functions and values.
#ifndef REDOUBLE_SIM_WORLD_FILE_WORLD_SURVEY_H_
#define REDOUBLE_SIM_WORLD_FILE_WORLD_SURVEY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "redouble/sim/world_file/world_experiment.h"
#include "redouble/sim/world_file/world_file.h"

namespace redouble::inline v0_1::sim {

// The maximum numbers of schedules of each set.
struct SurveyLimits {
  int64_t random = 300;
  // By rising number of preemptions and faults. The search ends at the first that breaks an
  // invariant, unless `all` is not enough for all schedules.
  int64_t bounded = 3'000;
  // All schedules, apart from equivalent ones; 0: they are not counted.
  int64_t all = 3'000;
};

struct WorldSurvey {
  // Uniform random decisions with the seeds 1, 2, ...
  int64_t random_schedules = 0;
  int64_t random_failing = 0;
  // The orders of the actors without a drawn fault.
  int64_t serial_orders = 0;
  int64_t serial_failing = 0;
  // The fewest preemptions and faults with which a schedule breaks an invariant; nullopt if none
  // was found. Faults with probability 1 and switches at the end of an actor do not count.
  std::optional<int> fewest = {};
  // Set if all schedules were run, apart from equivalent ones and those with more than three
  // faults: how many there are, and how many of them break an invariant.
  bool complete = false;
  int64_t schedules = 0;
  int64_t failing = 0;
  // If not complete: all schedules with up to so many preemptions and faults were run; -1 if none.
  int complete_bound = -1;
  // A schedule of any set kept all invariants.
  bool some_pass = false;
  // Not OK if the world is wrong (World::ReportMistake); the rest is then of no use.
  absl::Status mistake = {};

  bool some_fail() const { return fewest.has_value() || random_failing > 0 || serial_failing > 0; }
};

// Deterministic. Cost: as many runs as the limits allow, and n! for n actors.
WorldSurvey SurveyWorld(const WorldFile& world, WorldVariant variant, SurveyLimits limits = {});

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_FILE_WORLD_SURVEY_H_
