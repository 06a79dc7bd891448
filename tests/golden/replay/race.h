// Races in the goldens of Relayna and Studio: steps that record the requests of several actors in
// order.
//
// Thread-safety: free functions. For this folder only.
#ifndef REDOUBLE_TESTS_GOLDEN_REPLAY_RACE_H_
#define REDOUBLE_TESTS_GOLDEN_REPLAY_RACE_H_

#include <set>
#include <span>
#include <string>
#include <vector>

#include "redouble/tests/golden/replay/domain.h"
#include "redouble/tests/golden/replay/golden.h"

namespace redouble::inline v0_1::golden {

// The commands of each actor of a race, and the turns of all actors as the step's result.trace has
// them; an EXEC[...] is one turn. Empty if the step has no trace.
struct RaceRecord {
  struct Actor {
    std::string name;
    std::vector<const RecordedCommand*> commands;
  };
  std::vector<Actor> actors;  // In the order of their first turn.
  std::vector<Plan::Turn> turns;
};
RaceRecord ReadRace(const RecordedStep& step);

// Returns the call of an actor that is not part of the system: it sends the commands one by one.
Plan::Call ForeignCall(const std::string& actor, std::span<const RecordedCommand* const> recorded);

// Sets the plan's result to that of a race, {"trace": [["A", "GET key"], ...], "results": {...}},
// with the other members as recorded. The results of `foreign` actors are not compared. An actor
// without a recorded result was killed after its last turn.
void EndAsRecorded(const Json& recorded, const std::set<std::string>& foreign, Plan& plan);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_REPLAY_RACE_H_
