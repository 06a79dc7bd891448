#include "redouble/backends/memory/persistence/ziplist.h"

#include <cstddef>
#include <cstdint>

#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr uint64_t kEnd = 0xFF;
// Precedes a length of four bytes.
constexpr uint64_t kLong = 0xFE;

// Integer encodings, by the first byte.
constexpr uint64_t kInt16 = 0xC0;
constexpr uint64_t kInt32 = 0xD0;
constexpr uint64_t kInt64 = 0xE0;
constexpr uint64_t kInt24 = 0xF0;
constexpr uint64_t kInt8 = 0xFE;
// The values 0 to 12 are part of the encoding.
constexpr uint64_t kFirstImmediate = 0xF1;
constexpr uint64_t kLastImmediate = 0xFD;

constexpr uint64_t kString14Bits = 0x40;
constexpr uint64_t kString32Bits = 0x80;

// The size of an integer's payload in bytes; 0 for an unknown encoding.
size_t IntegerBytes(uint64_t encoding) {
  switch (encoding) {
    case kInt8:
      return 1;
    case kInt16:
      return 2;
    case kInt24:
      return 3;
    case kInt32:
      return 4;
    case kInt64:
      return 8;
    default:
      return 0;
  }
}

std::optional<std::string> TextOf(std::optional<std::string_view> bytes) {
  if (!bytes) return std::nullopt;
  return std::string(*bytes);
}

std::optional<uint64_t> ReadBigEndian(RdbReader& reader, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    const std::optional<uint64_t> byte = reader.ReadLittleEndian(1);
    if (!byte) return std::nullopt;
    value = value << 8 | *byte;
  }
  return value;
}

std::optional<std::string> ReadEntryInteger(RdbReader& reader, uint64_t encoding) {
  if (encoding >= kFirstImmediate && encoding <= kLastImmediate) {
    return base::FormatInt64(static_cast<int64_t>(encoding - kFirstImmediate));
  }
  const size_t size = IntegerBytes(encoding);
  if (size == 0) return std::nullopt;
  const std::optional<uint64_t> bytes = reader.ReadLittleEndian(size);
  if (!bytes) return std::nullopt;
  const size_t unused_bits = 64 - 8 * size;
  return base::FormatInt64(static_cast<int64_t>(*bytes << unused_bits) >> unused_bits);
}

std::optional<std::string> ReadEntryPayload(RdbReader& reader) {
  const std::optional<uint64_t> encoding = reader.ReadLittleEndian(1);
  if (!encoding) return std::nullopt;
  if (*encoding >= kInt16) return ReadEntryInteger(reader, *encoding);
  std::optional<uint64_t> size = *encoding;
  if (*encoding == kString32Bits) {
    size = ReadBigEndian(reader, 4);
  } else if (*encoding > kString32Bits) {
    return std::nullopt;
  } else if (*encoding >= kString14Bits) {
    size = ReadBigEndian(reader, 1);
    if (size) *size |= (*encoding & 0x3F) << 8;
  }
  return size ? TextOf(reader.ReadBytes(*size)) : std::nullopt;
}

// The length of a zipmap's field or value.
std::optional<uint64_t> ReadZipmapLength(RdbReader& reader, uint64_t first) {
  return first == kLong ? reader.ReadLittleEndian(4) : first;
}

}  // namespace

std::optional<std::vector<std::string>> ReadZiplist(std::string_view bytes) {
  RdbReader reader(bytes);
  const std::optional<uint64_t> size = reader.ReadLittleEndian(4);
  const std::optional<uint64_t> tail = reader.ReadLittleEndian(4);
  const std::optional<uint64_t> count = reader.ReadLittleEndian(2);
  constexpr uint64_t kUncounted = 0xFFFF;
  if (!count || *size != bytes.size() || *tail >= bytes.size()) return std::nullopt;
  std::vector<std::string> entries;
  // Each entry has the size of the one before it, and the head has the place of the last one.
  uint64_t last = 0;
  uint64_t last_bytes = 0;
  for (;;) {
    const uint64_t begin = reader.offset();
    std::optional<uint64_t> before = reader.ReadLittleEndian(1);
    if (!before) return std::nullopt;
    if (*before == kEnd) break;
    if (*before == kLong) before = reader.ReadLittleEndian(4);
    if (before != last_bytes) return std::nullopt;
    std::optional<std::string> entry = ReadEntryPayload(reader);
    if (!entry) return std::nullopt;
    entries.push_back(*std::move(entry));
    last = begin;
    last_bytes = reader.offset() - begin;
  }
  if (reader.ReadLittleEndian(1)) return std::nullopt;
  if (!entries.empty() && *tail != last) return std::nullopt;
  if (*count != kUncounted && *count != entries.size()) return std::nullopt;
  return entries;
}

std::optional<std::vector<std::string>> ReadZipmap(std::string_view bytes) {
  RdbReader reader(bytes);
  // More than 253 fields are not counted, so the count is ignored.
  if (!reader.ReadLittleEndian(1)) return std::nullopt;
  std::vector<std::string> texts;
  for (;;) {
    const std::optional<uint64_t> first = reader.ReadLittleEndian(1);
    if (!first) return std::nullopt;
    if (*first == kEnd) break;
    const bool is_value = texts.size() % 2 == 1;
    const std::optional<uint64_t> size = ReadZipmapLength(reader, *first);
    const std::optional<uint64_t> free = is_value ? reader.ReadLittleEndian(1) : 0;
    if (!size || !free) return std::nullopt;
    std::optional<std::string> text = TextOf(reader.ReadBytes(*size));
    if (!text || !reader.ReadBytes(*free)) return std::nullopt;
    texts.push_back(*std::move(text));
  }
  if (texts.size() % 2 != 0 || reader.ReadLittleEndian(1)) return std::nullopt;
  return texts;
}

}  // namespace redouble::inline v0_1::memory
