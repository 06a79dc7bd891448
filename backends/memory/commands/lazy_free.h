// What Redis frees in the background: INFO's lazyfreed_objects.
//
// UNLINK and the FLUSH commands use it. Here a command frees all that it removes; the counter tells
// what a redis-server would have left to its background thread.
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 lazyfree.c.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_LAZY_FREE_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_LAZY_FREE_H_

#include <cstddef>
#include <string_view>

#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/server/removal_word.h"

namespace redouble::inline v0_1::memory {

// Smaller things are freed at once.
inline constexpr size_t kLazyFreeThreshold = 64;

// True if a FLUSH command with these words, none or SYNC or ASYNC, frees in the background. Without
// a word, lazyfree-lazy-user-flush decides.
bool FlushesLater(const EngineCore& engine, Arguments arguments);

// server/removal_word.h, for a command; the word is looked up only if the context propagates.
std::string_view RemovalWord(const CommandContext& context, LazyFree operation);

// Counts scripts or functions that are flushed in the background.
void CountFlushedLater(EngineCore& engine, size_t count);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_LAZY_FREE_H_
