// The byte layout of one listpack element; internal to Listpack (listpack.h).
//
// An element consists of its encoding, its payload and its back length: the number of bytes of the
// first two, written so that it can be read backwards from its last byte. The first byte determines
// the encoding:
//
//   | first byte | encoding                                | payload                     |
//   | ---------- | --------------------------------------- | --------------------------- |
//   | 0xxxxxxx   | integer 0..127                          | no bytes                    |
//   | 10xxxxxx   | string of up to 63 bytes                | the string                  |
//   | 110xxxxx   | integer -4096..4095, 13 bits            | the low byte                |
//   | 1110xxxx   | string of up to 4095 bytes, 12 bits     | low byte of size, string    |
//   | 0xF0       | string of up to 2^32-1 bytes            | 4 bytes of size, string     |
//   | 0xF1..0xF4 | integer of 16, 24, 32 or 64 bits        | 2, 3, 4 or 8 bytes          |
//   | 0xFF       | the end of the listpack                 |                             |
//
// Numbers of more than one byte are little-endian, except those of 12 and 13 bits, whose high bits
// come first. A string that ParseInt64 accepts is always written as an integer, in the shortest
// form.
//
// Thread-safety: pure functions.
// Source: Redis 7.0 DUMP of small lists; the listpack specification (antirez/listpack).

#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_LISTPACK_CODEC_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_LISTPACK_CODEC_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "redouble/backends/memory/values/encodings/listpack.h"

namespace redouble::inline v0_1::memory::listpack_codec {

inline constexpr uint8_t kString32 = 0xF0;
inline constexpr uint8_t kInteger16 = 0xF1;
inline constexpr uint8_t kInteger24 = 0xF2;
inline constexpr uint8_t kInteger32 = 0xF3;
inline constexpr uint8_t kInteger64 = 0xF4;
inline constexpr uint8_t kEnd = 0xFF;

// True if `first` is the first byte of an element of that encoding. These functions and those that
// read lengths are inline because walking and finding consist of them.
inline bool IsString6(uint8_t first) { return (first & 0xC0) == 0x80; }
inline bool IsInteger13(uint8_t first) { return (first & 0xE0) == 0xC0; }
inline bool IsString12(uint8_t first) { return (first & 0xF0) == 0xE0; }
inline bool IsString(uint8_t first) {
  return IsString6(first) || IsString12(first) || first == kString32;
}

// An element that is about to be written: the encoding (with the payload of an integer), then the
// bytes of the string, if any.
struct EncodedElement {
  std::array<uint8_t, 9> head;
  size_t head_bytes;
  std::string_view text;

  // The size without the back length.
  size_t size_bytes() const { return head_bytes + text.size(); }
};

// Encodes an integer in the shortest form.
EncodedElement EncodeInteger(int64_t value);

// Encodes a string; as an integer if it is a canonical integer. The result refers to `text`, which
// must be shorter than 4 GiB.
EncodedElement EncodeText(std::string_view text);

// The size in bytes, 1 to 5, of the back length of an element of `size_bytes` bytes. The limits are
// Redis's: 16383 and its counterparts take one byte more than necessary.
inline size_t BackLengthBytes(uint64_t size_bytes) {
  if (size_bytes <= 127) return 1;
  if (size_bytes < 16383) return 2;
  if (size_bytes < 2097151) return 3;
  if (size_bytes < 268435455) return 4;
  return 5;
}

// Writes the back length of an element of `size_bytes` bytes to `out` and returns its size: groups
// of seven bits, the most significant first; all but the first have the top bit set.
size_t WriteBackLength(uint64_t size_bytes, uint8_t* out);

// Writes the element and its back length to `out`, which must have room for them.
void WriteElement(const EncodedElement& element, uint8_t* out);

// Reads the back length that ends just before `end`.
inline uint64_t ReadBackLength(const uint8_t* end) {
  uint64_t size_bytes = 0;
  int shift = 0;
  for (const uint8_t* byte = end - 1;; --byte, shift += 7) {
    size_bytes |= static_cast<uint64_t>(*byte & 0x7F) << shift;
    if ((*byte & 0x80) == 0) return size_bytes;
  }
}

// The size in bytes, without the back length, of an integer element that begins with `first`; 0 if
// `first` is not the first byte of an integer.
inline size_t IntegerBytes(uint8_t first) {
  if ((first & 0x80) == 0) return 1;
  if (IsInteger13(first)) return 2;
  switch (first) {
    case kInteger16:
      return 3;
    case kInteger24:
      return 4;
    case kInteger32:
      return 5;
    case kInteger64:
      return 9;
    default:
      return 0;
  }
}

// The number of bytes before the string's own bytes. `first` must begin a string element.
inline size_t StringHeadBytes(uint8_t first) {
  if (IsString6(first)) return 1;
  return IsString12(first) ? 2 : 5;
}

// The size in bytes of the string in the string element at `element`.
inline uint64_t StringBytes(const uint8_t* element) {
  if (IsString6(element[0])) return element[0] & 0x3F;
  if (IsString12(element[0])) return static_cast<uint64_t>(element[0] & 0x0F) << 8 | element[1];
  uint32_t size;
  std::memcpy(&size, element + 1, sizeof(size));
  return size;
}

// The size in bytes, without the back length, of the valid element at `element`.
inline uint64_t ElementBytes(const uint8_t* element) {
  const uint8_t first = element[0];
  if (IsString6(first)) return 1 + (first & 0x3F);
  const size_t integer_bytes = IntegerBytes(first);
  return integer_bytes != 0 ? integer_bytes : StringHeadBytes(first) + StringBytes(element);
}

// The string in the valid string element at `element`.
inline std::string_view ReadString(const uint8_t* element) {
  const auto* const text = reinterpret_cast<const char*>(element + StringHeadBytes(element[0]));
  return {text, StringBytes(element)};
}

// The number in the valid integer element at `element`.
int64_t ReadInteger(const uint8_t* element);

// The value of the valid element at `element`.
ListpackValue ReadValue(const uint8_t* element);

// For untrusted bytes: returns the size, with the back length, of the element at `element` if it is
// complete, ends before `limit` and has a correct back length; otherwise nullopt.
std::optional<uint64_t> CheckElement(const uint8_t* element, const uint8_t* limit);

}  // namespace redouble::inline v0_1::memory::listpack_codec

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_LISTPACK_CODEC_H_
