// Value: the value of a key, in 16 bytes.
//
// A string is stored in the value itself if it is an integer or at most 13 bytes long, otherwise in
// its own block. Hashes, sets and sorted sets are stored in it too: each is one pointer
// (packed_or_table.h), and a small one costs only its packed bytes. Lists and streams are
// Collections on the heap. Each type has a file in this folder.
//
// A pointer to a hash, a set or a sorted set is therefore invalid once any key is removed: removing
// a key may move another entry of the database.
//
// Strings keep the encoding that Redis would report: "int" for the canonical text of a 64-bit
// integer, "embstr" for up to 44 bytes set as a whole, "raw" for longer strings and for any string
// that was modified in place.
//
//   Value value = Value::String("hello");
//   std::memcpy(value.ResizeText(11) + 5, " world", 6);
//
// Thread-safety: a plain value.
// Source: Redis 7.0 OBJECT ENCODING.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_VALUE_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_VALUE_H_

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "redouble/core/store/table/key_type.h"

namespace redouble::inline v0_1::memory {

class Hash;
class Set;
class SortedSet;

// A list or a stream. Owned by a Value.
class Collection {
 public:
  virtual ~Collection() = default;

  virtual store::KeyType type() const = 0;
  // A copy that shares nothing with this collection. O(size).
  virtual std::unique_ptr<Collection> Clone() const = 0;
  // The encoding as OBJECT ENCODING reports it, for example "quicklist".
  virtual std::string_view encoding() const = 0;
  // True if the collection is empty and its key must be removed.
  virtual bool empty() const = 0;
};

class Value {
 public:
  enum class StringEncoding : uint8_t { kInt, kEmbstr, kRaw };
  static constexpr size_t kMaxEmbstrBytes = 44;
  // Room for the text of an int64_t (see Text).
  using TextBuffer = std::array<char, 24>;

  // The empty string.
  Value() = default;
  // A string as SET stores it: the canonical text of an integer is encoded as "int".
  static Value String(std::string_view text);
  static Value Integer(int64_t value);
  // A string that stays text although it may be a canonical integer: "embstr" or "raw" by its
  // length.
  static Value TextString(std::string_view text);
  // A string with the encoding "raw", whatever its length.
  static Value RawString(std::string_view text);
  static Value Of(std::unique_ptr<Collection> collection);
  static Value Of(Hash hash);
  static Value Of(Set set);
  static Value Of(SortedSet set);
  // An empty hash, set, sorted set, list or stream.
  template <typename T>
  static Value Empty() {
    if constexpr (std::is_base_of_v<Collection, T>) {
      return Of(std::make_unique<T>());
    } else {
      return Of(T());
    }
  }

  Value(Value&& other) noexcept { Steal(other); }
  Value& operator=(Value&& other) noexcept {
    if (this != &other) {
      Free();
      Steal(other);
    }
    return *this;
  }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ~Value() { Free(); }

  Value Clone() const;
  // A text becomes "raw", as if it had been changed in place. Requires "embstr" or "raw".
  void MakeRaw() {
    assert(type() == store::KeyType::kString && !is_integer());
    if (form_ == Form::kEmbstr) form_ = Form::kRaw;
  }

  store::KeyType type() const {
    switch (kind_) {
      case Kind::kCollection:
        return collection()->type();
      case Kind::kHash:
        return store::KeyType::kHash;
      case Kind::kSet:
        return store::KeyType::kSet;
      case Kind::kSortedSet:
        return store::KeyType::kSortedSet;
      default:
        return store::KeyType::kString;
    }
  }
  bool is_string() const { return kind_ <= Kind::kHeap; }
  // The encoding as OBJECT ENCODING reports it.
  std::string_view encoding() const;
  // True if the value is an empty collection, whose key must be removed. A string or a stream is
  // never empty in this sense.
  bool empty() const;

