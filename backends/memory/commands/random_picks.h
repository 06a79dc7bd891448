// The random picks of HRANDFIELD, SRANDMEMBER, ZRANDMEMBER and SPOP.
//
// The handlers of hashes, sets and sorted sets pick positions in the order of their tables; they
// look up the elements themselves. Picks come from the engine's Rng, so equal seeds pick equal
// elements.
//
//   if (std::optional<Reply> refusal = RefuseAbsurdCount(count)) return *std::move(refusal);
//   for (const size_t at : PickPositions(context.rng(), set->size(), count)) ...
//
// Thread-safety: pure functions of their arguments.
// Source: Redis 7.0 SRANDMEMBER.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_RANDOM_PICKS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_RANDOM_PICKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/reply.h"

namespace redouble::memory {

// Returns an error if the reply for `count` would be unreasonably large; nullopt otherwise. Redis
// sends such a reply until the client disconnects or the server runs out of memory.
std::optional<store::Reply> RefuseAbsurdCount(int64_t count);

// Positions among `size` (> 0) elements. A positive `count`: that many distinct positions, or all
// in order if there are no more. A negative `count`: exactly -count positions, possibly repeated.
std::vector<size_t> PickPositions(base::Rng& rng, size_t size, int64_t count);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_RANDOM_PICKS_H_
