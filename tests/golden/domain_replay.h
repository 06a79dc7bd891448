// Domain replay: runs the recorded operations with the system's own code on an empty server and
// compares every result, the commands that each operation sends, and the recorded keyspaces.
//
// As in the raw replay, the clock is set to the first time in the golden. Operations receive `now`
// as an argument.
//
// Steps of the operation "raw" are commands of other clients, and are sent unchanged. Some of them
// are the first commands of a later operation: the recorder wrote two racing operations in this
// form. Such an operation is started early through a HeldStore (sim/scenario/client.h), which holds
// each of its commands until the recorded order reaches it.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_GOLDEN_DOMAIN_REPLAY_H_
#define REDOUBLE_TESTS_GOLDEN_DOMAIN_REPLAY_H_

#include "redouble/sim/scenario/backend.h"
#include "redouble/tests/golden/replay/domain.h"
#include "redouble/tests/golden/replay/golden.h"
#include "redouble/tests/golden/replay/outcome.h"

namespace redouble::inline v0_1::golden {

// Replays the operations of `golden` and checks its tables. Resets the backend first. Skips a
// golden with an operation that the domain does not have and that is newer than the specification
// (its file is named ext_*).
Outcome ReplayDomain(const Golden& golden, const Domain& domain, sim::ScenarioBackend& backend);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_DOMAIN_REPLAY_H_
