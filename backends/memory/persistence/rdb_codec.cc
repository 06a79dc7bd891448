#include "redouble/backends/memory/persistence/rdb_codec.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/persistence/lzf.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

// The two highest bits of a length's first byte.
constexpr uint8_t kKindMask = 0xC0;
constexpr uint8_t k6Bits = 0x00;
constexpr uint8_t k14Bits = 0x40;
constexpr uint8_t kEncoding = 0xC0;
// The first bytes of the two long forms.
constexpr uint8_t k32Bits = 0x80;
constexpr uint8_t k64Bits = 0x81;

// The encoding of a string, in the six lower bits.
constexpr uint64_t kInt8 = 0;
constexpr uint64_t kInt16 = 1;
constexpr uint64_t kInt32 = 2;
constexpr uint64_t kLzf = 3;

// The length of "-2147483648".
constexpr size_t kMaxIntegerText = 11;
// Shorter strings are not compressed.
constexpr size_t kMinCompressed = 21;
// LZF expands three bytes to at most 264.
constexpr uint64_t kMaxLzfRatio = 88;

// How much is asked of a source at once, at least and at most.
constexpr size_t kMinFetchBytes = size_t{1} << 16;
constexpr size_t kMaxFetchBytes = size_t{1} << 24;

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

void AppendRdbString(std::string_view text, std::string& out, RdbCompression compression) {
  if (AppendAsInteger(text, out)) return;
  const bool compresses = compression == RdbCompression::kOn && text.size() >= kMinCompressed;
  if (compresses && AppendCompressed(text, out)) return;
  AppendRdbLength(text.size(), out);
  out.append(text);
}

std::nullopt_t RdbReader::Fail(std::string_view expected) {
  if (!failure_) failure_ = Failure{item_offset_, std::string(expected)};
  return std::nullopt;
}

void RdbReader::SumConsumed() {
  const auto count = static_cast<size_t>(left_.data() - unsummed_);
  if (count == 0) return;
  crc_ = base::Crc64({unsummed_, count}, crc_);
  unsummed_ = left_.data();
}

uint64_t RdbReader::Checksum() {
  SumConsumed();
  return crc_;
}

// Keeps only the bytes that were not read yet, and does not keep the memory of a long string.
void RdbReader::DropConsumed() {
  SumConsumed();
  if (buffer_.capacity() > 2 * kMaxFetchBytes && left_.size() < kMinFetchBytes) {
    buffer_ = std::string(left_);
  } else {
    buffer_.erase(0, buffer_.size() - left_.size());
  }
}

// Makes at least `size` bytes available. Asks for no more than has arrived already, whatever a
// length in the data claims.
bool RdbReader::Fetch(size_t size) {
  if (source_ == nullptr) return false;
  DropConsumed();
  while (buffer_.size() < size && source_status_.ok()) {
    const size_t old_size = buffer_.size();
    const size_t step = std::clamp(old_size, kMinFetchBytes, kMaxFetchBytes);
    buffer_.resize(old_size + step);
    const absl::StatusOr<size_t> count = source_->Read({buffer_.data() + old_size, step});
    source_status_ = count.status();
    buffer_.resize(old_size + count.value_or(0));
    fetched_bytes_ += buffer_.size() - old_size;
    if (buffer_.size() == old_size) break;
  }
  left_ = buffer_;
  unsummed_ = left_.data();
  return left_.size() >= size;
}

std::optional<std::string_view> RdbReader::Take(size_t size) {
  if (size > left_.size() && !Fetch(size)) {
    return Fail(base::ToStd(absl::StrCat(size, size == 1 ? " more byte" : " more bytes",
                                         " at byte ", offset(), ", found ", left_.size())));
  }
  const std::string_view bytes = left_.substr(0, size);
  left_.remove_prefix(size);
  return bytes;
}

std::optional<std::string_view> RdbReader::ReadBytes(size_t size) {
  BeginItem();
  return Take(size);
}

std::optional<uint64_t> RdbReader::ReadLittleEndian(size_t size) {
  BeginItem();
  return TakeLittleEndian(size);
}

