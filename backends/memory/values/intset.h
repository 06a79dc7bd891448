// A set of integers in one sorted block of bytes, in Redis's intset format, byte for byte.
//
// Why it exists: Redis keeps a small set whose members are all integers as an intset. Keeping the
// very same bytes makes DUMP and RESTORE a copy, gives SMEMBERS Redis's ascending order and MEMORY
// USAGE its answer, and makes such a set one allocation: an Intset is one pointer.
//
//   | bytes | what                                                             |
//   | ----- | ---------------------------------------------------------------- |
//   | 4     | width of a member in bytes: 2, 4 or 8, little-endian             |
//   | 4     | number of members, little-endian                                 |
//   | ...   | the members, ascending, little-endian two's complement           |
//
// The width is the widest that a member ever needed: adding a wide member widens all, removing it
// narrows none, as in Redis.
//
//   Intset set;
//   set.Add(7);            // true
//   set.Add(7);            // false: it is a member already
//   set.Contains(7);       // true
//   set.At(0);             // 7, the least
//
// Looking up is logarithmic, adding and removing linear with one memmove. Not safe to use from
// several threads at once while one of them writes.
//
// Source: Redis 7.0 DUMP, OBJECT ENCODING.

#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_INTSET_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_INTSET_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "backends/memory/values/byte_block.h"

namespace redouble::memory {

class Intset {
 public:
  // Without members.
  Intset();

  // A copy has bytes of its own, and no spare capacity.
  Intset(const Intset& other);
  Intset& operator=(const Intset& other);

  // Moving takes the bytes along. The moved-from set may only be destroyed or assigned to.
  Intset(Intset&& other) noexcept = default;
  Intset& operator=(Intset&& other) noexcept = default;

  // Returns the set that `bytes` are, after a check of every byte. A set without members passes;
  // that no key holds one is for RESTORE to know. InvalidArgument: a width that is none, a size
  // that does not fit the count, members that do not ascend. Round trip: Parse(s.bytes())->bytes()
  // == s.bytes(). Linear in the size.
  static absl::StatusOr<Intset> Parse(std::string_view bytes);

  // The whole set as DUMP carries it; lives until the next change.
  std::string_view bytes() const;
  size_t size_bytes() const;

  // What the set occupies, spare capacity included.
  size_t allocated_bytes() const { return block_.capacity(); }

  // The number of members.
  size_t count() const;
  bool empty() const { return count() == 0; }

  // Returns the member at `index` of the ascending order; `index` is less than count().
  int64_t At(size_t index) const;

  // Returns how many members are less than `value`: where it stands or would stand.
  size_t Rank(int64_t value) const;

  bool Contains(int64_t value) const;

  // Makes `value` a member and returns true; false when it was one already.
  bool Add(int64_t value);

  // Makes `value` no member and returns true; false when it was none.
  bool Remove(int64_t value);

 private:
  explicit Intset(ByteBlock block) : block_(std::move(block)) {}

  size_t width() const;
  void WriteHeader(size_t width, size_t count);
  void Write(size_t index, int64_t value);
  void Widen(size_t width);

  ByteBlock block_;
};

static_assert(sizeof(Intset) == sizeof(void*), "a value in the keyspace is one pointer");

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_INTSET_H_
