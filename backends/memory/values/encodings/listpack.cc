#include "redouble/backends/memory/values/encodings/listpack.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/values/encodings/listpack_codec.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::memory {
namespace {

using listpack_codec::EncodedElement;

constexpr size_t kHeaderBytes = 6;

// The header's count for this many elements or more.
constexpr size_t kUnknownCount = 65535;

uint32_t ReadSize(const uint8_t* bytes) {
  uint32_t size;
  std::memcpy(&size, bytes, sizeof(size));
  return size;
}

size_t ReadCount(const uint8_t* bytes) {
  uint16_t count;
  std::memcpy(&count, bytes + sizeof(uint32_t), sizeof(count));
  return count;
}

void WriteCount(size_t count, uint8_t* bytes) {
  const auto stored = static_cast<uint16_t>(std::min(count, kUnknownCount));
  std::memcpy(bytes + sizeof(uint32_t), &stored, sizeof(stored));
}

absl::Status Malformed(std::string_view what, size_t offset) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a listpack: ", what.data(), " at offset ", offset));
}

[[maybe_unused]] bool PointsInto(std::string_view text, std::string_view bytes) {
  const std::less<const char*> before;
  return !text.empty() && !before(text.data(), bytes.data()) &&
         before(text.data(), bytes.data() + bytes.size());
}

ByteBlock CopyOf(std::string_view bytes) {
  ByteBlock block(bytes.size());
  std::memcpy(block.data(), bytes.data(), bytes.size());
  return block;
}

