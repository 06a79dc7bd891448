// How many bytes a key would take in a redis-server: what MEMORY USAGE reports, and what maxmemory
// counts.
//
// The numbers follow Redis's own structures and the size classes of its allocator, not what this
// engine allocates, so that a test that sizes its data for Redis sees the same limits here. They
// are exact for strings, listpacks and intsets; where Redis depends on chance or on its past (a
// skip list's levels, room that a string kept when it shrank, a table about to grow, the trees of
// pending entries) they are what it has on average.
//
// Thread-safety: free functions.
// Source: Redis 7.0 MEMORY USAGE.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_MEMORY_USAGE_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_MEMORY_USAGE_H_

#include <cstddef>
#include <string_view>

#include "backends/memory/values/value.h"

namespace redouble::memory {

// How many elements of a collection are looked at when nobody says otherwise.
inline constexpr size_t kUsageSamples = 5;

// Bytes of the key with its value. Of a large collection the first `samples` elements stand for
// all; 0 looks at all of them. O(samples) but for streams, which also count their consumers.
size_t MemoryUsage(std::string_view key, const Value& value, size_t samples = kUsageSamples);

// What Redis's allocator takes for a block of so many bytes.
size_t AllocatedBytes(size_t bytes);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_MEMORY_USAGE_H_
