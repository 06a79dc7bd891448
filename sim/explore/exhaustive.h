// ExhaustiveDecisions: enumerates all schedules of a world in depth-first order, one for each class
// of equivalent schedules.
//
//   ExhaustiveDecisions decisions;
//   do {
//     World world({.decisions = &decisions});
//     ...
//   } while (decisions.Next());
//
// Schedules are equivalent if they differ in the order of turns that commute. Which turns commute
// is seen from what they did (Footprint), not from the commands that they sent. Two rules leave out
// equivalent schedules:
//
// * Source sets: at a decision, another actor is tried only if that reverses a race that a run has
//   shown: two turns that do not commute, with no other turn that orders them.
// * Sleep sets: a turn that was tried at a decision is not tried after it until a turn that does
// not
//   commute with it was taken.
//
// Outcomes that depend on the following are outside this view, and may be missed:
//
// * variables that actors share, apart from those that an invariant reads after each step;
// * the ids that the server gives to connections, in the order of connecting;
// * the order in which KEYS, SCAN and RANDOMKEY see keys, which is that of adding.
//
// Source: Abdulla, Aronis, Jonsson and Sagonas, "Optimal Dynamic Partial Order Reduction" (2014),
// algorithm 1; Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems"
// (1996).
//
// A search can be continued in the middle, and only below some decisions: see Resume and
// sim/explore/divided.h.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_EXPLORE_EXHAUSTIVE_H_
#define REDOUBLE_SIM_EXPLORE_EXHAUSTIVE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/decision/footprint.h"

namespace redouble::inline v0_1::sim {

class ExhaustiveDecisions final : public DecisionSource {
 public:
  enum class Reduction {
    kSourceSets,  // Source sets and sleep sets.
    kSleepSets,
    kNone,  // Tries all orders: what the reductions are tested against.
  };
  // A turn that an actor could take.
  struct Move {
    int actor;
    size_t ordinal;  // Counts the options of the actor.
    // What the turn did in the runs that took it here.
    Footprint footprint = {};

    bool Is(const Move& other) const { return actor == other.actor && ordinal == other.ordinal; }
  };
  // A decision on the current path.
  struct Node {
    std::vector<Move> options = {};  // Empty for a decision of Chance() or Pick().
    size_t chosen = 0;
    size_t count = 0;  // How many answers a decision of Chance() or Pick() has.
    size_t turn = 0;   // The number of turns before the one that it belongs to.
    // The sleep set: moves that were already explored from an equivalent state. A move leaves it
    // when a turn that depends on it is taken.
    std::vector<Move> sleeping = {};
    // The source set: the actors to try. Grows as runs show races.
    std::set<int> actors = {};

    bool IsChoice() const { return !options.empty(); }
    bool Offers(int actor) const;
    void AddAllActors();
    // Adds the actor to the source set; nullopt adds all actors of the options.
    void Add(std::optional<int> actor);
    // Takes the first option from `first` on that does not sleep and whose actor is to be tried.
    // Returns false if no option is left. An empty source set allows every actor; then the actor of
    // the chosen option is added to it.
    bool ChooseAwake(size_t first);
  };
  // Asks a decision on the path to try `actor`, or with nullopt all actors of its options. It need
  // not if one of `initials` is in its source set.
  struct Claim {
    size_t node;  // The position in the path.
    std::set<int> initials;
    std::optional<int> actor;
  };

  // A run has at most `max_faults` faults whose probability is below 1: an actor that retries could
  // fail in each of its attempts.
  explicit ExhaustiveDecisions(Reduction reduction = Reduction::kSourceSets,
                               int max_faults = std::numeric_limits<int>::max())
      : reduction_(reduction), max_faults_(max_faults) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override;
  // Tries all numbers, the smallest first.
  size_t Pick(size_t count) override;
  // Tries both answers, false first.
  bool Chance(double) override;
  void OnTurn(const ScheduleOption& turn) override;
  bool WantsFootprints() const override { return reduction_ != Reduction::kNone; }
  void OnTurnDone(const TurnReport& report) override;
  void OnClockMove() override { clock_moved_ = turns_done_; }
  void OnRunEnd(std::span<const ScheduleOption> pending) override;
  bool EndsRun() const override { return redundant_; }

  // Prepares the next run; returns false if all schedules have been run.
  bool Next();
  // Continues a search whose path() was this one after Next(), with these checks() at least. The
  // first `fixed` decisions stay as they are: only the schedules below them are run. To be called
  // before the first run.
  void Resume(std::vector<Node> path, size_t fixed, const Footprint& checks);
  const std::vector<Node>& path() const { return path_; }
  size_t fixed() const { return fixed_; }
  // What the runs ask for at the fixed decisions, in the order in which they did.
  const std::vector<Claim>& claims() const { return claims_; }
  // What invariants have read in all runs.
  const Footprint& checks() const { return checks_; }
  // An invariant has read something new, so that the search is to begin again, with the fixed
  // decisions, too. Next() returns false then.
  bool must_restart() const { return must_restart_; }
  // Returns true if Next() has returned false.
  bool has_ended() const { return has_ended_; }
  // Returns true if the current run is equivalent to an earlier one.
  bool redundant() const { return redundant_; }
  // Returns true if a run could have had more faults than allowed.
  bool limited() const { return limited_; }

 private:
  // A turn of the current run.
  struct Turn {
    int actor;
    std::optional<size_t> node;  // The decision that chose it, if there was a choice.
    Footprint footprint;
    // All turns below this number happened before it, because the clock moved in between.
    size_t clock_moved;
    // By actor, how many of the turns up to its last one that happened before this turn.
    std::vector<size_t> before;

    bool IsAfter(size_t number, const Turn& earlier) const;
    void Join(size_t number, const Turn& earlier);
  };

  static std::vector<Move> MovesOf(std::span<const ScheduleOption> options);
  void Try(size_t node, const std::set<int>& initials, std::optional<int> actor);
  void AddTurn(int actor, const Footprint& footprint);
  void ReverseRace(size_t first, size_t second);
  std::set<int> Initials(size_t first, size_t second) const;

  const Reduction reduction_;
  const int max_faults_;
  bool limited_ = false;
  std::vector<Node> path_;
  size_t fixed_ = 0;  // How many decisions of the path stay as they are.
  std::vector<Claim> claims_;
  bool must_restart_ = false;
  bool has_ended_ = false;
  std::vector<Turn> turns_;  // Of the current run and, until they are repeated, of the last one.
  Footprint checks_;         // What invariants have read in all runs.
  bool checks_grew_ = false;

  // The current run.
  int faults_ = 0;
  size_t depth_ = 0;            // How many decisions of the path it has made.
  size_t turns_done_ = 0;       // How many turns it has taken.
  size_t clock_moved_ = 0;      // How many of them were before the last movement of the clock.
  std::vector<Move> sleeping_;  // The sleep set.
  bool just_chose_ = false;     // The next turn is the one that the last decision chose.
  // The position in the path of the decision that chose the current turn, if there was one.
  std::optional<size_t> turn_node_;
  bool redundant_ = false;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_EXHAUSTIVE_H_