std::optional<uint64_t> RdbReader::TakeLittleEndian(size_t size) {
  // Types and most lengths.
  if (size == 1 && !left_.empty()) {
    const auto byte = static_cast<uint8_t>(left_.front());
    left_.remove_prefix(1);
    return byte;
  }
  const std::optional<std::string_view> bytes = Take(size);
  if (!bytes) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = (value << 8) | static_cast<uint8_t>((*bytes)[i]);
  return value;
}

std::optional<uint64_t> RdbReader::TakeBigEndian(size_t size) {
  const std::optional<std::string_view> bytes = Take(size);
  if (!bytes) return std::nullopt;
  uint64_t value = 0;
  for (const char byte : *bytes) value = (value << 8) | static_cast<uint8_t>(byte);
  return value;
}

std::optional<RdbReader::Length> RdbReader::TakeLengthOrEncoding() {
  const std::optional<uint64_t> first = TakeLittleEndian(1);
  if (!first) return std::nullopt;
  const uint64_t low = *first & ~uint64_t{kKindMask};
  std::optional<uint64_t> value;
  switch (*first & kKindMask) {
    case k6Bits:
      return Length{low, false};
    case kEncoding:
      return Length{low, true};
    case k14Bits:
      value = TakeBigEndian(1);
      if (value) *value |= low << 8;
      break;
    default:
      if (*first != k32Bits && *first != k64Bits) return Fail("the first byte of a length");
      value = TakeBigEndian(*first == k32Bits ? 4 : 8);
  }
  if (!value) return std::nullopt;
  return Length{*value, false};
}

std::optional<uint64_t> RdbReader::TakeLength() {
  const std::optional<Length> length = TakeLengthOrEncoding();
  if (!length) return std::nullopt;
  if (length->is_encoding) return Fail("a length, found an encoded string");
  return length->value;
}

std::optional<uint64_t> RdbReader::ReadLength() {
  BeginItem();
  return TakeLength();
}

std::optional<std::string> RdbReader::ReadString() {
  const std::optional<std::string_view> view = ReadStringView();
  if (!view) return std::nullopt;
  return std::string(*view);
}

std::optional<std::string_view> RdbReader::ReadStringView() {
  BeginItem();
  // Most strings are short.
  if (!left_.empty()) {
    const auto size = static_cast<uint8_t>(left_.front());
    if ((size & kKindMask) == k6Bits && size < left_.size()) {
      const std::string_view text = left_.substr(1, size);
      left_.remove_prefix(size + 1);
      return text;
    }
  }
  const std::optional<Length> length = TakeLengthOrEncoding();
  if (!length) return std::nullopt;
  if (!length->is_encoding) return Take(length->value);
  if (length->value == kLzf) return TakeCompressed();
  if (length->value > kInt32) return Fail("a known encoding of a string");
  return TakeInteger(size_t{1} << length->value);
}

std::optional<std::string_view> RdbReader::TakeInteger(size_t size) {
  const std::optional<uint64_t> bytes = TakeLittleEndian(size);
  if (!bytes) return std::nullopt;
  const size_t unused_bits = 64 - 8 * size;
  const int64_t value = static_cast<int64_t>(*bytes << unused_bits) >> unused_bits;
  return base::FormatInt64(value, integer_text_);
}

std::optional<std::string_view> RdbReader::TakeCompressed() {
  const std::optional<uint64_t> compressed_size = TakeLength();
  const std::optional<uint64_t> size = compressed_size ? TakeLength() : std::nullopt;
  if (!size) return std::nullopt;
  const std::optional<std::string_view> compressed = Take(*compressed_size);
  if (!compressed) return std::nullopt;
  std::optional<std::string> text;
  if (*size / kMaxLzfRatio <= compressed->size()) text = DecompressLzf(*compressed, *size);
  if (!text) return Fail("a string compressed by LZF");
  decompressed_ = *std::move(text);
  return decompressed_;
}

}  // namespace redouble::inline v0_1::memory
