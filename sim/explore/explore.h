// Explore: runs a small simulated system under many schedules, and shrinks the first failure it
// finds.
//
// Use it to test that an invariant holds whatever the interleaving of the actors' commands.
//
//   // Two clients increment a counter with GET and SET.
//   const sim::Exploration found = sim::Explore([](sim::World& world) {
//     world.Spawn("a", AddOneUnsafely);
//     world.Spawn("b", AddOneUnsafely);
//     world.AddFinalInvariant("both count", [&world] { return ExpectCount(world, "2"); });
//   });
//   // found.violation->decisions: one preemption, between a's GET and its SET.
//
// An experiment is a function that fills a new world. It is called once per run and must do the
// same each time, apart from what depends on the world's seed. A run that does not end with kDone
// (it is stuck, or it took too many steps) violates the invariant "ends".
//
// Thread-safety: one thread; several processes can explore different seeds
// (sim/cli/explore/explore.h).
#ifndef REDOUBLE_SIM_EXPLORE_EXPLORE_H_
#define REDOUBLE_SIM_EXPLORE_EXPLORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/world/world.h"

namespace redouble::sim {

// Sets up a world and spawns its actors.
using Experiment = std::function<void(World&)>;

// How the schedules of an exploration are chosen.
enum class Strategy {
  kMixed,       // Alternates between kUniform and PCT with one to three preemptions.
  kUniform,     // Random decisions (RandomDecisions).
  kExhaustive,  // Enumerates all schedules; the seed does not affect them.
};

struct ExploreOptions {
  // The options of every run's world; `world.seed` and `world.decisions` are ignored.
  WorldOptions world = {};
  RunLimits limits = {.max_steps = 10'000};
  Strategy strategy = Strategy::kMixed;
  // Swarm testing: each run draws which of the faults are enabled and how often they happen. If
  // false, every run has all faults.
  bool swarm = false;
  // Runs use the seeds first_seed, first_seed + 1, ...
  uint64_t first_seed = 1;
  // The maximum number of runs.
  int64_t schedules = 20'000;
  // Stops at the first violation; if false, counts all violations.
  bool stop_at_first = true;
  // The maximum number of runs for shrinking.
  int64_t shrinking_runs = 5'000;
};

// A failing run. It can be repeated with the same experiment, options, seed and decisions.
struct Violation {
  uint64_t seed;
  std::vector<uint32_t> decisions;
  absl::Status status;  // "invariant: message".
  std::string trace_hash;
  int64_t steps;
};

struct Exploration {
  int64_t schedules = 0;   // The number of runs, not counting those of shrinking.
  int64_t violations = 0;  // At most 1 with stop_at_first.
  // The number of runs up to and including the first violation.
  int64_t schedules_to_first = 0;
  std::optional<Violation> violation;  // The first violation, shrunk.
  // With kExhaustive: all schedules were run.
  bool complete = false;
  // By probe name, the number of runs that reached it. A probe that no run reached means that the
  // experiment does not test what it should.
  std::map<std::string, int64_t> probes;
};

// Runs the experiment until a violation is found or the schedules are used up, and shrinks the
// first violation. Deterministic.
Exploration Explore(const Experiment& experiment, const ExploreOptions& options = {});

// The outcome of one run.
struct RunOutcome {
  absl::Status violation;  // OK if no invariant was violated.
  std::vector<uint32_t> decisions;
  std::string trace_hash;
  int64_t steps = 0;
  int64_t commands = 0;
  std::map<std::string, bool> probes;  // By name, whether the run reached it.
};

// Returns the options of one run's world: its seed, and its faults after the swarm's draw.
// `decisions` must outlive the world.
WorldOptions WorldOptionsOf(const ExploreOptions& options, uint64_t seed,
                            DecisionSource& decisions);
// Runs the experiment once with this seed and these decisions.
RunOutcome RunOnce(const Experiment& experiment, const ExploreOptions& options, uint64_t seed,
                   DecisionSource& decisions);
// Like RunOnce, with recorded decisions. `trace_listener` is called with each line of the trace.
RunOutcome Replay(const Experiment& experiment, const ExploreOptions& options, uint64_t seed,
                  const std::vector<uint32_t>& decisions,
                  std::function<void(std::string_view)> trace_listener = {});

// Returns a violation of the same invariant with fewer decisions that differ from the default:
// fewer preemptions, fewer faults, a shorter run.
Violation Shrink(const Experiment& experiment, const ExploreOptions& options, Violation violation);

// Returns the name of the violated invariant: the text before the colon.
std::string_view BrokenInvariant(const absl::Status& violation);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_EXPLORE_EXPLORE_H_