  // The hash, set, sorted set, list or stream if the value is a T, otherwise null.
  template <typename T>
  T* As() const {
    if constexpr (std::is_base_of_v<Collection, T>) {
      if (kind_ != Kind::kCollection || collection()->type() != T::kType) return nullptr;
      return static_cast<T*>(collection());
    } else {
      return kind_ == KindOf<T>() ? Inside<T>() : nullptr;
    }
  }

  // For a string: true if its encoding is "int".
  bool is_integer() const { return kind_ == Kind::kInteger; }
  int64_t integer() const {
    assert(is_integer());
    return Load<int64_t>();
  }
  // For a string: its bytes. The view is valid until the value changes. The text of an integer is
  // written to `buffer`, which must live as long as the view.
  std::string_view Text(TextBuffer& buffer) const {
    switch (kind_) {
      case Kind::kInline:
        return {storage_, inline_size_};
      case Kind::kHeap:
        return {Load<char*>(), heap_size()};
      default:
        return IntegerText(buffer);
    }
  }
  // For a string: its length in bytes.
  size_t TextSize() const;
  // For a string: resizes it to `size` bytes, keeps the old bytes, fills with zero bytes and makes
  // the encoding "raw". Returns the bytes for writing. Amortized O(growth).
  char* ResizeText(size_t size);

  // Heap bytes of this value's string; 0 if it is stored inside.
  size_t HeapBytes() const;

 private:
  // The kinds of strings come first.
  enum class Kind : uint8_t {
    kInline,
    kInteger,
    kHeap,
    kCollection,
    kHash,
    kSet,
    kSortedSet,
  };
  // For a text: its encoding, and whether its block has room to grow.
  enum class Form : uint8_t { kEmbstr, kRaw, kRawWithRoom };
  static constexpr size_t kInlineBytes = 13;

  template <typename T>
  T Load() const {
    T value;
    std::memcpy(&value, storage_, sizeof(value));
    return value;
  }
  template <typename T>
  void Save(T value) {
    std::memcpy(storage_, &value, sizeof(value));
  }
  template <typename T>
  static constexpr Kind KindOf() {
    if (std::is_same_v<T, Hash>) return Kind::kHash;
    return std::is_same_v<T, Set> ? Kind::kSet : Kind::kSortedSet;
  }
  // The object of type T in the storage.
  template <typename T>
  T* Inside() const {
    return std::launder(reinterpret_cast<T*>(const_cast<char*>(storage_)));
  }
  template <typename T>
  static Value Put(T collection);
  Collection* collection() const {
    assert(kind_ == Kind::kCollection);
    return static_cast<Collection*>(Load<void*>());
  }
  uint32_t heap_size() const {
    uint32_t size;
    std::memcpy(&size, storage_ + sizeof(void*), sizeof(size));
    return size;
  }
  void set_heap_size(uint32_t size) { std::memcpy(storage_ + sizeof(void*), &size, sizeof(size)); }

  std::string_view IntegerText(TextBuffer& buffer) const;
  void AssignText(std::string_view text, Form form);
  void Free() {
    if (kind_ >= Kind::kHeap) FreeHeap();
  }
  void FreeHeap();
  void Steal(Value& other) {
    std::memcpy(storage_, other.storage_, sizeof(storage_));
    inline_size_ = other.inline_size_;
    form_ = other.form_;
    kind_ = std::exchange(other.kind_, Kind::kInline);
    other.inline_size_ = 0;
    other.form_ = Form::kEmbstr;
  }

  // Depends on the kind: the text; an int64_t; a char* and a uint32_t size; a Collection*; or the
  // collection itself, which may be moved bytewise.
  alignas(8) char storage_[kInlineBytes] = {};
  uint8_t inline_size_ = 0;
  Form form_ = Form::kEmbstr;
  Kind kind_ = Kind::kInline;
};

static_assert(sizeof(Value) == 16);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_VALUE_H_
