// 3scale for the domain replay: one process of the original per golden, in both formats of stamps.
//
// Its goldens were recorded in one process with a memoizer that was either emptied before every
// operation or kept (`memoizer`), and with a configuration (`config`). The name of an operation may
// have a remark, "redis.del (simulate expiry)", which the operation gets as its argument `label`.
//
// Each golden is replayed twice: as recorded, with trimmed stamps, and with the fixed-width stamps
// of the seed. In the second replay results and errors must be equal, and the keyspace must equal
// `keyspace_seed_format`, or the recorded one if there is none. Races are commands of several
// clients, which are sent unchanged.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_THREESCALE_THREESCALE_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_THREESCALE_THREESCALE_DOMAIN_H_

#include "redouble/tests/golden/replay/domain.h"

namespace redouble::inline v0_1::golden {

Domain ThreescaleDomain();

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_THREESCALE_THREESCALE_DOMAIN_H_
