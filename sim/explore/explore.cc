#include "redouble/sim/explore/explore.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/explore/bounded.h"
#include "redouble/sim/explore/exhaustive.h"
#include "redouble/sim/explore/run_memory.h"
#include "redouble/sim/explore/strategies.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr std::array kStrategies = {
    StrategyName{Strategy::kCombined, "combined"},
    StrategyName{Strategy::kExhaustive, "exhaustive"},
    StrategyName{Strategy::kMixed, "mixed"},
    StrategyName{Strategy::kUniform, "uniform"},
    StrategyName{Strategy::kWalk, "walk"},
    StrategyName{Strategy::kPct, "pct"},
    StrategyName{Strategy::kPartialOrder, "partial-order"},
    StrategyName{Strategy::kMutation, "mutation"},
};

// kMixed: what the seed, modulo the number of rows, selects.
constexpr std::array kMixture = {
    Strategy::kUniform,  Strategy::kPct,  Strategy::kWalk,         Strategy::kPct,
    Strategy::kMutation, Strategy::kWalk, Strategy::kPartialOrder, Strategy::kWalk,
};

// Of the schedules of an exhaustive search, the part that is spent on a bounded search, which costs
// runs that the search without a bound repeats.
constexpr int64_t kBoundedShare = 8;

// Races of n turns need few preemptions: about as many as n has digits.
int MaxPreemptions(int64_t turns) {
  constexpr int kMost = 8;
  return std::clamp(static_cast<int>(std::bit_width(static_cast<uint64_t>(turns))), 1, kMost);
}

std::unique_ptr<DecisionSource> MakeDecisions(Strategy strategy, uint64_t seed,
                                              const RunMemory& memory) {
  if (strategy == Strategy::kMixed) strategy = kMixture[seed % kMixture.size()];
  // The bits above those that select the strategy.
  const uint64_t further = seed / kMixture.size();
  switch (strategy) {
    case Strategy::kWalk:
      return std::make_unique<WalkDecisions>(seed, memory);
    case Strategy::kPct: {
      const int64_t turns =
          std::max<int64_t>(1, memory.conflicting_turns() + memory.conflicting_actors());
      const auto most = static_cast<uint64_t>(MaxPreemptions(turns));
      const int preemptions = 1 + static_cast<int>((further + seed) % most);
      return std::make_unique<PctDecisions>(seed, preemptions, turns, &memory);
    }
    case Strategy::kPartialOrder:
      return std::make_unique<PartialOrderDecisions>(seed);
    case Strategy::kMutation: {
      const auto runs = memory.interesting_runs();
      if (runs.empty()) break;
      base::Rng rng(seed);
      return std::make_unique<MutatedDecisions>(seed, runs[rng.Below(runs.size())]);
    }
    default:
      break;
  }
  return std::make_unique<RandomDecisions>(seed);
}

absl::Status ViolationOf(const RunReport& report) {
  switch (report.end) {
    case RunEnd::kStuck:
      return absl::DeadlineExceededError("ends: an actor is blocked, and no step or timer is left");
    case RunEnd::kStepLimit:
      return absl::DeadlineExceededError("ends: it goes on and on");
    case RunEnd::kDone:
    case RunEnd::kTimeLimit:
    case RunEnd::kStopped:
    case RunEnd::kMistake:
    case RunEnd::kViolation:
      return report.violation;
  }
  return report.violation;
}

// Writing the trace takes more than a quarter of a short run's instructions, and a search does not
// read it. Shrink repeats the violating run with a trace.
ExploreOptions Untraced(ExploreOptions options) {
  if (!options.world.trace_listener && !options.world.stop_after) options.world.traced = false;
  return options;
}

class Explorer {
 public:
  Explorer(const Experiment& experiment, const ExploreOptions& options)
      : experiment_(experiment), options_(Untraced(options)) {}

  Exploration Run() {
    switch (options_.strategy) {
      case Strategy::kExhaustive:
        RunAll(options_.schedules);
        break;
      case Strategy::kCombined:
        RunAll((options_.schedules + 1) / 2);
        if (!found_.complete || found_.depends_on_seed) RunSeeds(Strategy::kMixed);
        break;
      default:
        RunSeeds(options_.strategy);
    }
    if (options_.faults_must_match && !found_.violation && found_.mistake.ok()) {
      found_.mistake = CheckFaultMatches(options_, found_);
    }
    if (found_.violation.has_value()) {
      found_.violation = Shrink(experiment_, options_, *std::move(found_.violation));
    }
    return std::move(found_);
  }

  // Runs the schedules with few preemptions and faults, `schedules` at most.
  void RunBounded(int64_t schedules) {
    BoundedDecisions bounded(options_.max_bound);
    while (MayRun(schedules)) {
      Count(options_.first_seed, RunOnce(experiment_, options_, options_.first_seed, bounded));
      const bool has_more = bounded.Next();
      found_.complete_bound = has_more ? bounded.bound() - 1 : bounded.bound();
      if (has_more) continue;
      found_.complete = bounded.complete() && !IsOver();
      break;
    }
  }

  // Runs the schedules that are left to `all`, until there were `schedules` runs of this search.
  void RunUnbounded(ExhaustiveDecisions& all, int64_t schedules) {
    while (MayRun(schedules)) {
      Count(options_.first_seed, RunOnce(experiment_, options_, options_.first_seed, all));
      if (all.Next()) continue;
      found_.complete = !all.limited() && !IsOver();
      return;
    }
  }

  Exploration TakeFound() { return std::move(found_); }

