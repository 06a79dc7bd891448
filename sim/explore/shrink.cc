// Shrinking: from a run that violates an invariant to one with the same cause that has fewer faults
// and fewer context switches.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "redouble/sim/explore/bounded.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/explore/observed_run.h"

namespace redouble::inline v0_1::sim {
namespace {

// A run that violates the invariant.
struct Candidate {
  ActorSequence sequence;
  std::vector<uint32_t> decisions;
  Cause cause;
  int preemptions = 0;

  size_t Faults() const {
    size_t faults = 0;
    for (const auto& [actor, answers] : sequence.answers) {
      faults +=
          answers.size() - static_cast<size_t>(std::count(answers.begin(), answers.end(), 0u));
    }
    return faults;
  }

  // What is to be minimized: faults first, then context switches, then the length, then the
  // distance from the default decisions.
  auto Cost() const {
    const auto quiet = std::count(decisions.begin(), decisions.end(), 0u);
    return std::tuple(Faults(), Switches(), preemptions, sequence.actors.size(),
                      decisions.size() - static_cast<size_t>(quiet),
                      std::accumulate(decisions.begin(), decisions.end(), uint64_t{0}),
                      decisions.size());
  }

  size_t Switches() const {
    size_t switches = 0;
    for (size_t i = 1; i < sequence.actors.size(); ++i) {
      switches += sequence.actors[i] != sequence.actors[i - 1] ? 1 : 0;
    }
    return switches;
  }
};

// Turns first, first + 1, ... first + count - 1 belong to one actor.
struct Block {
  size_t first;
  size_t count;
};

std::vector<Block> BlocksOf(const std::vector<int>& actors) {
  std::vector<Block> blocks;
  for (size_t i = 0; i < actors.size(); ++i) {
    if (i == 0 || actors[i] != actors[i - 1]) blocks.push_back({i, 0});
    ++blocks.back().count;
  }
  return blocks;
}

// Moves the turns of a block so that they begin at `to`, counted without the block.
void MoveBlock(std::vector<int>& actors, const Block& block, size_t to) {
  const int actor = actors[block.first];
  const auto first = actors.begin() + static_cast<std::ptrdiff_t>(block.first);
  actors.erase(first, first + static_cast<std::ptrdiff_t>(block.count));
  actors.insert(actors.begin() + static_cast<std::ptrdiff_t>(to), block.count, actor);
}

class Shrinker {
 public:
  Shrinker(const Experiment& experiment, const ExploreOptions& options, Violation violation)
      : experiment_(experiment),
        options_(options),
        violation_(std::move(violation)),
        runs_left_(options.shrinking_runs) {
    options_.world.traced = false;
    options_.world.trace_listener = {};
  }

  Violation Run() {
    RecordedDecisions recorded(violation_.decisions);
    std::optional<Candidate> first = Try(recorded, /*original=*/nullptr);
    if (!first) return std::move(violation_);
    best_ = *std::move(first);
    original_ = best_.cause;
    do {
      while (Simplify()) {
      }
    } while (SearchAll());
    return Finish();
  }

 private:
  // Runs the experiment; returns the run if it violates the invariant with a cause within that of
  // `original`, if there is one.
  std::optional<Candidate> Try(DecisionSource& source, const Cause* original) {
    ObservedDecisions observed(source);
    const RunOutcome outcome = RunOnce(experiment_, options_, violation_.seed, observed);
    if (outcome.violation.ok()) return std::nullopt;
    Candidate candidate{.sequence = observed.sequence(),
                        .decisions = outcome.decisions,
                        .cause = {.invariant = std::string(BrokenInvariant(outcome.violation)),
                                  .faults = {},
                                  .conflicts = observed.Conflicts()},
                        .preemptions = observed.preemptions()};
    for (const auto& [fault, times] : outcome.faults) candidate.cause.faults.insert(fault);
    while (!candidate.decisions.empty() && candidate.decisions.back() == 0) {
      candidate.decisions.pop_back();
    }
    if (original != nullptr && !candidate.cause.IsWithin(*original)) return std::nullopt;
    return candidate;
  }

  bool Try(ActorSequence sequence) {
    if (runs_left_ <= 0) return false;
    --runs_left_;
    SequenceDecisions decisions(std::move(sequence));
    return Accept(Try(decisions, &original_));
  }

