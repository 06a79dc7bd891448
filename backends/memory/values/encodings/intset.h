// Intset: a set of integers in one sorted block of bytes, in Redis's intset format, byte for byte.
//
// Redis keeps a small set whose members are all integers as an intset. With the same bytes, DUMP
// and RESTORE are copies, SMEMBERS has Redis's ascending order, MEMORY USAGE has Redis's numbers,
// and such a set is one allocation: an Intset is one pointer.
//
//   | bytes | content                                                          |
//   | ----- | ---------------------------------------------------------------- |
//   | 4     | width of a member in bytes: 2, 4 or 8, little-endian             |
//   | 4     | number of members, little-endian                                 |
//   | ...   | the members, ascending, little-endian two's complement           |
//
// The width is that of the widest member that was ever added: adding a wide member widens all
// members, and removing it does not narrow the others, as in Redis.
//
//   Intset set;
//   set.Add(7);            // true
//   set.Add(7);            // false: it is a member already
//   set.Contains(7);       // true
//   set.At(0);             // 7, the least
//
// Lookup is logarithmic. Adding and removing are linear, with one memmove.
//
// Thread-safety: concurrent reads are safe; a write needs exclusive access.
// Source: Redis 7.0 DUMP, OBJECT ENCODING.

#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_INTSET_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_INTSET_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/values/encodings/byte_block.h"

namespace redouble::inline v0_1::memory {

class Intset {
 public:
  // An empty set.
  Intset();

  // The copy has its own bytes and no spare capacity.
  Intset(const Intset& other);
  Intset& operator=(const Intset& other);

  // The moved-from set may only be destroyed or assigned to.
  Intset(Intset&& other) noexcept = default;
  Intset& operator=(Intset&& other) noexcept = default;

  // Parses an intset and checks every byte. An empty set is accepted; RESTORE rejects it itself.
  // Returns InvalidArgument for an invalid width, a size that does not match the count, or members
  // that do not ascend. Parse(s.bytes())->bytes() == s.bytes(). Linear in the size.
  static absl::StatusOr<Intset> Parse(std::string_view bytes);

  // The whole set in DUMP's format. Valid until the next change.
  std::string_view bytes() const;
  size_t size_bytes() const;

  // The allocated size, including spare capacity.
  size_t allocated_bytes() const { return block_.capacity(); }

  // The number of members.
  size_t count() const;
  bool empty() const { return count() == 0; }

  // The member at `index` in ascending order; `index` must be less than count().
  int64_t At(size_t index) const;

  // The number of members that are less than `value`: the index of `value` if it is a member.
  size_t Rank(int64_t value) const;

  bool Contains(int64_t value) const;

  // Adds `value`. Returns false if it is a member already.
  bool Add(int64_t value);

  // Removes `value`. Returns false if it is not a member.
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

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_INTSET_H_
