// Serial runs: all orders in which the actors of a world run one after another.
//
// Their outcomes are what a serializable system may produce (AddSerializable in
// sim/check/properties.h).
//
//   ForEachSerialOrder(/*actors=*/2, [&](DecisionSource& decisions) {
//     World world({.decisions = &decisions});
//     ...
//   });
//
// Cost: n! runs for n actors.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CHECK_SERIAL_H_
#define REDOUBLE_SIM_CHECK_SERIAL_H_

#include <cstddef>
#include <functional>

#include "redouble/sim/decision/decisions.h"

namespace redouble::inline v0_1::sim {

// Calls `run` once for each order of the actors, with decisions that keep this order as far as the
// actors can continue, and that inject no fault of a probability below 1. With split events, an
// actor's requests are executed and answered before the next actor begins.
void ForEachSerialOrder(size_t actors, const std::function<void(DecisionSource&)>& run);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CHECK_SERIAL_H_
