// Listpack: a list of strings in one block of bytes, in Redis 7's listpack format, byte for byte.
//
// Redis keeps every small hash, set, sorted set, list node and stream node as a listpack. With the
// same bytes, DUMP and RESTORE are copies, OBJECT ENCODING, MEMORY USAGE and the node limits of
// streams have Redis's results, and a small value is one allocation: a Listpack is one pointer.
//
//   | bytes | content                                                     |
//   | ----- | ----------------------------------------------------------- |
//   | 4     | size of the whole in bytes, little-endian                   |
//   | 2     | number of elements; 65535 if they must be counted           |
//   | ...   | the elements: encoding, payload, size again (for backwards) |
//   | 1     | 0xFF                                                        |
//
// A string that is a canonical 64-bit integer ("42", not "042") is stored and returned as an
// integer: the text is preserved, the type is not.
//
// A Position is the byte offset of an element. It is valid until the listpack is edited; each edit
// returns the position to continue from. Walking is O(1) per element in both directions. Reaching
// an index, finding and editing are linear in the size, with one memmove per edit and no allocation
// per element. Growth is amortized; a listpack that shrinks frees memory.
//
//   Listpack pack;
//   pack.Append("field");
//   pack.Append("42");
//   const Listpack::Position field = pack.Find("field", pack.First(), 1);
//   pack.Get(pack.Next(field)).integer();                            // 42
//   absl::StatusOr<Listpack> same = Listpack::Parse(pack.bytes());   // checked deeply
//
// Text passed to an edit must not point into the edited listpack.
//
// Thread-safety: one thread, for reads too: count() may update the header.
// Source: Redis 7.0 DUMP; the listpack specification (antirez/listpack).

#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_LISTPACK_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_LISTPACK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/values/encodings/byte_block.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {

namespace listpack_codec {
struct EncodedElement;
}  // namespace listpack_codec

// The value of an element: an integer, or a string that points into the listpack and is valid until
// its next edit.
class ListpackValue {
 public:
  explicit ListpackValue(int64_t integer) : integer_(integer) {}
  explicit ListpackValue(std::string_view text) : text_(text), is_text_(true) {}

  // True if the element is stored as an integer. Elements written by this class are integers
  // exactly if their text is a canonical integer; parsed bytes may contain "42" as a string.
  bool is_integer() const { return !is_text_; }

  // The integer. Requires is_integer().
  int64_t integer() const { return integer_; }

  // The string. Requires !is_integer().
  std::string_view text() const { return text_; }

  // The element as an integer if its text is a canonical integer, however it is stored.
  std::optional<int64_t> AsInt64() const;

  // The element's text. The text of an integer is written to `buffer`. Valid as long as the buffer
  // and the listpack.
  std::string_view View(base::Int64Buffer& buffer) const;

  // A copy of the element's text.
  std::string ToString() const;

  // True if the element's text equals `text`.
  bool Equals(std::string_view text) const;

 private:
  std::string_view text_;
  int64_t integer_ = 0;
  bool is_text_ = false;
};

class Listpack {
 public:
  // The byte offset of an element from the beginning of the listpack.
  using Position = uint32_t;

  // No element: the position before the first and after the last.
  static constexpr Position kNone = 0;

  // The size of an empty listpack.
  static constexpr size_t kEmptyBytes = 7;

  // Redis converts a value to another encoding before its listpack exceeds this size.
  static constexpr size_t kSafeBytes = size_t{1} << 30;

  // An empty listpack.
  Listpack();

  // The copy has its own bytes and no spare capacity.
  Listpack(const Listpack& other);
  Listpack& operator=(const Listpack& other);

  // The moved-from listpack may only be destroyed or assigned to.
  Listpack(Listpack&& other) noexcept = default;
  Listpack& operator=(Listpack&& other) noexcept = default;

  // Parses a listpack and checks every byte: header, encodings, back lengths, end and count. The
  // result is safe to walk and to edit. Integers that are not in their shortest form and strings
  // that could be integers are kept as they are. Returns InvalidArgument with the offset of the
  // first error. Parse(p.bytes())->bytes() == p.bytes(). Linear in the size.
  static absl::StatusOr<Listpack> Parse(std::string_view bytes);

