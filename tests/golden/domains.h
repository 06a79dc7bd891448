// Returns the Domain of a system: what the replay of its recordings needs to know.
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_TESTS_GOLDEN_DOMAINS_H_
#define REDOUBLE_TESTS_GOLDEN_DOMAINS_H_

#include "redouble/tests/golden/replay/domain.h"
#include "redouble/tests/golden/replay/golden.h"

namespace redouble::inline v0_1::golden {

Domain DomainOf(System system);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_DOMAINS_H_
