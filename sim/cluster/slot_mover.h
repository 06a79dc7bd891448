// MoveSlots: an actor that moves slots of a world's Redis Cluster while other actors use them.
// MoveSlotOf: one such move.
//
//   world.Spawn("mover", [](sim::Actor& actor) { return sim::MoveSlots(actor); },
//               {.daemon = true, .spared = true});
//
// It moves slots that have keys, one after another (core/store/cluster/slot_move.h), each from a
// random master to another one. The actor must be spared by faults: a command of a move that a
// server executes long after the move would undo a later one.
//
// A master can be lost during a move (the fault `promote`). The move is begun again then, with the
// replica that took over, and the copy of a key that clients see replaces the other one.
//
// Each command of a move is a request of the actor, so other actors can run between two of them.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLUSTER_SLOT_MOVER_H_
#define REDOUBLE_SIM_CLUSTER_SLOT_MOVER_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {

// How often MoveSlots moves a slot, and until when.
struct SlotMoves {
  // The pause before each move is random, of any magnitude below this.
  absl::Duration longest_pause = absl::Seconds(1);
  // After so many moves the actor ends.
  int64_t most = std::numeric_limits<int64_t>::max();
  // Asked before each move: true ends the actor. Empty: it goes on until the world ends.
  std::function<bool()> end = {};
};

// Moves slots until `end` says so, or `most` have moved, or reports a mistake
// (World::ReportMistake) if the world has fewer than two masters or a slot cannot be moved.
// Connections that break are opened again.
base::Task<void> MoveSlots(Actor& actor, SlotMoves moves = {});

// Moves the slot of the key from one master to another one. Both are names of servers; `from` must
// have the slot. Errors: as store::MoveSlot.
base::Task<absl::Status> MoveSlotOf(Actor& actor, std::string key, std::string from,
                                    std::string to);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLUSTER_SLOT_MOVER_H_
