// Relayna for the domain replay: its operations, their configuration, its races, its timestamps.
//
// Its goldens name a method of the original, "status.set_history", and give its arguments, but not
// how the store was configured: prefix, time to live and lengths are read from the commands that
// the step recorded. Names have remarks, "dlq.claim_replay(missing)", and actors, "A.claim_replay";
// "raw.del(lock expires)" is a command as it stands. A "race" is taken apart by its trace: whose
// commands were whose says what each actor called.
//
// What a step of the Studio stands for is the other half's to say: PlanStep asks each half.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_RELAYNA_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_RELAYNA_DOMAIN_H_

#include <string>
#include <string_view>

#include "tests/golden/domain.h"

namespace redouble::golden {

Domain RelaynaDomain();

// "claim_replay" of "A.claim_replay(force)": without actor or store, and without remark.
std::string MethodOf(std::string_view op);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_RELAYNA_DOMAIN_H_
