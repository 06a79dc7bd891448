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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "redouble/backends/memory/engine/reply_sink.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

// Returns an error if the reply for `count` would be unreasonably large; nullopt otherwise. Redis
// sends such a reply until the client disconnects or the server runs out of memory. `sink`: where
// the reply goes, if not into memory; a limit of the output stops it.
std::optional<store::Reply> RefuseAbsurdCount(int64_t count, const ReplySink* sink);

// Positions among `size` (> 0) elements. `count` is not negative: that many distinct positions, or
// all in order if there are no more.
std::vector<size_t> PickPositions(base::Rng& rng, size_t size, uint64_t count);

// As PickPositions for one position.
inline size_t PickPosition(base::Rng& rng, size_t size) { return size == 1 ? 0 : rng.Below(size); }

// How many positions VisitPositions picks.
inline size_t PickCount(size_t size, int64_t count) {
  if (count < 0) return -static_cast<uint64_t>(count);
  return std::min(size, static_cast<size_t>(count));
}

// Calls `visit(position)` for picked positions. A `count` that is not negative: as PickPositions. A
// negative `count`: exactly -count times, possibly with repetitions, until `visit` returns false.
void VisitPositions(base::Rng& rng, size_t size, int64_t count,
                    absl::FunctionRef<bool(size_t)> visit);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_RANDOM_PICKS_H_
