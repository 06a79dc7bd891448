// Strategies: decision sources that explore schedules more systematically than uniform random
// choices.
//
// Explore (sim/explore/explore.h) selects them; use them directly to drive a World by hand. A
// preemption is a switch to another actor although the current one could continue.
//
// | strategy   | use                                                                          |
// | ---------- | ---------------------------------------------------------------------------- |
// | uniform    | Short races: many preemptions, anywhere (RandomDecisions).                   |
// | PCT        | Deep races: few preemptions, at the places that matter. Finds a race of      |
// |            | depth d among n actors and k steps with probability 1 / (n k^(d-1)) or more. |
// | exhaustive | Small worlds: enumerates all schedules, except those that are equivalent to  |
// |            | a schedule already run (sleep sets). Proves that there is no race.           |
//
// Source: Burckhardt and others, "A Randomized Scheduler with Probabilistic Guarantees of Finding
// Bugs" (2010); Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems"
// (1996).
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
#include <string>
#include <vector>

#include "redouble/core/base/random/rng.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/decision/footprint.h"

namespace redouble::sim {

// PCT: always runs the actor with the highest priority. Priorities are random; at `preemptions`
// turns, drawn among the first `expected_turns`, the actor that would run gets the lowest priority
// of all.
class PctDecisions final : public DecisionSource {
 public:
  // Requires expected_turns >= 1.
  PctDecisions(uint64_t seed, int preemptions, int64_t expected_turns);

  size_t ChooseNext(std::span<const ScheduleOption> options) override;
  size_t Pick(size_t count) override { return rng_.Below(count); }
  bool Chance(double probability) override { return rng_.Chance(probability); }
  void OnTurn(const ScheduleOption& turn) override;

 private:
  int64_t PriorityOf(int actor);

  base::Rng rng_;
  std::multiset<int64_t> change_points_;  // Turn numbers, counted from 1.
  std::map<int, int64_t> priorities_;     // By actor. The highest runs first; all are different.
  int64_t lowest_ = 0;
  int64_t turns_ = 0;
};

// Enumerates all schedules in depth-first order:
//
//   ExhaustiveDecisions decisions;
//   do {
//     World world({.decisions = &decisions});
//     ...
//   } while (decisions.Next());
//
// Turns that commute are tried in one order only (sleep sets). Which turns commute is seen from
// what they did on the server (Footprint), not from the commands that they sent. Outcomes that
// depend on the following are outside this view, and may be missed:
//
// * variables that actors share;
// * the ids that the server gives to connections, in the order of connecting;
// * the order in which KEYS, SCAN and RANDOMKEY see keys, which is that of adding.
class ExhaustiveDecisions final : public DecisionSource {
 public:
  enum class Reduction {
    kSleepSets,
    kNone,  // Tries all orders: what the reduction is tested against.
  };
  explicit ExhaustiveDecisions(Reduction reduction = Reduction::kSleepSets)
      : reduction_(reduction) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override;
  // Tries all numbers, the smallest first.
  size_t Pick(size_t count) override;
  // Tries both answers, false first.
  bool Chance(double probability) override;
  void OnTurn(const ScheduleOption& turn) override;
  bool WantsFootprints() const override { return reduction_ == Reduction::kSleepSets; }
  void OnTurnDone(const Footprint& footprint) override;

  // Prepares the next run; returns false if all schedules have been run.
  bool Next();
  // Returns true if the current run is equivalent to an earlier one.
  bool redundant() const { return redundant_; }

 private:
  // A turn that an actor could take.
  struct Move {
    int actor;
    std::string text;  // Distinguishes the moves of one actor.
    // What the turn did in the runs that took it here.
    Footprint footprint = {};

    static Move Of(const ScheduleOption& option);
    bool Is(const Move& other) const { return actor == other.actor && text == other.text; }
  };
  // A decision on the current path.
  struct Node {
    std::vector<Move> options;  // Empty for a decision of Chance() or Pick().
    size_t chosen = 0;
    size_t count = 0;  // How many answers a decision of Chance() or Pick() has.
    // The sleep set: moves that were already explored from an equivalent state. A move leaves it
    // when a turn that depends on it is taken.
    std::vector<Move> sleeping;
  };

  static bool ChooseAwake(Node& node, size_t first);

  const Reduction reduction_;
  std::vector<Node> path_;
  size_t depth_ = 0;            // How many decisions of the path the current run has made.
  std::vector<Move> sleeping_;  // The sleep set at the current point of the run.
  bool just_chose_ = false;     // The next turn is the one that the last decision chose.
  int turn_actor_ = 0;          // The actor of the current turn.
  // The position in the path of the decision that chose the current turn, if there was one.
  std::optional<size_t> turn_node_;
  bool redundant_ = false;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_EXPLORE_STRATEGIES_H_
