// Strategies: sources of decisions that explore schedules better than uniform draws.
//
//   | strategy   | what it is good at                                                           |
//   | ---------- | ---------------------------------------------------------------------------- |
//   | uniform    | Short races: many preemptions, everywhere (RandomDecisions).                 |
//   | PCT        | Deep races: few preemptions, at the one place that matters. Finds a race of  |
//   |            | depth d among n actors and k steps with probability 1 / (n k^(d-1)) or more. |
//   | exhaustive | Small worlds: every schedule, those apart that can only give what another    |
//   |            | gave (sleep sets); then there is no race at all.                             |
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
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "sim/world/decisions.h"

namespace redouble::sim {

// Runs the actor of the highest priority, always; at `preemptions` places drawn among the first
// `expected_turns` turns, the actor that would go on gets the lowest priority of all.
class PctDecisions final : public DecisionSource {
 public:
  // expected_turns >= 1.
  PctDecisions(uint64_t seed, int preemptions, int64_t expected_turns);

  size_t ChooseNext(std::span<const ScheduleOption> options) override;
  bool Chance(double probability) override { return rng_.Chance(probability); }
  void OnTurn(const ScheduleOption& turn) override;

 private:
  int64_t PriorityOf(int actor);

  base::Rng rng_;
  std::multiset<int64_t> change_points_;  // By turn, counted from 1.
  std::map<int, int64_t> priorities_;     // The higher goes first; all different.
  int64_t lowest_ = 0;
  int64_t turns_ = 0;
};

// What a turn reads and writes on the server, as far as its commands tell.
struct Footprint {
  std::set<std::string> reads;
  std::set<std::string> writes;
  // It may touch anything (a command whose keys cannot be told), or depends on the time alone.
  bool touches_all = false;

  // Nothing for a start.
  static Footprint Of(const ScheduleOption& turn);
  // Whether two turns of different actors give the same in either order.
  bool IsIndependentOf(const Footprint& other) const;
};

// Every schedule, one after the other, in depth-first order:
//
//   ExhaustiveDecisions decisions;
//   do {
//     World world({.decisions = &decisions});
//     ...
//   } while (decisions.Next());
//
// Two turns that touch different keys are tried in one order only. What actors do to each other
// behind the server's back (by variables that they share) must not depend on the order then.
class ExhaustiveDecisions final : public DecisionSource {
 public:
  size_t ChooseNext(std::span<const ScheduleOption> options) override;
  // Both ways are tried, the quiet one first.
  bool Chance(double probability) override;
  void OnTurn(const ScheduleOption& turn) override;

  // Prepares for the next run; false when all schedules have been run.
  bool Next();
  // The run under way can only give what an earlier one gave.
  bool redundant() const { return redundant_; }

 private:
  // What an actor would do next.
  struct Move {
    int actor;
    std::string text;  // Tells moves of one actor apart.
    Footprint footprint;

    static Move Of(const ScheduleOption& option);
    bool Is(const Move& other) const { return actor == other.actor && text == other.text; }
  };
  // A decision that was made on the way.
  struct Node {
    std::vector<Move> options;  // Empty for a chance.
    size_t chosen = 0;
    // Moves that were tried from an equal place, with nothing since that they depend on.
    std::vector<Move> sleeping;
  };

  static bool ChooseAwake(Node& node, size_t first);

  std::vector<Node> path_;
  size_t depth_ = 0;            // How many decisions of the path this run has made.
  std::vector<Move> sleeping_;  // Where the run stands.
  bool just_chose_ = false;     // The turn that follows is the last decision's.
  bool redundant_ = false;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_EXPLORE_STRATEGIES_H_