  bool Accept(std::optional<Candidate> candidate) {
    if (!candidate || candidate->Cost() >= best_.Cost()) return false;
    best_ = *std::move(candidate);
    return true;
  }

  bool Simplify() {
    return DropFaults() || DropEnd() || MergeBlocks() || MoveTurns() || SwapActors();
  }

  bool DropFaults() {
    for (const auto& [actor, answers] : best_.sequence.answers) {
      for (size_t i = 0; i < answers.size(); ++i) {
        if (answers[i] == 0) continue;
        ActorSequence quieter = best_.sequence;
        quieter.answers[actor][i] = 0;
        if (Try(std::move(quieter))) return true;
      }
    }
    return false;
  }

  // Leaves the end to the default decisions.
  bool DropEnd() {
    for (size_t count = best_.sequence.actors.size(); count > 0; count /= 2) {
      ActorSequence shorter = best_.sequence;
      shorter.actors.resize(shorter.actors.size() - count);
      if (Try(std::move(shorter))) return true;
    }
    return false;
  }

  // Joins two blocks of one actor, at the place of the earlier or of the later one.
  bool MergeBlocks() {
    const std::vector<int>& actors = best_.sequence.actors;
    const std::vector<Block> blocks = BlocksOf(actors);
    for (size_t i = 0; i < blocks.size(); ++i) {
      for (size_t j = i + 1; j < blocks.size(); ++j) {
        if (actors[blocks[i].first] != actors[blocks[j].first]) continue;
        ActorSequence earlier = best_.sequence;
        MoveBlock(earlier.actors, blocks[j], blocks[i].first + blocks[i].count);
        ActorSequence later = best_.sequence;
        MoveBlock(later.actors, blocks[i], blocks[j].first - blocks[i].count);
        if (Try(std::move(earlier)) || Try(std::move(later))) return true;
      }
    }
    return false;
  }

  // Moves the last turns of a block into a later block of the actor, or the first ones into an
  // earlier one, or a whole block to another place.
  bool MoveTurns() {
    const std::vector<Block> blocks = BlocksOf(best_.sequence.actors);
    for (const Block& block : blocks) {
      for (const Block& other : blocks) {
        if (other.first == block.first) continue;
        const bool is_later = other.first > block.first;
        for (size_t count = block.count; count > 0; --count) {
          const Block part{is_later ? block.first + block.count - count : block.first, count};
          ActorSequence moved = best_.sequence;
          MoveBlock(moved.actors, part, is_later ? other.first - count : other.first);
          if (Try(std::move(moved))) return true;
        }
      }
    }
    return false;
  }

  // Lets two actors change places, which helps if they do the same.
  bool SwapActors() {
    const std::set<int> actors(best_.sequence.actors.begin(), best_.sequence.actors.end());
    for (const int first : actors) {
      for (const int second : actors) {
        if (second <= first) continue;
        ActorSequence swapped = best_.sequence;
        for (int& actor : swapped.actors) {
          actor = actor == first ? second : actor == second ? first : actor;
        }
        std::swap(swapped.answers[first], swapped.answers[second]);
        if (Try(std::move(swapped))) return true;
      }
    }
    return false;
  }

  // Enumerates the schedules with as few preemptions and faults, as far as the number of runs
  // allows.
  bool SearchAll() {
    const int bound = best_.preemptions + static_cast<int>(best_.Faults());
    if (bound == 0 || runs_left_ <= 0) return false;
    BoundedDecisions bounded(bound);
    do {
      --runs_left_;
      if (Accept(Try(bounded, &original_))) return true;
    } while (runs_left_ > 0 && bounded.Next());
    return false;
  }

  Violation Finish() {
    const RunOutcome outcome = Replay(experiment_, options_, violation_.seed, best_.decisions);
    Violation shrunk = MakeViolation(violation_.seed, std::move(best_.decisions), outcome);
    shrunk.cause = std::move(best_.cause);
    return shrunk;
  }

  const Experiment& experiment_;
  ExploreOptions options_;
  Violation violation_;
  int64_t runs_left_;
  Candidate best_;
  Cause original_;
};

}  // namespace

Violation Shrink(const Experiment& experiment, const ExploreOptions& options, Violation violation) {
  return Shrinker(experiment, options, std::move(violation)).Run();
}

}  // namespace redouble::inline v0_1::sim
