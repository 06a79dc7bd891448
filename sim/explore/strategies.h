// Strategies: decision sources that draw schedules more cleverly than uniform random choices.
//
// Explore (sim/explore/explore.h) selects them; use them directly to drive a World by hand. A
// preemption is a switch to another actor although the current one could continue.
//
// | strategy      | use                                                                         |
// | ------------- | --------------------------------------------------------------------------- |
// | uniform       | Short races: many preemptions, anywhere (RandomDecisions).                  |
// | walk          | All orders of the conflicting turns are equally likely, however many private|
// |               | turns the actors take between them.                                         |
// | PCT           | Few preemptions, at turns that conflict and at first turns. Finds a race of |
// |               | depth d among n actors and k such turns with probability 1 / (n k^(d-1)) or |
// |               | more.                                                                       |
// | partial order | Each pending request has a random priority, drawn again when a request that |
// |               | conflicts with it was executed.                                             |
// | mutation      | Changes the order of turns of an earlier run that showed something new.     |
//
// Which turns conflict is learned from the runs of the search so far (RunMemory). Sources that
// enumerate schedules: sim/explore/bounded.h and sim/explore/exhaustive.h.
//
// Source: Burckhardt and others, "A Randomized Scheduler with Probabilistic Guarantees of Finding
// Bugs" (2010); Yuan, Yang and Gu, "Partial Order Aware Concurrency Sampling" (2018); Zhao, Wolff,
// Mathur and Roychoudhury, "Selectively Uniform Concurrency Testing" (2025).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_EXPLORE_STRATEGIES_H_
#define REDOUBLE_SIM_EXPLORE_STRATEGIES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "redouble/core/base/random/rng.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/decision/footprint.h"
#include "redouble/sim/explore/run_memory.h"

namespace redouble::inline v0_1::sim {

// A source that draws the decisions about faults from a seed.
class DrawnDecisions : public DecisionSource {
 public:
  explicit DrawnDecisions(uint64_t seed) : rng_(seed) {}

  size_t Pick(size_t count) override { return rng_.Below(count); }
  bool Chance(double probability) override { return rng_.Chance(probability); }

 protected:
  base::Rng rng_;
};

// PCT: always runs the actor with the highest priority. Priorities are random; after `preemptions`
// turns (fewer if one is drawn twice) among the first `expected_turns`, the actor that took the
// turn gets a priority below all initial ones. These low priorities are in random order, too.
class PctDecisions final : public DrawnDecisions {
 public:
  // Requires expected_turns >= 1. With a memory, which must outlive the source, only these turns
  // count: those that conflict with turns of other actors, and the first one of each actor, so that
  // an actor can also get the lowest priority before its first conflicting turn.
  PctDecisions(uint64_t seed, int preemptions, int64_t expected_turns,
               const RunMemory* memory = nullptr);

  size_t ChooseNext(std::span<const ScheduleOption> options) override;
  void OnTurn(const ScheduleOption& turn) override;
  bool WantsFootprints() const override { return memory_ != nullptr; }
  void OnTurnDone(const TurnReport& report) override;

 private:
  int64_t PriorityOf(int actor);
  void Count(int actor);

  const RunMemory* const memory_;
  std::map<int64_t, int64_t> change_points_;  // From turns, counted from 1, to the new priority.
  std::map<int, int64_t> priorities_;         // By actor. The highest runs first; all differ.
  std::set<int> started_;                     // The actors that have taken a turn; with a memory.
  int64_t turns_ = 0;
};

// Draws the actor that takes the next conflicting turn, in proportion to how many it has left, and
// runs it until it has taken it.
class WalkDecisions final : public DrawnDecisions {
 public:
  // `memory` must outlive the source.
  WalkDecisions(uint64_t seed, const RunMemory& memory) : DrawnDecisions(seed), memory_(memory) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override;
  bool WantsFootprints() const override { return true; }
  void OnTurnDone(const TurnReport& report) override;

 private:
  uint64_t WeightOf(int actor) const;

  const RunMemory& memory_;
  std::map<int, int64_t> taken_;  // By actor, its conflicting turns.
  int current_ = -1;
};

// Partial-order sampling.
class PartialOrderDecisions final : public DrawnDecisions {
 public:
  explicit PartialOrderDecisions(uint64_t seed) : DrawnDecisions(seed) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override;
  void OnTurn(const ScheduleOption& turn) override;
  bool WantsFootprints() const override { return true; }
  void OnTurnDone(const TurnReport& report) override;

 private:
  // By actor and ordinal among its options, the priority of the pending request.
  std::map<std::pair<int, int>, uint64_t> priorities_;
  // What the other requests that were pending at the last decision access, by their keys.
  std::map<std::pair<int, int>, Footprint> pending_;
};

// Repeats an earlier run with some turns moved to other places and some decisions about faults
// changed.
class MutatedDecisions final : public DrawnDecisions {
 public:
  MutatedDecisions(uint64_t seed, RunMemory::Run run);

  size_t ChooseNext(std::span<const ScheduleOption> options) override;
  size_t Pick(size_t count) override;
  bool Chance(double probability) override;
  void OnTurn(const ScheduleOption& turn) override;

 private:
  // The run's next decision about a fault; nullopt if it is to be drawn.
  std::optional<uint32_t> NextAnswer();

  RunMemory::Run run_;  // What remains to be repeated.
  size_t answers_ = 0;  // How many of the decisions about faults were repeated.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_STRATEGIES_H_
