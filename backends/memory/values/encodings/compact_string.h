// CompactString: an immutable string in 16 bytes, for fields and values of which there may be
// millions.
//
// Up to 15 bytes are stored inside; a longer string is stored in a block of exactly its size.
// std::string needs twice as much. BasicCompactString has a larger inline capacity, for owners with
// room to spare and for tables so large that reading a separate block costs a cache miss.
//
//   CompactString name("Ann");
//   std::string_view text = name.view();
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_COMPACT_STRING_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_COMPACT_STRING_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace redouble::inline v0_1::memory {

template <size_t kInlineBytes>
class BasicCompactString {
 public:
  BasicCompactString() = default;
  explicit BasicCompactString(std::string_view text) {
    if (text.size() <= kInlineBytes) {
      if (!text.empty()) std::memcpy(storage_, text.data(), text.size());
      tag_ = static_cast<uint8_t>(text.size());
      return;
    }
    char* block = new char[text.size()];
    std::memcpy(block, text.data(), text.size());
    const auto size = static_cast<uint32_t>(text.size());
    std::memcpy(storage_, &block, sizeof(block));
    std::memcpy(storage_ + sizeof(block), &size, sizeof(size));
    tag_ = kHeapTag;
  }
  BasicCompactString(BasicCompactString&& other) noexcept { Steal(other); }
  BasicCompactString& operator=(BasicCompactString&& other) noexcept {
    if (this != &other) {
      Free();
      Steal(other);
    }
    return *this;
  }
  BasicCompactString(const BasicCompactString&) = delete;
  BasicCompactString& operator=(const BasicCompactString&) = delete;
  ~BasicCompactString() { Free(); }

  std::string_view view() const {
    if (tag_ != kHeapTag) return {storage_, tag_};
    return {block(), block_size()};
  }
  // Bytes on the heap.
  size_t HeapBytes() const { return tag_ == kHeapTag ? block_size() : 0; }

 private:
  static constexpr uint8_t kHeapTag = 0xff;
  static_assert(kInlineBytes >= sizeof(char*) + sizeof(uint32_t) && kInlineBytes < kHeapTag);

  char* block() const {
    char* block;
    std::memcpy(&block, storage_, sizeof(block));
    return block;
  }
  uint32_t block_size() const {
    uint32_t size;
    std::memcpy(&size, storage_ + sizeof(char*), sizeof(size));
    return size;
  }
  void Free() {
    if (tag_ == kHeapTag) delete[] block();
  }
  void Steal(BasicCompactString& other) {
    std::memcpy(storage_, other.storage_, sizeof(storage_));
    tag_ = other.tag_;
    other.tag_ = 0;
  }

  alignas(4) char storage_[kInlineBytes] = {};
  uint8_t tag_ = 0;  // The size of an inline string, or kHeapTag.
};

using CompactString = BasicCompactString<15>;
static_assert(sizeof(CompactString) == 16);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_COMPACT_STRING_H_
