// Reads the argument `layout` of an operation: "documented" (the default) or "cluster".
//
// An operation of a system with a cluster layout calls it for each of its keys, so that a scenario
// or a world can run in both layouts.
//
//   const orchestrator::Keys keys(sim::ReadKeyLayout(reader));
//
// Thread-safety: one thread, as ArgumentReader.
#ifndef REDOUBLE_SIM_OPERATIONS_KEY_LAYOUT_H_
#define REDOUBLE_SIM_OPERATIONS_KEY_LAYOUT_H_

#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::sim {

// Returns the layout; kDocumented after an error, which the reader keeps.
store::KeyLayout ReadKeyLayout(ArgumentReader& reader);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_OPERATIONS_KEY_LAYOUT_H_
