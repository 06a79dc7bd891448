#include "redouble/backends/memory/values/value.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <new>
#include <optional>

#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kGrowthStepBytes = 1 << 20;

// The capacity of a string that was modified in place follows from its size, so that it need not be
// stored: a power of two, above 1 MiB a multiple of 1 MiB.
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
  value.AssignText(text, text.size() > kMaxEmbstrBytes ? Form::kRaw : Form::kEmbstr);
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
  value.AssignText(text, Form::kRaw);
  return value;
}

Value Value::Of(std::unique_ptr<Collection> collection) {
  Value value;
  value.Save(static_cast<void*>(collection.release()));
  value.kind_ = Kind::kCollection;
  return value;
}

template <typename T>
Value Value::Put(T collection) {
  static_assert(sizeof(T) == sizeof(void*));
  Value value;
  new (value.storage_) T(std::move(collection));
  value.kind_ = KindOf<T>();
  return value;
}

Value Value::Of(Hash hash) { return Put(std::move(hash)); }

Value Value::Of(Set set) { return Put(std::move(set)); }

Value Value::Of(SortedSet set) { return Put(std::move(set)); }

// A text that is set as a whole gets a block of exactly its size.
void Value::AssignText(std::string_view text, Form form) {
  form_ = form == Form::kEmbstr ? form : Form::kRaw;
  if (text.size() <= kInlineBytes) {
    if (!text.empty()) std::memcpy(storage_, text.data(), text.size());
    inline_size_ = static_cast<uint8_t>(text.size());
    return;
  }
  char* block = Allocate(text.size());
  std::memcpy(block, text.data(), text.size());
  Save(block);
  set_heap_size(static_cast<uint32_t>(text.size()));
  kind_ = Kind::kHeap;
}

Value Value::Clone() const {
  switch (kind_) {
    case Kind::kInteger:
      return Integer(integer());
    case Kind::kCollection:
      return Of(collection()->Clone());
    case Kind::kHash:
      return Of(Inside<Hash>()->Clone());
    case Kind::kSet:
      return Of(Inside<Set>()->Clone());
    case Kind::kSortedSet:
      return Of(Inside<SortedSet>()->Clone());
    default: {
      TextBuffer buffer;
      Value value;
      value.AssignText(Text(buffer), form_);
      return value;
    }
  }
}

std::string_view Value::encoding() const {
  switch (kind_) {
    case Kind::kInteger:
      return "int";
    case Kind::kCollection:
      return collection()->encoding();
    case Kind::kHash:
      return Inside<Hash>()->encoding();
    case Kind::kSet:
      return Inside<Set>()->encoding();
    case Kind::kSortedSet:
      return Inside<SortedSet>()->encoding();
    default:
      return form_ == Form::kEmbstr ? "embstr" : "raw";
  }
}

bool Value::empty() const {
  switch (kind_) {
    case Kind::kCollection:
      return collection()->empty();
    case Kind::kHash:
      return Inside<Hash>()->empty();
    case Kind::kSet:
      return Inside<Set>()->empty();
    case Kind::kSortedSet:
      return Inside<SortedSet>()->empty();
    default:
      return false;
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
  const bool in_place = form_ == Form::kRawWithRoom && RawCapacity(size) == RawCapacity(old.size());
  if (!in_place) {
    char* block = Allocate(RawCapacity(size));
    std::memcpy(block, old.data(), std::min(size, old.size()));
    if (size > old.size()) std::memset(block + old.size(), 0, size - old.size());
    Free();
    Save(block);
    kind_ = Kind::kHeap;
    form_ = Form::kRawWithRoom;
  } else if (size > old.size()) {
    std::memset(Load<char*>() + old.size(), 0, size - old.size());
  }
  set_heap_size(static_cast<uint32_t>(size));
  return Load<char*>();
}

size_t Value::HeapBytes() const {
  if (kind_ != Kind::kHeap) return 0;
  return form_ == Form::kRawWithRoom ? RawCapacity(heap_size()) : heap_size();
}

void Value::FreeHeap() {
  switch (kind_) {
    case Kind::kCollection:
      delete collection();
      break;
    case Kind::kHash:
      Inside<Hash>()->~Hash();
      break;
    case Kind::kSet:
      Inside<Set>()->~Set();
      break;
    case Kind::kSortedSet:
      Inside<SortedSet>()->~SortedSet();
      break;
    default:
      std::free(Load<char*>());
      break;
  }
  kind_ = Kind::kInline;
  inline_size_ = 0;
}

}  // namespace redouble::inline v0_1::memory
