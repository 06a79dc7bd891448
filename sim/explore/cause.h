// Cause: what a violation came from, so that two violations of one invariant can be told apart.
//
// Shrinking (sim/explore/explore.h) compares causes, so that it does not end at another bug than
// the one that was found. A part of a cause is a simpler form of it:
//
//   if (violation.cause.IsWithin(found.cause)) ...  // The same bug.
//
// Thread-safety: values.
#ifndef REDOUBLE_SIM_EXPLORE_CAUSE_H_
#define REDOUBLE_SIM_EXPLORE_CAUSE_H_

#include <set>
#include <string>

namespace redouble::inline v0_1::sim {

struct Cause {
  // The violated invariant.
  std::string invariant;
  // The names of the faults that were injected.
  std::set<std::string> faults;
  // Where two actors came between each other: the key, or the two keys as "first/second", by which
  // a turn of one actor followed a turn of another that it conflicts with, and the other way round.
  // Runs of actors one after another have no such keys.
  std::set<std::string> conflicts;

  // Returns true if the invariants are equal, and this cause needs no fault and no conflict that
  // the other one does not need.
  bool IsWithin(const Cause& other) const;
  // "overspent; faults: crash; conflicts: budget:1, log". Parts that are empty are left out.
  std::string ToString() const;

  friend bool operator==(const Cause&, const Cause&) = default;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_CAUSE_H_
