// Bit operations on strings, as Redis's bitmap commands define them.
//
// Bit 0 is the highest bit of byte 0. Bits after the end of the string are 0.
//
//   FindBit("\x00\x0f", {0, 15}, true);            // 12
//   ReadField("\x12\x34", {.width = 8}, 4);         // 0x23
//
// Thread-safety: pure functions.
// Source: Redis 7.0 BITCOUNT, BITPOS, BITFIELD.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_STRINGS_BITS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_STRINGS_BITS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace redouble::inline v0_1::memory {

// Bit offsets within the string, both inclusive.
struct BitRange {
  uint64_t first;
  uint64_t last;
};

// The number of set bits in the range. O(bytes).
uint64_t CountBits(std::string_view text, BitRange range);

// The offset of the first set (or clear) bit in the range; nullopt if there is none. O(bytes).
std::optional<uint64_t> FindBit(std::string_view text, BitRange range, bool set);

// The bit at `position`; false after the end.
bool ReadBit(std::string_view text, uint64_t position);
// Requires that `text` contains the position.
void WriteBit(std::span<char> text, uint64_t position, bool set);

// The type of a BITFIELD field: "u8", "i16". Unsigned fields have at most 63 bits.
struct BitFieldType {
  bool is_signed = false;
  int width = 0;

  // Returns nullopt if Redis would refuse the type.
  static std::optional<BitFieldType> Parse(std::string_view text);
};

// The value of the field at `position`, which may extend past the end.
int64_t ReadField(std::string_view text, BitFieldType type, uint64_t position);
// Writes the low bits of `value`. Requires that `text` contains the whole field.
void WriteField(std::span<char> text, BitFieldType type, uint64_t position, int64_t value);

// The behavior when a value does not fit into the field.
enum class BitFieldOverflow { kWrap, kSaturate, kFail };

// `value` plus `increment` as the field stores it; nullopt on overflow with kFail. An unsigned
// field treats a negative `value` as one above its maximum, as Redis's SET does.
std::optional<int64_t> AddInField(BitFieldType type, BitFieldOverflow overflow, int64_t value,
                                  int64_t increment);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_STRINGS_BITS_H_
