// Races of Relayna's and Studio's goldens: a step that records whose request went when.
//
// Thread-safety: free functions. For this folder only.
#ifndef REDOUBLE_TESTS_GOLDEN_RACE_H_
#define REDOUBLE_TESTS_GOLDEN_RACE_H_

#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/golden/domain.h"
#include "tests/golden/golden.h"

namespace redouble::golden {

// The commands of one actor of a race, in order, and the turns of all: as the step's
// result.trace says, an EXEC[...] being one turn. Empty when the step has no trace.
struct RaceRecord {
  struct Actor {
    std::string name;
    std::vector<const RecordedCommand*> commands;
  };
  std::vector<Actor> actors;  // In the order of their first turn.
  std::vector<Plan::Turn> turns;
};
RaceRecord ReadRace(const RecordedStep& step);

// An actor that is none of ours: sends the commands as they are, one after the other.
Plan::Call ForeignCall(const std::string& actor, std::span<const RecordedCommand* const> recorded);

// Makes the plan's result that of a race, {"trace": [["A", "GET key"], ...], "results": {...}}, as
// recorded but for these two. Of `foreign` actors no result is compared; who has none recorded was
// killed behind its last turn.
void EndAsRecorded(const Json& recorded, const std::set<std::string>& foreign, Plan& plan);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_RACE_H_
