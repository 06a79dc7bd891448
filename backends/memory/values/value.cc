#include "backends/memory/values/value.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <new>
#include <optional>

#include "core/base/redis_number.h"

namespace redouble::memory {
namespace {

constexpr size_t kGrowthStepBytes = 1 << 20;

// The block of a raw string is a function of its size, so that nothing needs to be stored: powers
// of two, from 1 MiB on whole MiBs.
size_t RawCapacity(size_t size) {
  if (size < kGrowthStepBytes) return std::bit_ceil(size | 31);
  return (size / kGrowthStepBytes + 1) * kGrowthStepBytes;
}

char* Allocate(size_t bytes) {
  void* block = std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return static_cast<char*>(block);
}

}  // namespace

Value Value::String(std::string_view text) {
  // The longest text of an int64 has 20 characters.
  if (text.size() <= 20) {
    if (const std::optional<int64_t> integer = base::ParseInt64(text)) return Integer(*integer);
  }
  return TextString(text);
}

Value Value::TextString(std::string_view text) {
  Value value;
  value.AssignText(text, text.size() > kMaxEmbstrBytes);
  return value;
}

Value Value::Integer(int64_t integer) {
  Value value;
  value.Save(integer);
  value.kind_ = Kind::kInteger;
  return value;
}

Value Value::RawString(std::string_view text) {
  Value value;
  value.AssignText(text, true);
  return value;
}

Value Value::Of(std::unique_ptr<Collection> collection) {
  Value value;
  value.Save(static_cast<void*>(collection.release()));
  value.kind_ = Kind::kCollection;
  return value;
}

void Value::AssignText(std::string_view text, bool raw) {
  raw_ = raw;
  if (text.size() <= kInlineBytes) {
    if (!text.empty()) std::memcpy(storage_, text.data(), text.size());
    inline_size_ = static_cast<uint8_t>(text.size());
    return;
  }
  char* block = Allocate(raw ? RawCapacity(text.size()) : text.size());
  std::memcpy(block, text.data(), text.size());
  Save(block);
  set_heap_size(static_cast<uint32_t>(text.size()));
  kind_ = Kind::kHeap;
}

Value Value::Clone() const {
  if (kind_ == Kind::kCollection) return Of(collection()->Clone());
  if (kind_ == Kind::kInteger) return Integer(integer());
  TextBuffer buffer;
  Value value;
  value.AssignText(Text(buffer), raw_);
  return value;
}

std::string_view Value::encoding() const {
  switch (kind_) {
    case Kind::kInteger:
      return "int";
    case Kind::kCollection:
      return collection()->encoding();
    default:
      return raw_ ? "raw" : "embstr";
  }
}

size_t Value::TextSize() const {
  TextBuffer buffer;
  return Text(buffer).size();
}

std::string_view Value::IntegerText(TextBuffer& buffer) const {
  assert(is_integer());
  const std::to_chars_result end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), integer());
  return {buffer.data(), static_cast<size_t>(end.ptr - buffer.data())};
}

char* Value::ResizeText(size_t size) {
  TextBuffer buffer;
  const std::string_view old = Text(buffer);
  const bool in_place =
      kind_ == Kind::kHeap && raw_ && RawCapacity(size) == RawCapacity(old.size());
  if (!in_place) {
    char* block = Allocate(RawCapacity(size));
    std::memcpy(block, old.data(), std::min(size, old.size()));
    if (size > old.size()) std::memset(block + old.size(), 0, size - old.size());
    Free();
    Save(block);
    kind_ = Kind::kHeap;
  } else if (size > old.size()) {
    std::memset(Load<char*>() + old.size(), 0, size - old.size());
  }
  raw_ = true;
  set_heap_size(static_cast<uint32_t>(size));
  return Load<char*>();
}

size_t Value::HeapBytes() const {
  if (kind_ != Kind::kHeap) return 0;
  return raw_ ? RawCapacity(heap_size()) : heap_size();
}

void Value::FreeHeap() {
  if (kind_ == Kind::kHeap) {
    std::free(Load<char*>());
  } else {
    delete collection();
  }
  kind_ = Kind::kInline;
  inline_size_ = 0;
}

}  // namespace redouble::memory
