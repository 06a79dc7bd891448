// The random picks of HRANDFIELD, SRANDMEMBER, ZRANDMEMBER and SPOP.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_RANDOM_PICKS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_RANDOM_PICKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/rng.h"

namespace redouble::memory {

// Positions among `size` (> 0) elements as a count asks for them: so many different ones, all in
// order when there are no more; for a negative count exactly that many, repetitions allowed.
std::vector<size_t> PickPositions(base::Rng& rng, size_t size, int64_t count);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_RANDOM_PICKS_H_
