#include "backends/memory/values/listpack_codec.h"

#include <bit>
#include <cstring>

#include "core/base/redis_number.h"

namespace redouble::memory::listpack_codec {
namespace {

static_assert(std::endian::native == std::endian::little, "listpack numbers are little-endian");

constexpr uint8_t kString32 = 0xF0;
constexpr uint8_t kInteger16 = 0xF1;
constexpr uint8_t kInteger24 = 0xF2;
constexpr uint8_t kInteger32 = 0xF3;
constexpr uint8_t kInteger64 = 0xF4;

constexpr size_t kMaxBackLengthBytes = 5;

bool IsInteger7(uint8_t first) { return (first & 0x80) == 0; }
bool IsString6(uint8_t first) { return (first & 0xC0) == 0x80; }
bool IsInteger13(uint8_t first) { return (first & 0xE0) == 0xC0; }
bool IsString12(uint8_t first) { return (first & 0xF0) == 0xE0; }

// Reads a little-endian two's complement number of `Bytes` bytes.
template <size_t Bytes>
int64_t ReadInteger(const uint8_t* bytes) {
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

// How many bytes stand in front of a string's own; `first` is the encoding of a string.
size_t StringHeadBytes(uint8_t first) {
  if (IsString6(first)) return 1;
  return IsString12(first) ? 2 : 5;
}

uint64_t StringBytes(const uint8_t* element) {
  if (IsString6(element[0])) return element[0] & 0x3F;
  if (IsString12(element[0])) return static_cast<uint64_t>(element[0] & 0x0F) << 8 | element[1];
  uint32_t size;
  std::memcpy(&size, element + 1, sizeof(size));
  return size;
}

// The encodings whose size the first byte alone tells; 0 for strings and for what is no encoding.
size_t IntegerBytes(uint8_t first) {
  if (IsInteger7(first)) return 1;
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

bool IsString(uint8_t first) { return IsString6(first) || IsString12(first) || first == kString32; }

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

uint64_t ReadBackLength(const uint8_t* end) {
  uint64_t size_bytes = 0;
  int shift = 0;
  for (const uint8_t* byte = end - 1;; --byte, shift += 7) {
    size_bytes |= static_cast<uint64_t>(*byte & 0x7F) << shift;
    if ((*byte & 0x80) == 0) return size_bytes;
  }
}

uint64_t ElementBytes(const uint8_t* element) {
  const size_t integer_bytes = IntegerBytes(element[0]);
  if (integer_bytes != 0) return integer_bytes;
  return StringHeadBytes(element[0]) + StringBytes(element);
}

ListpackValue ReadValue(const uint8_t* element) {
  const uint8_t first = element[0];
  if (IsInteger7(first)) return ListpackValue(static_cast<int64_t>(first));
  if (IsString(first)) {
    const auto* const text = reinterpret_cast<const char*>(element + StringHeadBytes(first));
    return ListpackValue(std::string_view(text, StringBytes(element)));
  }
  if (IsInteger13(first)) {
    const int64_t bits = static_cast<int64_t>(first & 0x1F) << 8 | element[1];
    return ListpackValue(bits >= 4096 ? bits - 8192 : bits);
  }
  switch (first) {
    case kInteger16:
      return ListpackValue(ReadInteger<2>(element + 1));
    case kInteger24:
      return ListpackValue(ReadInteger<3>(element + 1));
    case kInteger32:
      return ListpackValue(ReadInteger<4>(element + 1));
    default:
      return ListpackValue(ReadInteger<8>(element + 1));
  }
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
  uint8_t expected[kMaxBackLengthBytes];
  const size_t back_length_bytes = WriteBackLength(size_bytes, expected);
  if (std::memcmp(element + size_bytes, expected, back_length_bytes) != 0) return std::nullopt;
  return whole_bytes;
}

}  // namespace redouble::memory::listpack_codec