absl::Status CheckHeader(std::string_view bytes, const uint8_t* data) {
  if (bytes.size() < Listpack::kEmptyBytes) return Malformed("too few bytes", bytes.size());
  if (ReadSize(data) != bytes.size()) return Malformed("wrong size", 0);
  if (data[bytes.size() - 1] != listpack_codec::kEnd) {
    return Malformed("no end", bytes.size() - 1);
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<int64_t> ListpackValue::AsInt64() const {
  if (is_integer()) return integer_;
  return base::ParseInt64(text_);
}

std::string_view ListpackValue::View(base::Int64Buffer& buffer) const {
  return is_integer() ? base::FormatInt64(integer_, buffer) : text_;
}

std::string ListpackValue::ToString() const {
  base::Int64Buffer buffer;
  return std::string(View(buffer));
}

bool ListpackValue::Equals(std::string_view text) const {
  return is_integer() ? base::ParseInt64(text) == integer_ : text_ == text;
}

Listpack::Listpack() : block_(kEmptyBytes) {
  WriteHeader(kEmptyBytes, 0);
  block_.data()[kHeaderBytes] = listpack_codec::kEnd;
}

Listpack::Listpack(const Listpack& other) : block_(CopyOf(other.bytes())) {}

Listpack& Listpack::operator=(const Listpack& other) {
  if (this != &other) block_ = CopyOf(other.bytes());
  return *this;
}

absl::StatusOr<Listpack> Listpack::Parse(std::string_view bytes) {
  const auto* const data = reinterpret_cast<const uint8_t*>(bytes.data());
  REDOUBLE_RETURN_IF_ERROR(CheckHeader(bytes, data));
  size_t offset = kHeaderBytes;
  size_t count = 0;
  for (; data[offset] != listpack_codec::kEnd; ++count) {
    // No element may include the final 0xFF.
    const auto size = listpack_codec::CheckElement(data + offset, data + bytes.size() - 1);
    if (!size.has_value()) return Malformed("bad element", offset);
    offset += *size;
  }
  if (offset != bytes.size() - 1) return Malformed("early end", offset);
  const size_t stored = ReadCount(data);
  if (stored != kUnknownCount && stored != count) return Malformed("wrong count", 4);
  return Listpack(CopyOf(bytes));
}

std::string_view Listpack::bytes() const {
  return {reinterpret_cast<const char*>(block_.data()), size_bytes()};
}

size_t Listpack::size_bytes() const { return ReadSize(block_.data()); }

size_t Listpack::count() const {
  const size_t stored = ReadCount(block_.data());
  if (stored != kUnknownCount) return stored;
  size_t count = 0;
  for (Position at = First(); at != kNone; at = Next(at)) ++count;
  // As in Redis, counting corrects the header after elements were removed. The header's count is
  // not part of the value, so this function may be const.
  WriteCount(count, const_cast<uint8_t*>(block_.data()));
  return count;
}

Listpack::Position Listpack::First() const { return ElementOrNone(kHeaderBytes); }

Listpack::Position Listpack::Last() const { return empty() ? kNone : Previous(End()); }

Listpack::Position Listpack::Next(Position position) const {
  return ElementOrNone(static_cast<Position>(position + WholeElementBytes(position)));
}

Listpack::Position Listpack::Previous(Position position) const {
  if (position == kHeaderBytes) return kNone;
  const uint64_t size = listpack_codec::ReadBackLength(At(position));
  return static_cast<Position>(position - size - listpack_codec::BackLengthBytes(size));
}

Listpack::Position Listpack::Seek(int64_t index) const {
  const auto elements = static_cast<int64_t>(count());
  if (index < 0) index += elements;
  if (index < 0 || index >= elements) return kNone;
  if (index < elements / 2) {
    Position at = First();
    for (; index > 0; --index) at = Next(at);
    return at;
  }
  Position at = Last();
  for (int64_t left = elements - 1 - index; left > 0; --left) at = Previous(at);
  return at;
}

ListpackValue Listpack::Get(Position position) const {
  return listpack_codec::ReadValue(At(position));
}

Listpack::Position Listpack::Find(std::string_view text, Position from, size_t skip) const {
  if (from == kNone) return kNone;
  // Parsed once: every integer element is compared with it.
  const std::optional<int64_t> integer = base::ParseInt64(text);
  const uint8_t* const end = At(End());
  for (const uint8_t* at = At(from); at != end;) {
    const bool equal = listpack_codec::IsString(*at)
                           ? listpack_codec::ReadString(at) == text
                           : integer.has_value() && listpack_codec::ReadInteger(at) == *integer;
    if (equal) return static_cast<Position>(at - block_.data());
    for (size_t left = skip + 1; left > 0 && at != end; --left) {
      const uint64_t size = listpack_codec::ElementBytes(at);
      at += size + listpack_codec::BackLengthBytes(size);
    }
  }
  return kNone;
}

bool Listpack::HasDistinctKeys() const {
  // Comparing so few is faster than sorting them.
  constexpr size_t kFewElements = 16;
  if (count() <= kFewElements) {
    base::Int64Buffer buffer;
    for (Position at = First(); at != kNone;) {
      const std::string_view key = Get(at).View(buffer);
      const Position value = Next(at);
      at = value == kNone ? kNone : Next(value);
      if (Find(key, at, 1) != kNone) return false;
    }
    return true;
  }
  // An element that is an integer or the text of one, or another text.
  using Key = std::pair<std::optional<int64_t>, std::string_view>;
  absl::InlinedVector<Key, 16> keys;
  for (Position at = First(); at != kNone;) {
    const ListpackValue value = Get(at);
    const std::optional<int64_t> integer = value.AsInt64();
    keys.emplace_back(integer, integer ? std::string_view() : value.text());
    at = Next(at);
    if (at != kNone) at = Next(at);
  }
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) == keys.end();
}

Listpack::Position Listpack::Prepend(std::string_view text) {
  return Put(kHeaderBytes, 0, listpack_codec::EncodeText(text));
}

Listpack::Position Listpack::Prepend(int64_t integer) {
  return Put(kHeaderBytes, 0, listpack_codec::EncodeInteger(integer));
}

Listpack::Position Listpack::Append(std::string_view text) {
  return Put(End(), 0, listpack_codec::EncodeText(text));
}

Listpack::Position Listpack::Append(int64_t integer) {
  return Put(End(), 0, listpack_codec::EncodeInteger(integer));
}

Listpack::Position Listpack::InsertBefore(Position position, std::string_view text) {
  return Put(position, 0, listpack_codec::EncodeText(text));
}

Listpack::Position Listpack::InsertBefore(Position position, int64_t integer) {
  return Put(position, 0, listpack_codec::EncodeInteger(integer));
}

Listpack::Position Listpack::InsertAfter(Position position, std::string_view text) {
  const size_t next = position + WholeElementBytes(position);
  return Put(static_cast<Position>(next), 0, listpack_codec::EncodeText(text));
}

Listpack::Position Listpack::InsertAfter(Position position, int64_t integer) {
  const size_t next = position + WholeElementBytes(position);
  return Put(static_cast<Position>(next), 0, listpack_codec::EncodeInteger(integer));
}

Listpack::Position Listpack::Replace(Position position, std::string_view text) {
  return Put(position, WholeElementBytes(position), listpack_codec::EncodeText(text));
}

Listpack::Position Listpack::Replace(Position position, int64_t integer) {
  return Put(position, WholeElementBytes(position), listpack_codec::EncodeInteger(integer));
}

void Listpack::AppendAll(const Listpack& other) {
  assert(this != &other && IsSafeToAdd(other.size_bytes()));
  const size_t elements_bytes = other.size_bytes() - kEmptyBytes;
  const size_t total = count() + other.count();
  const Position at = End();
  Splice(at, 0, elements_bytes, 0);
  std::memcpy(block_.data() + at, other.At(kHeaderBytes), elements_bytes);
  WriteCount(total, block_.data());
}

Listpack::Position Listpack::Erase(Position position) { return Erase(position, 1); }

Listpack::Position Listpack::Erase(Position position, size_t count) {
  size_t end = position;
  int64_t erased = 0;
  while (static_cast<size_t>(erased) < count && end != End()) {
    end += WholeElementBytes(static_cast<Position>(end));
    ++erased;
  }
  Splice(position, end - position, 0, -erased);
  return ElementOrNone(position);
}

void Listpack::EraseRange(int64_t index, size_t count) {
  const Position position = Seek(index);
  if (position != kNone) Erase(position, count);
}

void Listpack::Clear() { *this = Listpack(); }

size_t Listpack::WholeElementBytes(Position position) const {
  const uint64_t size = listpack_codec::ElementBytes(At(position));
  return size + listpack_codec::BackLengthBytes(size);
}

void Listpack::WriteHeader(size_t size_bytes, size_t count) {
  const auto size = static_cast<uint32_t>(size_bytes);
  std::memcpy(block_.data(), &size, sizeof(size));
  WriteCount(count, block_.data());
}

// Replaces `old_bytes` bytes at `at` by `new_bytes` bytes, which the caller fills.
bool Listpack::Splice(Position at, size_t old_bytes, size_t new_bytes, int64_t count_change) {
  const size_t old_size = size_bytes();
  const size_t new_size = old_size - old_bytes + new_bytes;
  if (new_size > UINT32_MAX) return false;
  if (new_size > old_size) block_.Grow(new_size);
  uint8_t* const data = block_.data();
  if (new_bytes != old_bytes) {
    std::memmove(data + at + new_bytes, data + at + old_bytes, old_size - at - old_bytes);
  }
  size_t count = ReadCount(data);
  // A count beyond the header's range stays unknown until count() is called.
  if (count != kUnknownCount) count += static_cast<size_t>(count_change);
  WriteHeader(new_size, count);
  if (new_size < old_size) block_.ShrinkWhenSparse(new_size);
  return true;
}

Listpack::Position Listpack::Put(Position at, size_t old_bytes, const EncodedElement& element) {
  assert(!PointsInto(element.text, bytes()));
  const size_t size = element.size_bytes();
  const size_t whole = size + listpack_codec::BackLengthBytes(size);
  if (!Splice(at, old_bytes, whole, old_bytes == 0 ? 1 : 0)) return kNone;
  listpack_codec::WriteElement(element, block_.data() + at);
  return at;
}

}  // namespace redouble::inline v0_1::memory
