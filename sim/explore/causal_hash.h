// CausalHash: a hash of the turns of a run and of the order of those that depend on each other.
//
// Two beginnings of runs that differ only in the order of turns that commute have the same hash,
// and have led to the same state: of the server, of the actors, of the clock. A search that meets a
// hash again need not continue. The engine's own state hash (DEBUG DIGEST) would not do: it covers
// neither the actors, who have seen different replies, nor transactions, watched keys, blocked
// clients and random numbers. The reverse does not hold: equal states that different replies led to
// have different hashes.
//
//   hash.AddTurn(report.actor, footprint, /*choices=*/0);
//   if (!seen.insert(hash.Value()).second) ...
//
// Source: Musuvathi and Qadeer, "Partial-order reduction for context-bounded state exploration"
// (2007).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_EXPLORE_CAUSAL_HASH_H_
#define REDOUBLE_SIM_EXPLORE_CAUSAL_HASH_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "redouble/sim/decision/footprint.h"

namespace redouble::inline v0_1::sim {

// Returns a hash of two hashes, in this order.
uint64_t MixHash(uint64_t first, uint64_t second);

class CausalHash {
 public:
  // Adds the next turn of the run. `choices` is a hash of the decisions within the turn: which
  // request of the actor was sent, and which faults happened.
  void AddTurn(int actor, const Footprint& footprint, uint64_t choices);
  // The clock has moved, which all later turns depend on. `choices`: the decisions that this made.
  void AddClockMove(uint64_t choices);
  void Clear() { *this = CausalHash(); }

  uint64_t Value() const;

 private:
  static constexpr int kStates = 8;

  // The last turns that touched a key.
  struct Object {
    uint64_t written = 0;
    uint64_t read = 0;  // The sum over the turns that have read it since it was written.
  };

  uint64_t& ActorAt(size_t actor);
  void Begin(uint64_t everything_before);
  static uint64_t Before(const Object& object, bool writes);
  static void Touch(Object& object, bool writes, uint64_t turn);

  uint64_t epoch_ = 0;            // The last turn that all others depend on.
  std::vector<uint64_t> actors_;  // By actor, the last turn that continued it.
  std::map<std::string, Object, std::less<>> keys_;
  std::array<Object, kStates> states_ = {};
  Object checks_;  // What invariants see.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_CAUSAL_HASH_H_
