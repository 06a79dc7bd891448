#include "backends/memory/values/rdb_codec.h"

#include <limits>

#include "backends/memory/values/lzf.h"
#include "core/base/redis_number.h"

namespace redouble::memory {
namespace {

// The two highest bits of a length's first byte.
constexpr uint8_t kKindMask = 0xC0;
constexpr uint8_t k6Bits = 0x00;
constexpr uint8_t k14Bits = 0x40;
constexpr uint8_t kEncoding = 0xC0;
// The first bytes of the two long forms.
constexpr uint8_t k32Bits = 0x80;
constexpr uint8_t k64Bits = 0x81;

// How a string is written, by the six lower bits.
constexpr uint64_t kInt8 = 0;
constexpr uint64_t kInt16 = 1;
constexpr uint64_t kInt32 = 2;
constexpr uint64_t kLzf = 3;

// "-2147483648"
constexpr size_t kMaxIntegerText = 11;
// Shorter strings are left as they are.
constexpr size_t kMinCompressed = 21;
// LZF makes 264 bytes of three at best.
constexpr uint64_t kMaxLzfRatio = 264;

void AppendBigEndian(uint64_t value, size_t size, std::string& out) {
  for (size_t i = size; i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i)));
}

bool AppendAsInteger(std::string_view text, std::string& out) {
  if (text.size() > kMaxIntegerText) return false;
  const std::optional<int64_t> value = base::ParseInt64(text);
  if (!value || *value != static_cast<int32_t>(*value)) return false;
  const bool fits_8 = *value == static_cast<int8_t>(*value);
  const bool fits_16 = *value == static_cast<int16_t>(*value);
  const uint64_t encoding = fits_8 ? kInt8 : fits_16 ? kInt16 : kInt32;
  out.push_back(static_cast<char>(kEncoding | encoding));
  AppendLittleEndian(static_cast<uint64_t>(*value), size_t{1} << encoding, out);
  return true;
}

bool AppendCompressed(std::string_view text, std::string& out) {
  const std::optional<std::string> compressed = CompressLzf(text);
  if (!compressed) return false;
  out.push_back(static_cast<char>(kEncoding | kLzf));
  AppendRdbLength(compressed->size(), out);
  AppendRdbLength(text.size(), out);
  out.append(*compressed);
  return true;
}

}  // namespace

void AppendLittleEndian(uint64_t value, size_t size, std::string& out) {
  for (size_t i = 0; i < size; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

void AppendRdbLength(uint64_t length, std::string& out) {
  if (length < (1u << 6)) {
    out.push_back(static_cast<char>(k6Bits | length));
  } else if (length < (1u << 14)) {
    AppendBigEndian((uint64_t{k14Bits} << 8) | length, 2, out);
  } else if (length <= std::numeric_limits<uint32_t>::max()) {
    out.push_back(static_cast<char>(k32Bits));
    AppendBigEndian(length, 4, out);
  } else {
    out.push_back(static_cast<char>(k64Bits));
    AppendBigEndian(length, 8, out);
  }
}

void AppendRdbString(std::string_view text, std::string& out) {
  if (AppendAsInteger(text, out)) return;
  if (text.size() >= kMinCompressed && AppendCompressed(text, out)) return;
  AppendRdbLength(text.size(), out);
  out.append(text);
}

std::optional<std::string_view> RdbReader::ReadBytes(size_t size) {
  if (size > left_.size()) return std::nullopt;
  const std::string_view bytes = left_.substr(0, size);
  left_.remove_prefix(size);
  return bytes;
}

std::optional<uint64_t> RdbReader::ReadLittleEndian(size_t size) {
  const std::optional<std::string_view> bytes = ReadBytes(size);
  if (!bytes) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = (value << 8) | static_cast<uint8_t>((*bytes)[i]);
  return value;
}

std::optional<uint64_t> RdbReader::ReadBigEndian(size_t size) {
  const std::optional<std::string_view> bytes = ReadBytes(size);
  if (!bytes) return std::nullopt;
  uint64_t value = 0;
  for (const char byte : *bytes) value = (value << 8) | static_cast<uint8_t>(byte);
  return value;
}

std::optional<RdbReader::Length> RdbReader::ReadLengthOrEncoding() {
  const std::optional<uint64_t> first = ReadLittleEndian(1);
  if (!first) return std::nullopt;
  const uint64_t low = *first & ~uint64_t{kKindMask};
  std::optional<uint64_t> value;
  switch (*first & kKindMask) {
    case k6Bits:
      return Length{low, false};
    case kEncoding:
      return Length{low, true};
    case k14Bits:
      value = ReadBigEndian(1);
      if (value) *value |= low << 8;
      break;
    default:
      if (*first == k32Bits) value = ReadBigEndian(4);
      if (*first == k64Bits) value = ReadBigEndian(8);
  }
  if (!value) return std::nullopt;
  return Length{*value, false};
}

std::optional<uint64_t> RdbReader::ReadLength() {
  const std::optional<Length> length = ReadLengthOrEncoding();
  if (!length || length->is_encoding) return std::nullopt;
  return length->value;
}

std::optional<std::string> RdbReader::ReadString() {
  const std::optional<Length> length = ReadLengthOrEncoding();
  if (!length) return std::nullopt;
  if (length->is_encoding) {
    if (length->value == kLzf) return ReadCompressed();
    if (length->value > kInt32) return std::nullopt;
    return ReadInteger(size_t{1} << length->value);
  }
  const std::optional<std::string_view> bytes = ReadBytes(length->value);
  if (!bytes) return std::nullopt;
  return std::string(*bytes);
}

std::optional<std::string> RdbReader::ReadInteger(size_t size) {
  const std::optional<uint64_t> bytes = ReadLittleEndian(size);
  if (!bytes) return std::nullopt;
  const size_t unused_bits = 64 - 8 * size;
  return base::FormatInt64(static_cast<int64_t>(*bytes << unused_bits) >> unused_bits);
}

std::optional<std::string> RdbReader::ReadCompressed() {
  const std::optional<uint64_t> compressed_size = ReadLength();
  const std::optional<uint64_t> size = compressed_size ? ReadLength() : std::nullopt;
  if (!size) return std::nullopt;
  const std::optional<std::string_view> compressed = ReadBytes(*compressed_size);
  if (!compressed || *size / kMaxLzfRatio > compressed->size()) return std::nullopt;
  return DecompressLzf(*compressed, *size);
}

}  // namespace redouble::memory
