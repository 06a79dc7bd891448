// Conflicts: which turns of an actor the turns of other actors can affect, as seen in the runs of a
// search so far.
//
// A turn is private if no other actor has accessed what it writes, or written what it reads.
// Preempting an actor before a private turn shows nothing that preempting it after the turn does
// not show. The searches (sim/explore/bounded.h, sim/explore/strategies.h) preempt elsewhere.
//
//   conflicts.Add(report.actor, footprint);
//   if (!conflicts.IsPrivate(report.actor, footprint)) ...
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_EXPLORE_CONFLICTS_H_
#define REDOUBLE_SIM_EXPLORE_CONFLICTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "redouble/sim/decision/footprint.h"

namespace redouble::inline v0_1::sim {

class Conflicts {
 public:
  // Adds what a turn of the actor did. Returns true if a turn that was private may not be private
  // any more.
  bool Add(int actor, const Footprint& footprint);
  // Returns true if no turn of another actor that was added conflicts with this turn.
  bool IsPrivate(int actor, const Footprint& footprint) const;

 private:
  // Sets of actors: a bit for each. With more than 64 actors, nothing is private.
  struct Users {
    uint64_t readers = 0;
    uint64_t writers = 0;
  };

  bool AddUser(Users& users, int actor, bool writes);
  static bool OthersConflict(const Users& users, int actor, bool writes);

  std::map<std::string, Users, std::less<>> keys_;
  std::map<int, Users> states_;
  bool nothing_is_private_ = false;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_CONFLICTS_H_
