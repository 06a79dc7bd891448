// Explore: runs a small simulated system under many schedules, and shrinks what goes wrong.
//
//   // Two clients add one to a counter by GET and SET.
//   const sim::Exploration found = sim::Explore([](sim::World& world) {
//     world.Spawn("a", AddOneUnsafely);
//     world.Spawn("b", AddOneUnsafely);
//     world.AddFinalInvariant("both count", [&world] { return ExpectCount(world, "2"); });
//   });
//   // found.violation->decisions: one preemption, between a's GET and its SET.
//
// An experiment is a function that fills a new world; it is called once per run and must do the
// same each time, apart from what the world's seed decides. A run that ends without having come to
// its end (stuck, or too many steps) violates the invariant "ends".
//
// Thread-safety: one thread; several processes explore different seeds (sim/cli/explore.h).
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
#include "sim/world/decisions.h"
#include "sim/world/world.h"

namespace redouble::sim {

// Sets a world up and spawns its actors.
using Experiment = std::function<void(World&)>;

enum class Strategy {
  kMixed,       // Uniform and PCT with one to three preemptions in turn, by the seed.
  kUniform,     // See strategies.h.
  kExhaustive,  // Every schedule; the seed decides nothing about them.
};

struct ExploreOptions {
  // Of every run; its seed and decisions are not used.
  WorldOptions world = {};
  RunLimits limits = {.max_steps = 10'000};
  Strategy strategy = Strategy::kMixed;
  // Each run draws which of the faults it may suffer, and how often; otherwise each has them all.
  bool swarm = false;
  // The seeds are first_seed, first_seed + 1, ...
  uint64_t first_seed = 1;
  // How many runs at most.
  int64_t schedules = 20'000;
  // Ends at the first violation; otherwise all are counted.
  bool stop_at_first = true;
  // How many runs shrinking may take.
  int64_t shrinking_runs = 5'000;
};

// A run that can be repeated: the same experiment, options, seed and decisions.
struct Violation {
  uint64_t seed;
  std::vector<uint32_t> decisions;
  absl::Status status;  // "invariant: what is wrong".
  std::string trace_hash;
  int64_t steps;
};

struct Exploration {
  int64_t schedules = 0;   // Runs, without those of shrinking.
  int64_t violations = 0;  // 1 at most with stop_at_first.
  // How many runs it took to the first one, itself included.
  int64_t schedules_to_first = 0;
  std::optional<Violation> violation;  // The first, shrunk.
  // With kExhaustive: there is no other schedule.
  bool complete = false;
  // In how many runs each probe of the world was reached, by name: one that never was says that the
  // experiment does not test what it means to.
  std::map<std::string, int64_t> probes;
};

// Runs the experiment until a violation is found or the schedules are used up; shrinks the first
// violation. Deterministic.
Exploration Explore(const Experiment& experiment, const ExploreOptions& options = {});

// What one run came to.
struct RunOutcome {
  absl::Status violation;  // Ok: none.
  std::vector<uint32_t> decisions;
  std::string trace_hash;
  int64_t steps = 0;
  int64_t commands = 0;
  std::map<std::string, bool> probes;  // Whether each was reached.
};

// The world of one run: its seed, and the faults that it may suffer. `decisions` must outlive it.
WorldOptions WorldOptionsOf(const ExploreOptions& options, uint64_t seed,
                            DecisionSource& decisions);
// Runs the experiment once, with that seed and these decisions.
RunOutcome RunOnce(const Experiment& experiment, const ExploreOptions& options, uint64_t seed,
                   DecisionSource& decisions);
// As above, with recorded decisions; `trace_listener` gets the lines of the trace.
RunOutcome Replay(const Experiment& experiment, const ExploreOptions& options, uint64_t seed,
                  const std::vector<uint32_t>& decisions,
                  std::function<void(std::string_view)> trace_listener = {});

// Makes the decisions as quiet and as few as it can while the same invariant breaks.
Violation Shrink(const Experiment& experiment, const ExploreOptions& options, Violation violation);

// The invariant that a violation broke: what stands before the colon.
std::string_view BrokenInvariant(const absl::Status& violation);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_EXPLORE_EXPLORE_H_
