// Memory sizes as redis.conf writes them: "64mb".
//
//   ReadMemory("64mb");     // 67108864
//   MemoryText(67108864);  // "64mb"
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_MEMORY_SIZE_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_MEMORY_SIZE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::memory {

// A number of bytes, with or without a unit; nullopt if it is invalid. Without digits it is 0.
// Units in any case: "b", "k" (1000), "kb" (1024), "m", "mb", "g", "gb". A zero byte ends it. A
// number of more than 64 bits is their maximum; the product with the unit is taken modulo 2^64.
// Source: Redis 7.0 memtoull.
std::optional<uint64_t> ReadMemory(std::string_view text);

// The shortest way to write it: the largest of the units gb, mb and kb that leaves no rest. Source:
// Redis 7.0 rewriteConfigFormatMemory.
std::string MemoryText(uint64_t bytes);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_MEMORY_SIZE_H_
