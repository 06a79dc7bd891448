// CompactString: an immutable string in 16 bytes, for keys and members that exist by the million.
//
// Up to 15 bytes live inside; longer ones in one block of exactly their size. std::string needs
// twice the room.
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_COMPACT_STRING_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_COMPACT_STRING_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace redouble::memory {

class CompactString {
 public:
  CompactString() = default;
  explicit CompactString(std::string_view text) {
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
  CompactString(CompactString&& other) noexcept { Steal(other); }
  CompactString& operator=(CompactString&& other) noexcept {
    if (this != &other) {
      Free();
      Steal(other);
    }
    return *this;
  }
  CompactString(const CompactString&) = delete;
  CompactString& operator=(const CompactString&) = delete;
  ~CompactString() { Free(); }

  std::string_view view() const {
    if (tag_ != kHeapTag) return {storage_, tag_};
    return {block(), block_size()};
  }
  // Bytes on the heap.
  size_t HeapBytes() const { return tag_ == kHeapTag ? block_size() : 0; }

 private:
  static constexpr size_t kInlineBytes = 15;
  static constexpr uint8_t kHeapTag = 0xff;

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
  void Steal(CompactString& other) {
    std::memcpy(storage_, other.storage_, sizeof(storage_));
    tag_ = other.tag_;
    other.tag_ = 0;
  }

  alignas(8) char storage_[kInlineBytes] = {};
  uint8_t tag_ = 0;  // The size of an inline string, or kHeapTag.
};

static_assert(sizeof(CompactString) == 16);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_COMPACT_STRING_H_
