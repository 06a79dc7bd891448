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
// Thread-safety: one thread; several processes can share a search
// (sim/explore/parallel/explore_in_processes.h).
#ifndef REDOUBLE_SIM_EXPLORE_EXPLORE_H_
#define REDOUBLE_SIM_EXPLORE_EXPLORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/explore/cause.h"
#include "redouble/sim/explore/exhaustive.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {

// Sets up a world and spawns its actors.
using Experiment = std::function<void(World&)>;

// How the schedules of an exploration are chosen.
enum class Strategy {
  kCombined,      // kExhaustive for half of the schedules, then kMixed.
  kExhaustive,    // By rising number of preemptions and faults, then all classes of equivalent
                  // schedules.
  kMixed,         // All of the following in turn; the seed decides which.
  kUniform,       // Random decisions (RandomDecisions).
  kWalk,          // All orders of conflicting turns are equally likely (WalkDecisions).
  kPct,           // Few preemptions, as many as the length of the runs allows (PctDecisions).
  kPartialOrder,  // Random priorities of requests (PartialOrderDecisions).
  kMutation,      // Changes earlier runs that showed something new (MutatedDecisions).
};

// A strategy and its name in `redouble explore --strategy`.
struct StrategyName {
  Strategy strategy;
  std::string_view name;
};
// All strategies, in the order of the enum.
std::span<const StrategyName> AllStrategies();

struct ExploreOptions {
  // The options of every run's world; `world.seed` and `world.decisions` are ignored. Explore
  // traces the run that it reports and, unless `trace_listener` or `stop_after` is set, no other
  // one.
  WorldOptions world = {};
  RunLimits limits = {.max_steps = 10'000};
  Strategy strategy = Strategy::kCombined;
  // The most preemptions and faults of a run in the first part of an exhaustive search
  // (BoundedDecisions), and the most faults in the second part, which has no bound on preemptions
  // (ExhaustiveDecisions). Faults with probability 1 do not count.
  int max_bound = 2;
  int max_faults = 3;
  // Swarm testing: each run draws which of the faults are enabled and how often they happen. If
  // false, every run has all faults.
  bool swarm = false;
  // Runs use the seeds first_seed, first_seed + 1, ...
  uint64_t first_seed = 1;
  // The maximum number of runs.
  int64_t schedules = 20'000;
  // Called before each run; ends the search when it returns true. May be empty.
  std::function<bool()> is_over = {};
  // A fault rule that matches no request in the whole search, if the search found no violation, is
  // a mistake of the experiment.
  bool faults_must_match = true;
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
  Cause cause = {};  // Set by Shrink.
};

struct Exploration {
  // The number of runs, not counting those of shrinking. Runs that were ended early, because an
  // equivalent one was done before, count.
  int64_t schedules = 0;
  int64_t violations = 0;  // At most 1 with stop_at_first.
  // The number of runs up to and including the first violation.
  int64_t schedules_to_first = 0;
  std::optional<Violation> violation;  // The first violation, shrunk.
  // With kExhaustive and kCombined: all schedules were run, apart from equivalent ones. If the runs
  // depend on the seed, this is said of the first seed only.
  bool complete = false;
  // The runs depend on the seed by more than the decisions: actors or the server drew random
  // numbers, or `swarm` is set. kCombined tries further seeds then.
  bool depends_on_seed = false;
  // All schedules with up to so many preemptions and faults were run, apart from equivalent ones;
  // -1 if not even those without any.
  int complete_bound = -1;
  // By probe name, the number of runs that reached it. A probe that no run reached means that the
  // experiment does not test what it should.
  std::map<std::string, int64_t> probes;
  // By fault rule, in the order of WorldOptions::faults, how many requests it matched. Empty with
  // `swarm`.
  std::vector<int64_t> fault_matches;
  // Not OK if the experiment itself is wrong, which ends the search: see World::ReportMistake and
  // ExploreOptions::faults_must_match.
  absl::Status mistake;
};

// Returns an error that names the first fault rule without a match; OK if there is none.
absl::Status CheckFaultMatches(const ExploreOptions& options, const Exploration& exploration);

// Runs the experiment until a violation is found or the schedules are used up, and shrinks the
// first violation. Deterministic.
Exploration Explore(const Experiment& experiment, const ExploreOptions& options = {});

// Parts of Explore with Strategy::kExhaustive, for sim/explore/parallel. Nothing is shrunk.
//
// How many of the schedules the search by rising number of preemptions and faults may run.
int64_t BoundedSchedules(int64_t schedules);
// That search, with so many schedules at most.
Exploration ExploreBounded(const Experiment& experiment, const ExploreOptions& options,
                           int64_t schedules);
// Makes at most so many runs with these decisions, whose next run it prepares after each. Sets
// `complete` if no further run is left.
Exploration ExploreDecisions(const Experiment& experiment, const ExploreOptions& options,
                             ExhaustiveDecisions& decisions, int64_t schedules);

// The outcome of one run.
struct RunOutcome {
  absl::Status violation;  // OK if no invariant was violated.
  absl::Status mistake;    // Not OK if the experiment itself is wrong.
  std::vector<uint32_t> decisions;
  std::string trace_hash;
  int64_t steps = 0;
  int64_t commands = 0;
  bool drew_numbers = false;           // See World::DrewNumbers.
  std::map<std::string, bool> probes;  // By name, whether the run reached it.
  // By fault rule, how many requests it matched.
  std::vector<int64_t> fault_matches;
  std::map<std::string, int64_t> faults;  // By name, how often each fault was injected.
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
// The violation that a run with this seed and these decisions has shown.
Violation MakeViolation(uint64_t seed, std::vector<uint32_t> decisions, const RunOutcome& outcome);

// Returns a violation with the same cause, or a part of it (Cause::IsWithin), and with fewer
// faults, fewer context switches, fewer preemptions and fewer turns, in this order of importance.
// With enough runs (ExploreOptions::shrinking_runs), no schedule with fewer preemptions and faults
// violates the invariant by this cause.
Violation Shrink(const Experiment& experiment, const ExploreOptions& options, Violation violation);

// Returns the name of the violated invariant: the text before the colon.
std::string_view BrokenInvariant(const absl::Status& violation);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_EXPLORE_H_
