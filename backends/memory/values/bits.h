// Bits of a string, as Redis's bitmap commands see them: bit 0 is the highest one of byte 0, and
// what lies behind the end of the string is zero.
//
//   FindBit("\x00\x0f", {0, 15}, true);            // 12
//   ReadField("\x12\x34", {.width = 8}, 4);         // 0x23
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_BITS_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_BITS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace redouble::memory {

// Positions of bits, both ends included, inside the string.
struct BitRange {
  uint64_t first;
  uint64_t last;
};

// How many bits of the range are set. O(bytes).
uint64_t CountBits(std::string_view text, BitRange range);

// The position of the first bit of the range that is set (or clear). O(bytes).
std::optional<uint64_t> FindBit(std::string_view text, BitRange range, bool set);

// A bit; false behind the end.
bool ReadBit(std::string_view text, uint64_t position);
// Needs a text that long.
void WriteBit(std::span<char> text, uint64_t position, bool set);

// The type of a BITFIELD: "u8", "i16". Unsigned fields have at most 63 bits.
struct BitFieldType {
  bool is_signed = false;
  int width = 0;

  // No value when Redis would refuse it.
  static std::optional<BitFieldType> Parse(std::string_view text);
};

// A field's value at a position; may reach, or lie, behind the end.
int64_t ReadField(std::string_view text, BitFieldType type, uint64_t position);
// Writes the low bits of `value`. Needs a text that reaches behind the field.
void WriteField(std::span<char> text, BitFieldType type, uint64_t position, int64_t value);

// What a field does with a value that it cannot hold.
enum class BitFieldOverflow { kWrap, kSaturate, kFail };

// `value` plus `increment` as the field holds it; no value when it overflows and is to fail. An
// unsigned field takes a negative `value` as one beyond its maximum, which is what Redis's SET
// does.
std::optional<int64_t> AddInField(BitFieldType type, BitFieldOverflow overflow, int64_t value,
                                  int64_t increment);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_BITS_H_
