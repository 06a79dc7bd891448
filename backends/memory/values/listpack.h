// A list of strings in one block of bytes, in Redis 7's listpack format, byte for byte.
//
// Why it exists: Redis keeps every small hash, set, sorted set, list node and stream node as a
// listpack. Keeping the very same bytes makes DUMP and RESTORE a copy, gives OBJECT ENCODING,
// MEMORY USAGE and the stream's node rule Redis's own answers, and makes a small value one
// allocation: a Listpack is one pointer.
//
//   | bytes | what                                                        |
//   | ----- | ----------------------------------------------------------- |
//   | 4     | size of the whole in bytes, little-endian                   |
//   | 2     | number of elements, 65535 for "count them"                  |
//   | ...   | the elements: encoding, payload, size once more (backwards) |
//   | 1     | 0xFF                                                        |
//
// A string that is a canonical 64-bit integer ("42", not "042") is stored as an integer and comes
// back as one: what goes in and what comes out are equal as text, not as type.
//
// Elements are named by a Position, a byte offset that stays valid until the listpack is edited (an
// edit returns the position to go on from). Walking is cheap in both directions; reaching an index,
// finding and editing are linear in the size, with one memmove per edit and no allocation per
// element. Growing is amortised; a listpack that shrinks gives memory back.
//
//   Listpack pack;
//   pack.Append("field");
//   pack.Append("42");
//   const Listpack::Position field = pack.Find("field", pack.First(), 1);
//   pack.Get(pack.Next(field)).integer();                            // 42
//   absl::StatusOr<Listpack> same = Listpack::Parse(pack.bytes());   // checked deeply
//
// Not safe to use from several threads at once, not even for reading. Text passed to an edit must
// not point into the listpack that is edited.
//
// Source: Redis 7.0 DUMP; the listpack specification (antirez/listpack).

#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_LISTPACK_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_LISTPACK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "backends/memory/values/byte_block.h"
#include "core/base/redis_number.h"

namespace redouble::memory {

namespace listpack_codec {
struct EncodedElement;
}  // namespace listpack_codec

// The value of an element: an integer, or a string that points into the listpack and lives until
// its next edit.
class ListpackValue {
 public:
  explicit ListpackValue(int64_t integer) : integer_(integer) {}
  explicit ListpackValue(std::string_view text) : text_(text), is_text_(true) {}

  // Whether the element is stored as an integer. Elements written by this class are so exactly when
  // their text is a canonical integer; bytes from elsewhere may hold "42" as a string.
  bool is_integer() const { return !is_text_; }

  // The integer; only when is_integer().
  int64_t integer() const { return integer_; }

  // The string; only when not is_integer().
  std::string_view text() const { return text_; }

  // The element as an integer when its text is a canonical one, however it is stored.
  std::optional<int64_t> AsInt64() const;

  // The element's text, in `buffer` for an integer. Lives as long as the buffer and the listpack.
  std::string_view View(base::Int64Buffer& buffer) const;

  // The element's text as a string of its own.
  std::string ToString() const;

  // Whether the element's text is `text`.
  bool Equals(std::string_view text) const;

 private:
  std::string_view text_;
  int64_t integer_ = 0;
  bool is_text_ = false;
};

class Listpack {
 public:
  // The offset of an element from the front of the bytes.
  using Position = uint32_t;

  // No element: in front of the first and behind the last.
  static constexpr Position kNone = 0;

  // The size of a listpack without elements.
  static constexpr size_t kEmptyBytes = 7;

  // Redis's own values switch to another encoding before a listpack grows beyond this.
  static constexpr size_t kSafeBytes = size_t{1} << 30;

  // Without elements.
  Listpack();

  // A copy has bytes of its own, and no spare capacity.
  Listpack(const Listpack& other);
  Listpack& operator=(const Listpack& other);

  // Moving takes the bytes along. The moved-from listpack may only be destroyed or assigned to.
  Listpack(Listpack&& other) noexcept = default;
  Listpack& operator=(Listpack&& other) noexcept = default;

  // Returns the listpack that `bytes` are, after a check of every byte: header, encodings, back
  // lengths, end and count; whatever passes is safe to walk and to edit. Integers that are not in
  // their shortest form are kept as they are, and so are strings that could be integers.
  // InvalidArgument, naming the offset: anything that is not a listpack.
  // Round trip: Parse(p.bytes())->bytes() == p.bytes(). Linear in the size.
  static absl::StatusOr<Listpack> Parse(std::string_view bytes);

  // The whole listpack as DUMP carries it; lives until the next edit.
  std::string_view bytes() const;
  size_t size_bytes() const;

  // What the listpack occupies, spare capacity included.
  size_t allocated_bytes() const { return block_.capacity(); }

  // The number of elements. Constant time below 65535 elements, above linear.
  size_t count() const;
  bool empty() const { return size_bytes() == kEmptyBytes; }

  // Whether `added_bytes` more bytes keep the listpack within kSafeBytes.
  bool IsSafeToAdd(size_t added_bytes) const { return size_bytes() + added_bytes <= kSafeBytes; }

  // Walking; kNone when there is no such element. `position` is an element's.
  Position First() const;
  Position Last() const;
  Position Next(Position position) const;
  Position Previous(Position position) const;

  // Returns the element at `index`, from 0 up, or from -1 down when counted from the end; kNone
  // when it is out of range. Walks from the nearer end.
  Position Seek(int64_t index) const;

  // Returns the value of the element at `position`.
  ListpackValue Get(Position position) const;

  // Returns the first element at or after `from` whose text is `text`, kNone when there is none or
  // when `from` is kNone. Looks at one element, then leaves out `skip`, and so on: with `skip` 1
  // from the first element it compares a hash's fields and not their values.
  Position Find(std::string_view text, Position from, size_t skip = 0) const;

  // Add an element in front, at the end, before or after the element at `position`, and return the
  // new element's position. kNone, with nothing changed, when the size would exceed 4 GiB - 1.
  Position Prepend(std::string_view text);
  Position Prepend(int64_t integer);
  Position Append(std::string_view text);
  Position Append(int64_t integer);
  Position InsertBefore(Position position, std::string_view text);
  Position InsertBefore(Position position, int64_t integer);
  Position InsertAfter(Position position, std::string_view text);
  Position InsertAfter(Position position, int64_t integer);

  // Replaces the value of the element at `position` and returns its position, which is the same.
  // kNone, with nothing changed, when the size would exceed 4 GiB - 1.
  Position Replace(Position position, std::string_view text);
  Position Replace(Position position, int64_t integer);

  // Adds the elements of `other`, which is not this listpack, at the end. The caller has made sure
  // that IsSafeToAdd(other.size_bytes()).
  void AppendAll(const Listpack& other);

  // Removes the element at `position`, or up to `count` elements from there on, and returns the
  // position of the element that followed them, kNone when there is none.
  Position Erase(Position position);
  Position Erase(Position position, size_t count);

  // Removes up to `count` elements from `index` on (see Seek); nothing when the index is out of
  // range.
  void EraseRange(int64_t index, size_t count);

  // Removes all elements.
  void Clear();

  // Makes room for a size of `size_bytes`, or gives all spare room back.
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

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_LISTPACK_H_
