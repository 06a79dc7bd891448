#include "redouble/backends/memory/commands/strings/bits.h"

#include <bit>
#include <cassert>
#include <cstring>
#include <limits>

#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// Wide enough for the sum of two values of any field.
__extension__ using Wide = __int128;

uint8_t ByteAt(std::string_view text, uint64_t index) {
  return index < text.size() ? static_cast<uint8_t>(text[index]) : 0;
}

uint64_t WordAt(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// The byte at `index` with the bits outside of the range cleared.
uint8_t MaskedByte(std::string_view text, BitRange range, uint64_t index, uint8_t flip) {
  auto byte = static_cast<unsigned>(ByteAt(text, index) ^ flip);
  if (index == range.first / 8) byte &= 0xffu >> (range.first % 8);
  if (index == range.last / 8) byte &= 0xffu << (7 - range.last % 8);
  return static_cast<uint8_t>(byte);
}

// The mask of a field of this width.
uint64_t MaskOf(int width) { return ~uint64_t{0} >> (64 - width); }

}  // namespace

uint64_t CountBits(std::string_view text, BitRange range) {
  assert(range.first <= range.last);
  const uint64_t begin = range.first / 8;
  const uint64_t end = range.last / 8;
  uint64_t count = static_cast<uint64_t>(std::popcount(MaskedByte(text, range, begin, 0)));
  if (begin == end) return count;
  uint64_t index = begin + 1;
  for (; index + 8 <= end; index += 8) {
    count += static_cast<uint64_t>(std::popcount(WordAt(text.data() + index)));
  }
  for (; index <= end; ++index) {
    count += static_cast<uint64_t>(std::popcount(MaskedByte(text, range, index, 0)));
  }
  return count;
}

std::optional<uint64_t> FindBit(std::string_view text, BitRange range, bool set) {
  assert(range.first <= range.last);
  // A clear bit is a set bit of the complement.
  const uint8_t flip = set ? 0 : 0xff;
  const uint64_t nothing = set ? 0 : ~uint64_t{0};
  const uint64_t end = range.last / 8;
  for (uint64_t index = range.first / 8; index <= end;) {
    if (const uint8_t byte = MaskedByte(text, range, index, flip); byte != 0) {
      return index * 8 + static_cast<uint64_t>(std::countl_zero(byte));
    }
    ++index;
    while (index + 8 <= end && WordAt(text.data() + index) == nothing) index += 8;
  }
  return std::nullopt;
}

bool ReadBit(std::string_view text, uint64_t position) {
  return ((ByteAt(text, position / 8) >> (7 - position % 8)) & 1) != 0;
}

void WriteBit(std::span<char> text, uint64_t position, bool set) {
  assert(position / 8 < text.size());
  const auto bit = static_cast<uint8_t>(0x80u >> (position % 8));
  const auto byte = static_cast<uint8_t>(text[position / 8]);
  text[position / 8] = static_cast<char>(set ? byte | bit : byte & ~bit);
}

std::optional<BitFieldType> BitFieldType::Parse(std::string_view text) {
  if (text.empty() || (text[0] != 'i' && text[0] != 'u')) return std::nullopt;
  const bool is_signed = text[0] == 'i';
  // Redis treats the number as a C string.
  const std::optional<int64_t> width = base::ParseInt64(text.substr(1, text.find('\0') - 1));
  if (!width || *width < 1 || *width > (is_signed ? 64 : 63)) return std::nullopt;
  return BitFieldType{is_signed, static_cast<int>(*width)};
}

int64_t ReadField(std::string_view text, BitFieldType type, uint64_t position) {
  uint64_t value = 0;
  for (int i = 0; i < type.width; ++i) {
    value =
        (value << 1) | static_cast<uint64_t>(ReadBit(text, position + static_cast<uint64_t>(i)));
  }
  const uint64_t sign = uint64_t{1} << (type.width - 1);
  if (type.is_signed && (value & sign) != 0) value |= ~MaskOf(type.width);
  return static_cast<int64_t>(value);
}

void WriteField(std::span<char> text, BitFieldType type, uint64_t position, int64_t value) {
  for (int i = 0; i < type.width; ++i) {
    const bool set = ((static_cast<uint64_t>(value) >> (type.width - 1 - i)) & 1) != 0;
    WriteBit(text, position + static_cast<uint64_t>(i), set);
  }
}

std::optional<int64_t> AddInField(BitFieldType type, BitFieldOverflow overflow, int64_t value,
                                  int64_t increment) {
  const Wide one = 1;
  const Wide max = (one << (type.is_signed ? type.width - 1 : type.width)) - 1;
  const Wide min = type.is_signed ? -max - 1 : 0;
  const Wide sum =
      (type.is_signed ? Wide{value} : Wide{static_cast<uint64_t>(value)}) + Wide{increment};
  if (sum >= min && sum <= max) return static_cast<int64_t>(sum);
  if (overflow == BitFieldOverflow::kFail) return std::nullopt;
  if (overflow == BitFieldOverflow::kSaturate) {
    // Redis computes max - value in 64 bits, so that the lowest values overflow.
    const bool seems_high =
        type.is_signed && type.width < 64 && max - value > std::numeric_limits<int64_t>::max();
    return static_cast<int64_t>(sum > max || seems_high ? max : min);
  }
  uint64_t wrapped = static_cast<uint64_t>(sum) & MaskOf(type.width);
  const uint64_t sign = uint64_t{1} << (type.width - 1);
  if (type.is_signed && (wrapped & sign) != 0) wrapped |= ~MaskOf(type.width);
  return static_cast<int64_t>(wrapped);
}

}  // namespace redouble::inline v0_1::memory
