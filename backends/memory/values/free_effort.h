// FreeEffort: how many blocks Redis frees with a value.
//
// UNLINK frees a value in the background if the effort is great. Here nothing is freed in the
// background; INFO counts the values that Redis would free so.
//
//   if (FreeEffort(entry.value) > 64) ++lazyfreed_objects;
//
// Thread-safety: a pure function.
// Source: Redis 7.0 lazyfree.c, lazyfreeGetFreeEffort.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_FREE_EFFORT_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_FREE_EFFORT_H_

#include <cstddef>

#include "redouble/backends/memory/values/value.h"

namespace redouble::inline v0_1::memory {

// Returns 1 for a value in one block. For a stream with groups it is an estimate, as in Redis: each
// group counts as much as the first one.
size_t FreeEffort(const Value& value);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_FREE_EFFORT_H_
