// 3scale for the domain replay: one process of the original per golden, in both formats of stamps.
//
// Its goldens were recorded of one process with a memoizer that was either emptied in front of
// every operation or kept (`memoizer`), and with some configuration (`config`). Names of operations
// may have a remark, "redis.del (simulate expiry)", which operations get as their argument `label`.
//
// Each golden is replayed twice: as it was recorded, with trimmed stamps, and with the fixed-width
// stamps of the seed. The second time results and errors must be the same, and the keyspace that of
// `keyspace_seed_format`, or the recorded one where there is none. Races are commands of several
// clients, which are sent as they are.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_THREESCALE_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_THREESCALE_DOMAIN_H_

#include "tests/golden/domain.h"

namespace redouble::golden {

Domain ThreescaleDomain();

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_THREESCALE_DOMAIN_H_
