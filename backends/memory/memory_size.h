// Sizes as redis.conf writes them: "64mb".
//
// Thread-safety: a free function.
#ifndef REDOUBLE_BACKENDS_MEMORY_MEMORY_SIZE_H_
#define REDOUBLE_BACKENDS_MEMORY_MEMORY_SIZE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace redouble::memory {

// Bytes, with a unit or without; none when they are not. Units in any case: "b", "k" (1000), "kb"
// (1024), "m", "mb", "g", "gb". What is too much for 64 bits is the most that they hold.
// Source: Redis 7.0 memtoull.
std::optional<uint64_t> ReadMemory(std::string_view text);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_MEMORY_SIZE_H_
