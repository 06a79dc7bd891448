#include "redouble/backends/memory/values/encodings/intset.h"

#include <bit>
#include <cassert>
#include <cstring>
#include <string>

#include "absl/status/status.h"

namespace redouble::inline v0_1::memory {
namespace {

static_assert(std::endian::native == std::endian::little, "an intset's numbers are little-endian");

constexpr size_t kHeaderBytes = 8;

size_t WidthOf(int64_t value) {
  if (value >= INT16_MIN && value <= INT16_MAX) return sizeof(int16_t);
  if (value >= INT32_MIN && value <= INT32_MAX) return sizeof(int32_t);
  return sizeof(int64_t);
}

template <typename Integer>
Integer Load(const uint8_t* bytes) {
  Integer value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

int64_t LoadMember(const uint8_t* data, size_t width, size_t index) {
  const uint8_t* const bytes = data + kHeaderBytes + index * width;
  if (width == sizeof(int16_t)) return Load<int16_t>(bytes);
  if (width == sizeof(int32_t)) return Load<int32_t>(bytes);
  return Load<int64_t>(bytes);
}

ByteBlock CopyOf(std::string_view bytes) {
  ByteBlock block(bytes.size());
  std::memcpy(block.data(), bytes.data(), bytes.size());
  return block;
}

absl::Status Malformed(const char* what) {
  return absl::InvalidArgumentError(std::string("not an intset: ") + what);
}

}  // namespace

Intset::Intset() : block_(kHeaderBytes) { WriteHeader(sizeof(int16_t), 0); }

Intset::Intset(const Intset& other) : block_(CopyOf(other.bytes())) {}

Intset& Intset::operator=(const Intset& other) {
  if (this != &other) block_ = CopyOf(other.bytes());
  return *this;
}

absl::StatusOr<Intset> Intset::Parse(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return Malformed("too few bytes");
  const auto* const data = reinterpret_cast<const uint8_t*>(bytes.data());
  const size_t width = Load<uint32_t>(data);
  const size_t count = Load<uint32_t>(data + sizeof(uint32_t));
  if (width != 2 && width != 4 && width != 8) return Malformed("wrong width");
  if (bytes.size() != kHeaderBytes + count * width) return Malformed("wrong size");
  for (size_t i = 1; i < count; ++i) {
    if (LoadMember(data, width, i - 1) >= LoadMember(data, width, i)) {
      return Malformed("members do not ascend");
    }
  }
  return Intset(CopyOf(bytes));
}

std::string_view Intset::bytes() const {
  return {reinterpret_cast<const char*>(block_.data()), size_bytes()};
}

size_t Intset::size_bytes() const { return kHeaderBytes + count() * width(); }

size_t Intset::count() const { return Load<uint32_t>(block_.data() + sizeof(uint32_t)); }

int64_t Intset::At(size_t index) const {
  assert(index < count());
  return LoadMember(block_.data(), width(), index);
}

size_t Intset::Rank(int64_t value) const {
  const size_t member_width = width();
  const uint8_t* const data = block_.data();
  size_t low = 0;
  size_t high = count();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (LoadMember(data, member_width, middle) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool Intset::Contains(int64_t value) const {
  const size_t rank = Rank(value);
  return rank < count() && At(rank) == value;
}

bool Intset::Add(int64_t value) {
  const size_t rank = Rank(value);
  const size_t old_count = count();
  if (rank < old_count && At(rank) == value) return false;
  if (WidthOf(value) > width()) Widen(WidthOf(value));
  const size_t member_width = width();
  block_.Grow(size_bytes() + member_width);
  uint8_t* const place = block_.data() + kHeaderBytes + rank * member_width;
  std::memmove(place + member_width, place, (old_count - rank) * member_width);
  WriteHeader(member_width, old_count + 1);
  Write(rank, value);
  return true;
}

bool Intset::Remove(int64_t value) {
  const size_t rank = Rank(value);
  const size_t old_count = count();
  if (rank == old_count || At(rank) != value) return false;
  const size_t member_width = width();
  uint8_t* const place = block_.data() + kHeaderBytes + rank * member_width;
  std::memmove(place, place + member_width, (old_count - rank - 1) * member_width);
  WriteHeader(member_width, old_count - 1);
  block_.ShrinkWhenSparse(size_bytes());
  return true;
}

size_t Intset::width() const { return Load<uint32_t>(block_.data()); }

void Intset::WriteHeader(size_t width, size_t count) {
  const uint32_t header[] = {static_cast<uint32_t>(width), static_cast<uint32_t>(count)};
  std::memcpy(block_.data(), header, sizeof(header));
}

// The member fits the width, so its low bytes suffice.
void Intset::Write(size_t index, int64_t value) {
  const size_t member_width = width();
  std::memcpy(block_.data() + kHeaderBytes + index * member_width, &value, member_width);
}

void Intset::Widen(size_t width) {
  const size_t old_width = this->width();
  const size_t members = count();
  block_.Grow(kHeaderBytes + members * width);
  WriteHeader(width, members);
  // From the last to the first, because the members move up within the block.
  for (size_t i = members; i-- > 0;) Write(i, LoadMember(block_.data(), old_width, i));
}

}  // namespace redouble::inline v0_1::memory