 private:
  void RunSeeds(Strategy strategy) {
    RunMemory memory;
    RecordedDecisions quiet({});
    RunRemembered(options_.first_seed, quiet, memory);
    while (MayRun(options_.schedules)) {
      const uint64_t seed = options_.first_seed + static_cast<uint64_t>(found_.schedules);
      const std::unique_ptr<DecisionSource> decisions = MakeDecisions(strategy, seed, memory);
      // What uniform schedules show is of no use if there are no others.
      Count(seed, strategy == Strategy::kUniform ? RunOnce(experiment_, options_, seed, *decisions)
                                                 : RunRemembered(seed, *decisions, memory));
    }
  }

  RunOutcome RunRemembered(uint64_t seed, DecisionSource& decisions, RunMemory& memory) {
    RememberingDecisions remembering(decisions, memory);
    RunOutcome outcome = RunOnce(experiment_, options_, seed, remembering);
    remembering.Finish();
    return outcome;
  }

  // Runs all schedules, `schedules` at most.
  void RunAll(int64_t schedules) {
    RunBounded(BoundedSchedules(schedules));
    if (found_.complete) return;
    ExhaustiveDecisions all(ExhaustiveDecisions::Reduction::kSourceSets, options_.max_faults);
    RunUnbounded(all, schedules);
  }

  bool IsOver() const {
    return !found_.mistake.ok() || (options_.stop_at_first && found_.violations > 0);
  }

  bool MayRun(int64_t schedules) const {
    return found_.schedules < schedules && !IsOver() && !(options_.is_over && options_.is_over());
  }

  void Count(uint64_t seed, RunOutcome outcome) {
    ++found_.schedules;
    found_.mistake = outcome.mistake;
    found_.depends_on_seed = found_.depends_on_seed || options_.swarm || outcome.drew_numbers;
    for (const auto& [name, reached] : outcome.probes) found_.probes[name] += reached ? 1 : 0;
    if (!options_.swarm) {
      found_.fault_matches.resize(outcome.fault_matches.size());
      for (size_t i = 0; i < outcome.fault_matches.size(); ++i) {
        found_.fault_matches[i] += outcome.fault_matches[i];
      }
    }
    if (outcome.violation.ok()) return;
    if (++found_.violations > 1) return;
    found_.schedules_to_first = found_.schedules;
    found_.violation = MakeViolation(seed, outcome.decisions, outcome);
  }

  const Experiment& experiment_;
  const ExploreOptions options_;
  Exploration found_;
};

}  // namespace

std::span<const StrategyName> AllStrategies() { return kStrategies; }

absl::Status CheckFaultMatches(const ExploreOptions& options, const Exploration& exploration) {
  for (size_t i = 0; i < exploration.fault_matches.size(); ++i) {
    if (exploration.fault_matches[i] > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("faults/", i, ": no request matches this rule in ", exploration.schedules,
                     " schedules: ", base::ToAbsl(SpecOf(options.world.faults[i].fault).name)));
  }
  return absl::OkStatus();
}

std::string_view BrokenInvariant(const absl::Status& violation) {
  const std::string_view message = base::ToStd(violation.message());
  return message.substr(0, message.find(':'));
}

WorldOptions WorldOptionsOf(const ExploreOptions& options, uint64_t seed,
                            DecisionSource& decisions) {
  WorldOptions world_options = options.world;
  world_options.seed = seed;
  world_options.decisions = &decisions;
  if (options.swarm) {
    base::Rng rng(seed);
    world_options.faults = DrawSwarm(options.world.faults, rng);
  }
  return world_options;
}

RunOutcome RunOnce(const Experiment& experiment, const ExploreOptions& options, uint64_t seed,
                   DecisionSource& decisions) {
  World world(WorldOptionsOf(options, seed, decisions));
  experiment(world);
  const RunReport report = world.Run(options.limits);
  std::map<std::string, bool> probes;
  for (const World::Probe& probe : world.probes()) probes.emplace(probe.name, probe.reached);
  return RunOutcome{.violation = ViolationOf(report),
                    .mistake = report.mistake,
                    .decisions = world.decisions(),
                    .trace_hash = world.TraceHash(),
                    .steps = report.steps,
                    .commands = world.commands(),
                    .drew_numbers = world.DrewNumbers(),
                    .probes = std::move(probes),
                    .fault_matches = world.fault_matches(),
                    .faults = world.injected_faults()};
}

RunOutcome Replay(const Experiment& experiment, const ExploreOptions& options, uint64_t seed,
                  const std::vector<uint32_t>& decisions,
                  std::function<void(std::string_view)> trace_listener) {
  ExploreOptions traced = options;
  traced.world.trace_listener = std::move(trace_listener);
  traced.world.traced = true;
  RecordedDecisions recorded(decisions);
  return RunOnce(experiment, traced, seed, recorded);
}

Violation MakeViolation(uint64_t seed, std::vector<uint32_t> decisions, const RunOutcome& outcome) {
  return Violation{.seed = seed,
                   .decisions = std::move(decisions),
                   .status = outcome.violation,
                   .trace_hash = outcome.trace_hash,
                   .steps = outcome.steps};
}

int64_t BoundedSchedules(int64_t schedules) {
  return schedules / kBoundedShare + (schedules % kBoundedShare == 0 ? 0 : 1);
}

Exploration ExploreBounded(const Experiment& experiment, const ExploreOptions& options,
                           int64_t schedules) {
  Explorer explorer(experiment, options);
  explorer.RunBounded(schedules);
  return explorer.TakeFound();
}

Exploration ExploreDecisions(const Experiment& experiment, const ExploreOptions& options,
                             ExhaustiveDecisions& decisions, int64_t schedules) {
  Explorer explorer(experiment, options);
  explorer.RunUnbounded(decisions, schedules);
  return explorer.TakeFound();
}

Exploration Explore(const Experiment& experiment, const ExploreOptions& options) {
  return Explorer(experiment, options).Run();
}

}  // namespace redouble::inline v0_1::sim
