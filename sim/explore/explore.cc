#include "redouble/sim/explore/explore.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/explore/strategies.h"

namespace redouble::sim {
namespace {

constexpr int kMaxPreemptions = 3;

std::unique_ptr<DecisionSource> MakeDecisions(Strategy strategy, uint64_t seed,
                                              int64_t expected_turns) {
  const int preemptions = static_cast<int>(seed % (kMaxPreemptions + 1));
  if (strategy == Strategy::kUniform || preemptions == 0) {
    return std::make_unique<RandomDecisions>(seed);
  }
  return std::make_unique<PctDecisions>(seed, preemptions, expected_turns);
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
    case RunEnd::kViolation:
      return report.violation;
  }
  return report.violation;
}

// Tries simpler decisions, one change at a time.
class Shrinker {
 public:
  Shrinker(const Experiment& experiment, const ExploreOptions& options, Violation violation)
      : experiment_(experiment),
        options_(options),
        best_(std::move(violation)),
        invariant_(BrokenInvariant(best_.status)),
        runs_left_(options.shrinking_runs) {}

  Violation Run() {
    DropQuietEnd(best_.decisions);
    bool improved = true;
    while (improved && runs_left_ > 0) {
      improved = RemoveChunks() || QuietChunks() || LowerOnes();
    }
    return std::move(best_);
  }

 private:
  // Default decisions at the end are implied.
  static void DropQuietEnd(std::vector<uint32_t>& decisions) {
    while (!decisions.empty() && decisions.back() == 0) decisions.pop_back();
  }

  // Accepts the decisions if they break the same invariant.
  bool Try(std::vector<uint32_t> decisions) {
    DropQuietEnd(decisions);
    if (runs_left_ <= 0 || !IsSimpler(decisions, best_.decisions)) return false;
    --runs_left_;
    const RunOutcome outcome = Replay(experiment_, options_, best_.seed, decisions);
    if (outcome.violation.ok() || BrokenInvariant(outcome.violation) != invariant_) return false;
    best_.decisions = std::move(decisions);
    best_.status = outcome.violation;
    best_.trace_hash = outcome.trace_hash;
    best_.steps = outcome.steps;
    return true;
  }

  // Fewer decisions that are not the default, then fewer decisions, then smaller ones.
  static bool IsSimpler(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
    const auto loud = [](const std::vector<uint32_t>& decisions) {
      return decisions.size() - std::count(decisions.begin(), decisions.end(), 0u);
    };
    if (loud(a) != loud(b)) return loud(a) < loud(b);
    if (a.size() != b.size()) return a.size() < b.size();
    return a < b;
  }

  // Calls `change` with every chunk of decisions, large chunks first; returns true at the first
  // success.
  template <typename Change>
  bool TryChunks(const Change& change) {
    for (size_t length = best_.decisions.size(); length > 0; length /= 2) {
      for (size_t first = 0; first + length <= best_.decisions.size(); first += length) {
        std::vector<uint32_t> changed = best_.decisions;
        change(changed, first, length);
        if (Try(std::move(changed))) return true;
      }
    }
    return false;
  }

  bool QuietChunks() {
    return TryChunks([](std::vector<uint32_t>& decisions, size_t first, size_t length) {
      std::fill_n(decisions.begin() + first, length, 0u);
    });
  }

  bool RemoveChunks() {
    return TryChunks([](std::vector<uint32_t>& decisions, size_t first, size_t length) {
      decisions.erase(decisions.begin() + first, decisions.begin() + first + length);
    });
  }

  bool LowerOnes() {
    for (size_t i = 0; i < best_.decisions.size(); ++i) {
      if (best_.decisions[i] < 2) continue;
      std::vector<uint32_t> lowered = best_.decisions;
      --lowered[i];
      if (Try(std::move(lowered))) return true;
    }
    return false;
  }

  const Experiment& experiment_;
  const ExploreOptions& options_;
  Violation best_;
  const std::string invariant_;
  int64_t runs_left_;
};

class Explorer {
 public:
  Explorer(const Experiment& experiment, const ExploreOptions& options)
      : experiment_(experiment), options_(options) {}

  Exploration Run() {
    if (options_.strategy == Strategy::kExhaustive) {
      RunAll();
    } else {
      RunSeeds();
    }
    if (found_.violation.has_value()) {
      found_.violation = Shrink(experiment_, options_, *std::move(found_.violation));
    }
    return std::move(found_);
  }

 private:
  void RunSeeds() {
    RecordedDecisions quiet({});
    const int64_t expected_turns =
        std::max<int64_t>(1, RunOnce(experiment_, options_, options_.first_seed, quiet).steps);
    while (found_.schedules < options_.schedules && !IsOver()) {
      const uint64_t seed = options_.first_seed + static_cast<uint64_t>(found_.schedules);
      const std::unique_ptr<DecisionSource> decisions =
          MakeDecisions(options_.strategy, seed, expected_turns);
      Count(seed, RunOnce(experiment_, options_, seed, *decisions));
    }
  }

  void RunAll() {
    ExhaustiveDecisions decisions;
    while (found_.schedules < options_.schedules && !IsOver()) {
      Count(options_.first_seed, RunOnce(experiment_, options_, options_.first_seed, decisions));
      if (decisions.Next()) continue;
      found_.complete = true;
      return;
    }
  }

  bool IsOver() const { return options_.stop_at_first && found_.violations > 0; }

  void Count(uint64_t seed, RunOutcome outcome) {
    ++found_.schedules;
    for (const auto& [name, reached] : outcome.probes) found_.probes[name] += reached ? 1 : 0;
    if (outcome.violation.ok()) return;
    if (++found_.violations > 1) return;
    found_.schedules_to_first = found_.schedules;
    found_.violation = Violation{.seed = seed,
                                 .decisions = std::move(outcome.decisions),
                                 .status = std::move(outcome.violation),
                                 .trace_hash = std::move(outcome.trace_hash),
                                 .steps = outcome.steps};
  }

  const Experiment& experiment_;
  const ExploreOptions& options_;
  Exploration found_;
};

}  // namespace

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
                    .decisions = world.decisions(),
                    .trace_hash = world.TraceHash(),
                    .steps = report.steps,
                    .commands = world.commands(),
                    .probes = std::move(probes)};
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

Violation Shrink(const Experiment& experiment, const ExploreOptions& options, Violation violation) {
  return Shrinker(experiment, options, std::move(violation)).Run();
}

Exploration Explore(const Experiment& experiment, const ExploreOptions& options) {
  return Explorer(experiment, options).Run();
}

}  // namespace redouble::sim