  // The whole listpack in DUMP's format. Valid until the next edit.
  std::string_view bytes() const;
  size_t size_bytes() const;

  // The allocated size, including spare capacity.
  size_t allocated_bytes() const { return block_.capacity(); }

  // The number of elements. O(1) below 65535 elements, linear above.
  size_t count() const;
  bool empty() const { return size_bytes() == kEmptyBytes; }

  // True if the listpack stays within kSafeBytes with `added_bytes` more bytes.
  bool IsSafeToAdd(size_t added_bytes) const { return size_bytes() + added_bytes <= kSafeBytes; }

  // Walking. Each returns kNone if there is no such element. `position` must be an element's.
  Position First() const;
  Position Last() const;
  Position Next(Position position) const;
  Position Previous(Position position) const;

  // The element at `index`, from 0 upwards, or from -1 downwards to count from the end; kNone if it
  // is out of range. Walks from the nearer end.
  Position Seek(int64_t index) const;

  // The value of the element at `position`.
  ListpackValue Get(Position position) const;

  // The first element at or after `from` whose text is `text`; kNone if it is not found or `from`
  // is kNone. After each compared element, `skip` elements are skipped: with `skip` 1 and the first
  // element it compares the fields of a hash and not the values.
  Position Find(std::string_view text, Position from, size_t skip = 0) const;

  // True if the texts of the elements 0, 2, 4, ... differ: the fields of a hash, the members of a
  // sorted set. O(size log size).
  bool HasDistinctKeys() const;

  // Add an element at the front, at the end, before or after the element at `position`, and return
  // the new element's position. Return kNone and change nothing if the size would exceed 4 GiB - 1.
  Position Prepend(std::string_view text);
  Position Prepend(int64_t integer);
  Position Append(std::string_view text);
  Position Append(int64_t integer);
  Position InsertBefore(Position position, std::string_view text);
  Position InsertBefore(Position position, int64_t integer);
  Position InsertAfter(Position position, std::string_view text);
  Position InsertAfter(Position position, int64_t integer);

  // Replaces the value of the element at `position` and returns the same position. Returns kNone
  // and changes nothing if the size would exceed 4 GiB - 1.
  Position Replace(Position position, std::string_view text);
  Position Replace(Position position, int64_t integer);

  // Appends the elements of `other`, which must not be this listpack. The caller must have checked
  // IsSafeToAdd(other.size_bytes()).
  void AppendAll(const Listpack& other);

  // Removes the element at `position`, or up to `count` elements from there on. Returns the
  // position of the element that followed them; kNone if there is none.
  Position Erase(Position position);
  Position Erase(Position position, size_t count);

  // Removes up to `count` elements from `index` on (see Seek). Does nothing if the index is out of
  // range.
  void EraseRange(int64_t index, size_t count);

  // Removes all elements.
  void Clear();

  // Reserves capacity for `size_bytes` bytes, or frees all spare capacity.
  void Reserve(size_t size_bytes) { block_.Grow(size_bytes); }
  void ShrinkToFit() { block_.ShrinkTo(size_bytes()); }

 private:
  explicit Listpack(ByteBlock block) : block_(std::move(block)) {}

  const uint8_t* At(Position position) const { return block_.data() + position; }
  Position End() const { return static_cast<Position>(size_bytes() - 1); }
  Position ElementOrNone(Position position) const { return position == End() ? kNone : position; }

  size_t WholeElementBytes(Position position) const;
  void WriteHeader(size_t size_bytes, size_t count);
  bool Splice(Position at, size_t old_bytes, size_t new_bytes, int64_t count_change);
  Position Put(Position at, size_t old_bytes, const listpack_codec::EncodedElement& element);

  ByteBlock block_;
};

static_assert(sizeof(Listpack) == sizeof(void*), "a value in the keyspace is one pointer");

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_LISTPACK_H_
