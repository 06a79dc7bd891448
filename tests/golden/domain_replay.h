// Domain replay: the recorded operations through the system's own code, on a server that starts
// empty; every result, the commands that each operation sends, and the recorded keyspaces must come
// out again.
//
// Time stands still at the first moment that the golden names, as in the raw replay; operations get
// their "now" as an argument.
//
// Steps of the operation "raw" are other clients' commands, and are sent as they are; but some of
// them are the beginning of an operation further down, whose own commands lack it: so a recorder
// wrote down two operations that race. Such an operation is started early, by the scenarios' own
// means (HeldStore in sim/scenario/client.h): it holds each command until the recorded order gives
// it its turn.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_GOLDEN_DOMAIN_REPLAY_H_
#define REDOUBLE_TESTS_GOLDEN_DOMAIN_REPLAY_H_

#include "sim/scenario/backend.h"
#include "tests/golden/domain.h"
#include "tests/golden/golden.h"
#include "tests/golden/outcome.h"

namespace redouble::golden {

// Replays the operations of `golden` and checks its tables. The backend is begun anew. Skipped when
// the golden has an operation newer than the system's seed (its file is called ext_*) that the
// domain does not have.
Outcome ReplayDomain(const Golden& golden, const Domain& domain, sim::ScenarioBackend& backend);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_DOMAIN_REPLAY_H_
