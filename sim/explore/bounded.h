// BoundedDecisions: enumerates the schedules of a world by rising number of preemptions and faults.
//
// Most races need one or two preemptions or faults, so this order finds them early and with few
// context switches, and it can end with a proof: no schedule with up to k preemptions and faults
// violates an invariant.
//
//   BoundedDecisions decisions(/*max_bound=*/2);
//   do {
//     World world({.decisions = &decisions});
//     ...
//   } while (decisions.Next());
//   // decisions.complete(): no schedule is left; otherwise none with up to 2 of them.
//
// A preemption is a switch to another actor although the one that ran last could continue. Switches
// at the end of an actor and while it waits are free, and so are faults that are certain. Two
// reductions keep every outcome within the bound:
//
// * A state that was reached before, with as few preemptions, is not entered again. States are
//   compared by CausalHash.
// * An actor is not preempted before a private turn (Conflicts), because the turn can be moved
// ahead
//   of the preemption without another one. If a later run shows that the turn was not private, the
//   preemption is made up for.
//
// Sleep sets and source sets (sim/explore/exhaustive.h) are not used here: the schedule that stands
// for an equivalent one may need more preemptions, so that a bounded search with them loses
// outcomes. What exhaustive.h does not see, this search does not see either.
//
// Source: Musuvathi and Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded
// Programs" (2007); Coons, Musuvathi and McKinley, "Bounded Partial-Order Reduction" (2013).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_EXPLORE_BOUNDED_H_
#define REDOUBLE_SIM_EXPLORE_BOUNDED_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/decision/footprint.h"
#include "redouble/sim/explore/causal_hash.h"
#include "redouble/sim/explore/conflicts.h"

namespace redouble::inline v0_1::sim {

class BoundedDecisions final : public DecisionSource {
 public:
  explicit BoundedDecisions(int max_bound) : max_bound_(max_bound) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override;
  size_t Pick(size_t count) override { return Answer(count, /*cost=*/0); }
  bool Chance(double) override { return Answer(2, /*cost=*/1) == 1; }
  void OnTurn(const ScheduleOption& turn) override { last_actor_ = turn.actor; }
  bool WantsFootprints() const override { return true; }
  void OnTurnDone(const TurnReport& report) override;
  void OnClockMove() override;
  bool EndsRun() const override { return redundant_; }

  // Prepares the next run; returns false if no schedule is left within the maximal bound.
  bool Next();
  // Returns true if the current run has reached a state that an earlier one has reached.
  bool redundant() const { return redundant_; }
  // The number of preemptions and faults of the runs at present. All schedules with fewer have been
  // run.
  int bound() const { return bound_; }
  // Returns true if no schedule is left, whatever the number of preemptions. To be called after
  // Next() has returned false.
  bool complete() const { return current_.empty() && next_.empty(); }

 private:
  // A decision, after those on the way from the root of the tree.
  struct Step {
    size_t parent;
    uint32_t decision;
  };
  // A run that remains to be done: the decisions up to a step, and their preemptions and faults.
  struct Item {
    size_t step;
    int cost;
  };
  // The alternatives first, first + 1, ... count - 1 of a decision, which are preemptions.
  struct Branch {
    size_t parent;
    size_t first;
    size_t count;
    int cost;
  };
  // The branches before private turns with equal accesses.
  struct Private {
    int actor;
    Footprint footprint;
    std::vector<Branch> branches;
  };

  size_t Answer(size_t count, int cost);
  bool replays() const { return made_ < prefix_.size(); }
  uint32_t Replay();
  uint32_t TakeFirst();
  bool WasVisited(bool continues);
  void Push(size_t parent, size_t decision, int cost);
  void Push(const Branch& branch);
  void AddBranch(int actor, const Footprint& footprint);
  void ReleaseBranches();
  void Restart();

  const int max_bound_;
  int bound_ = 0;
  std::vector<Step> steps_ = {{0, 0}};  // The tree of all decisions; the first is the root.
  std::vector<Item> current_;           // Runs within the bound.
  std::vector<Item> next_;              // Runs with one preemption or fault more.
  std::map<uint64_t, int> visited_;     // By hash of the state, the lowest cost.
  std::map<std::string, Private> private_;
  Conflicts conflicts_;
  Footprint checks_;  // What invariants have read in all runs.
  bool checks_grew_ = false;

  // The current run.
  std::vector<size_t> prefix_;  // The steps to repeat.
  size_t made_ = 0;             // How many of them are done.
  size_t at_ = 0;               // The step of the last decision.
  int cost_ = 0;
  int last_actor_ = -1;
  CausalHash hash_;
  uint64_t choices_ = 0;          // A hash of the decisions within the current turn.
  bool has_faults_ = false;       // A decision on a fault was made within the current turn.
  std::optional<Branch> branch_;  // The preemptions at the decision that chose the current turn.
  bool redundant_ = false;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_BOUNDED_H_
