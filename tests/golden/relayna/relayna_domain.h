// Relayna for the domain replay: its operations, their configuration, its races, its timestamps.
//
// Its goldens name a method of the original, "status.set_history", and give its arguments, but not
// the configuration of the store: prefix, TTL and lengths are read from the commands of the step. A
// name may have a remark, "dlq.claim_replay(missing)", or an actor, "A.claim_replay"; "raw.del(lock
// expires)" is a plain command. The trace of a "race" gives the commands of each actor, and so the
// operation that each actor called.
//
// Studio's goldens are among Relayna's; PlanStep asks each of the two domains.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_RELAYNA_RELAYNA_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_RELAYNA_RELAYNA_DOMAIN_H_

#include <string>
#include <string_view>

#include "redouble/tests/golden/replay/domain.h"

namespace redouble::inline v0_1::golden {

Domain RelaynaDomain();

// Returns "claim_replay" for "A.claim_replay(force)": without actor, store and remark.
std::string MethodOf(std::string_view op);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_RELAYNA_RELAYNA_DOMAIN_H_
