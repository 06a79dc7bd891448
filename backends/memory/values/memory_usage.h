// The number of bytes that a key would take in a redis-server, as MEMORY USAGE and maxmemory count
// them.
//
// The numbers follow Redis's data structures and the size classes of its allocator, not the memory
// of this engine, so a test that sizes its data for Redis meets the same limits here. They are
// exact for strings, listpacks and intsets. Where Redis's number depends on chance or history (the
// levels of a skip list, spare room in a string that shrank, a table that is about to grow, the
// trees of pending entries), the result is the average.
//
//   size_t bytes = MemoryUsage("name", Value::String("Ann"));
//
// Thread-safety: free functions.
// Source: Redis 7.0 MEMORY USAGE.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_MEMORY_USAGE_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_MEMORY_USAGE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "redouble/backends/memory/values/value.h"

namespace redouble::inline v0_1::memory {

// The number of elements of a collection that are sampled by default.
inline constexpr size_t kUsageSamples = 5;

// Bytes of the key and its value. For a large collection, the average of the first `samples`
// elements is taken for all elements; 0 examines all of them. O(samples); O(samples + consumers)
// for streams.
size_t MemoryUsage(std::string_view key, const Value& value, size_t samples = kUsageSamples);

// How another version than 7.0 stores what MEMORY USAGE counts.
struct MemoryModel {
  // Where a key is stored: in its own allocation, in that of its entry, or in that of its value. In
  // the last case only the value counts.
  enum class Keys : uint8_t { kApart, kInEntry, kInValue };
  Keys keys = Keys::kApart;
  // The encoding that the value has there.
  std::string_view encoding;
};
size_t MemoryUsage(std::string_view key, const Value& value, size_t samples,
                   const MemoryModel& model);

// What Redis allocates for a string of `length` bytes with its header, and how many of these bytes
// are spare. Spare room that a value got from APPEND or SETRANGE is not known.
struct StringRoom {
  size_t allocated_bytes = 0;
  size_t spare_bytes = 0;
};
StringRoom RoomOfKey(size_t length);
// Of a value that is not an integer. `encoding`: "embstr" or "raw".
StringRoom RoomOfValue(size_t length, std::string_view encoding);

// The bytes that Redis's allocator reserves for a block of `bytes` bytes.
size_t AllocatedBytes(size_t bytes);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_MEMORY_USAGE_H_
