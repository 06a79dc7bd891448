// RemovalWord: how the removal of a key is propagated: "DEL", or "UNLINK" if the options say that
// Redis frees such keys in the background.
//
//   propagation.AddRemoval(db, RemovalWord(options, LazyFree::kExpire), key);
//
// Thread-safety: a pure function.
// Source: Redis 7.0 redis.conf, "lazyfree-lazy-expire".
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_REMOVAL_WORD_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_REMOVAL_WORD_H_

#include <string_view>

#include "redouble/backends/memory/engine_options.h"

namespace redouble::inline v0_1::memory {

// The operations that have a parameter, lazyfree-lazy-...
enum class LazyFree { kExpire, kEviction, kServerDel, kUserDel };

std::string_view RemovalWord(const EngineOptions& options, LazyFree operation);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_REMOVAL_WORD_H_
