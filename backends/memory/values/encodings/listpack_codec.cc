#include "redouble/backends/memory/values/encodings/listpack_codec.h"

#include <bit>
#include <cstring>

#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory::listpack_codec {
namespace {

static_assert(std::endian::native == std::endian::little, "listpack numbers are little-endian");

constexpr size_t kMaxBackLengthBytes = 5;

// Reads a little-endian two's complement number of `Bytes` bytes.
template <size_t Bytes>
int64_t ReadWide(const uint8_t* bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes, Bytes);
  constexpr int kUnused = 64 - 8 * static_cast<int>(Bytes);
  return static_cast<int64_t>(value << kUnused) >> kUnused;
}

EncodedElement Wide(uint8_t first, int64_t value, size_t bytes) {
  EncodedElement element{};
  element.head[0] = first;
  std::memcpy(element.head.data() + 1, &value, bytes);
  element.head_bytes = 1 + bytes;
  return element;
}

}  // namespace

EncodedElement EncodeInteger(int64_t value) {
  if (value >= 0 && value <= 127) return {{static_cast<uint8_t>(value)}, 1, {}};
  if (value >= -4096 && value <= 4095) {
    const auto bits = static_cast<uint16_t>(value & 0x1FFF);
    return {{static_cast<uint8_t>(0xC0 | bits >> 8), static_cast<uint8_t>(bits)}, 2, {}};
  }
  if (value >= INT16_MIN && value <= INT16_MAX) return Wide(kInteger16, value, 2);
  if (value >= -(1 << 23) && value < 1 << 23) return Wide(kInteger24, value, 3);
  if (value >= INT32_MIN && value <= INT32_MAX) return Wide(kInteger32, value, 4);
  return Wide(kInteger64, value, 8);
}

EncodedElement EncodeText(std::string_view text) {
  const std::optional<int64_t> integer = base::ParseInt64(text);
  if (integer.has_value()) return EncodeInteger(*integer);
  EncodedElement element{};
  const size_t size = text.size();
  if (size < 64) {
    element = {{static_cast<uint8_t>(0x80 | size)}, 1, text};
  } else if (size < 4096) {
    element = {{static_cast<uint8_t>(0xE0 | size >> 8), static_cast<uint8_t>(size)}, 2, text};
  } else {
    element = Wide(kString32, static_cast<int64_t>(size), 4);
    element.text = text;
  }
  return element;
}

size_t WriteBackLength(uint64_t size_bytes, uint8_t* out) {
  const size_t bytes = BackLengthBytes(size_bytes);
  for (size_t i = bytes; i-- > 0; size_bytes >>= 7) {
    out[i] = static_cast<uint8_t>((size_bytes & 0x7F) | (i == 0 ? 0 : 0x80));
  }
  return bytes;
}

void WriteElement(const EncodedElement& element, uint8_t* out) {
  std::memcpy(out, element.head.data(), element.head_bytes);
  out += element.head_bytes;
  if (!element.text.empty()) std::memcpy(out, element.text.data(), element.text.size());
  WriteBackLength(element.size_bytes(), out + element.text.size());
}

int64_t ReadInteger(const uint8_t* element) {
  const uint8_t first = element[0];
  if ((first & 0x80) == 0) return first;
  if (IsInteger13(first)) {
    const int64_t bits = static_cast<int64_t>(first & 0x1F) << 8 | element[1];
    return bits >= 4096 ? bits - 8192 : bits;
  }
  switch (first) {
    case kInteger16:
      return ReadWide<2>(element + 1);
    case kInteger24:
      return ReadWide<3>(element + 1);
    case kInteger32:
      return ReadWide<4>(element + 1);
    default:
      return ReadWide<8>(element + 1);
  }
}

ListpackValue ReadValue(const uint8_t* element) {
  return IsString(element[0]) ? ListpackValue(ReadString(element))
                              : ListpackValue(ReadInteger(element));
}

std::optional<uint64_t> CheckElement(const uint8_t* element, const uint8_t* limit) {
  const auto available = static_cast<uint64_t>(limit - element);
  if (available == 0) return std::nullopt;
  const uint8_t first = element[0];
  uint64_t size_bytes = IntegerBytes(first);
  if (size_bytes == 0) {
    if (!IsString(first) || StringHeadBytes(first) > available) return std::nullopt;
    size_bytes = StringHeadBytes(first) + StringBytes(element);
  }
  const uint64_t whole_bytes = size_bytes + BackLengthBytes(size_bytes);
  if (whole_bytes > available) return std::nullopt;
  if (whole_bytes == size_bytes + 1) {
    return element[size_bytes] == size_bytes ? std::optional(whole_bytes) : std::nullopt;
  }
  uint8_t expected[kMaxBackLengthBytes];
  const size_t back_length_bytes = WriteBackLength(size_bytes, expected);
  if (std::memcmp(element + size_bytes, expected, back_length_bytes) != 0) return std::nullopt;
  return whole_bytes;
}

}  // namespace redouble::inline v0_1::memory::listpack_codec
