// DividedSearch: divides the search of ExhaustiveDecisions into units that processes can run at the
// same time, so that what is found does not depend on how many processes there are.
//
//   DividedSearch search(max_faults);
//   while (search.units() > 0) {
//     for (size_t unit = 0; unit < search.units(); ++unit) {  // In any process and any order.
//       ExhaustiveDecisions decisions = search.Begin(unit);
//       for (int64_t i = 0; i < search.runs() && !decisions.has_ended(); ++i) {
//         ...                                                 // One run with these decisions.
//         decisions.Next();
//       }
//       texts[unit] = DividedSearch::ToText(decisions);
//     }
//     for (size_t unit = 0; ...) search.Add(unit, texts[unit]);  // In this order.
//     search.EndRound();
//   }
//
// A unit is what is left of the search below a path of decisions. In each round, every unit makes
// so many runs and tells where it has got to. Between rounds, as long as there are few units, the
// first decisions of a unit are shared: their other options become units of their own. What a unit
// asks for at a shared decision (ExhaustiveDecisions::Claim) is decided after the round, in the
// order of the units.
//
// The reductions stay those of ExhaustiveDecisions:
//
// * Source sets: a claim is dropped if an actor that satisfies it is tried at the decision, by any
//   unit.
// * Sleep sets: in a unit, the options sleep that were tried at a shared decision before its own.
//   For that, it must be known what they do. So an option is tried when the one before has been
//   taken with all answers of Chance() and Pick() within its turn, but not only when everything
//   below that was run.
//
// Source: Simsa, Bryant, Gibson and Hickey, "Scalable Dynamic Partial Order Reduction" (2012), for
// the division; the reductions are those of sim/explore/exhaustive.h.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_EXPLORE_DIVIDED_H_
#define REDOUBLE_SIM_EXPLORE_DIVIDED_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/sim/decision/footprint.h"
#include "redouble/sim/explore/exhaustive.h"

namespace redouble::inline v0_1::sim {

// How a search is divided. The result of a search depends on it.
struct DivisionOptions {
  // The number of units up to which decisions are shared. The default suits up to 4 processes and
  // more, and is a multiple of 2, 3 and 4, so that none of them waits at the end of a round.
  size_t units = 24;
  // The runs of a unit in a round: of the first ones, while there are less than half of the units,
  // and of the others. A process for fewer runs would cost more than the runs.
  int64_t first_runs = 250;
  int64_t runs = 2000;
  // The last decisions of a path are not shared: there is too little below them.
  size_t kept_decisions = 6;
};

class DividedSearch {
 public:
  explicit DividedSearch(int max_faults, const DivisionOptions& options = {})
      : max_faults_(max_faults), options_(options) {}

  // The number of units of this round; 0 if the search has ended.
  size_t units() const { return units_.size(); }
  // How many runs each unit may make in this round.
  int64_t runs() const;
  // The decisions of the next run of the unit.
  ExhaustiveDecisions Begin(size_t unit) const;

  // The state of a unit after its runs, each of which Next() has followed.
  static std::string ToText(const ExhaustiveDecisions& decisions);
  // Adds what was told, in the order of the units. A unit that was not run can be left out.
  void Add(size_t unit, std::string_view text);
  void EndRound();

  // Returns true if a run could have had more faults than allowed.
  bool limited() const { return limited_; }

 private:
  using Node = ExhaustiveDecisions::Node;

  // A place below a shared decision: the decision and the option that leads there.
  struct Place {
    size_t shared;
    size_t option;
  };
  // A decision below which there are several units.
  struct Shared {
    std::optional<Place> parent;
    Node node;
    std::vector<size_t> tried;  // The options, in the order in which units were made of them.
  };
  struct Unit {
    std::optional<Place> parent = {};  // Below no decision: the whole search.
    std::vector<Node> path = {};       // The decisions that belong to this unit.
    bool has_ended = false;
  };

  // The shared decisions above the unit, the first one first.
  std::vector<Place> PlacesOf(const Unit& unit) const;
  bool KnowsTheTurnOf(const Unit& unit, const Place& place) const;
  bool IsKnown(const Place& place) const;
  void TryNext(size_t shared);
  void TryAllAnswers(size_t shared);
  void ShareFirstDecision(size_t unit);
  void ShareDecisions();
  void ForgetUnused();

  const int max_faults_;
  const DivisionOptions options_;
  std::map<size_t, Shared> shared_;  // By number, in the order of sharing.
  size_t next_shared_ = 0;
  std::vector<Unit> units_ = {Unit()};
  Footprint checks_;
  bool must_restart_ = false;
  bool limited_ = false;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_DIVIDED_H_
