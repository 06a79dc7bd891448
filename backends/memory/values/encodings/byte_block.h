// ByteBlock: a block of malloc'ed bytes behind one pointer, for Redis's packed values (listpack,
// intset).
//
// A packed value stores its own size in its header. An owner that repeats size and capacity, as
// std::string and std::vector do, would cost 24 bytes or more per key. A ByteBlock is one pointer;
// the allocator knows its capacity. Growth is amortized by rounding larger blocks up to four sizes
// per doubling, as Redis's allocator does.
//
//   ByteBlock block(7);
//   block.Grow(9000);           // the first 7 bytes are kept
//   block.data()[8999] = 0xff;
//
// Allocation failure throws std::bad_alloc.
//
// Thread-safety: one thread.

#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_BYTE_BLOCK_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_BYTE_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <utility>

namespace redouble::inline v0_1::memory {

class ByteBlock {
 public:
  // A block of at least `size_bytes` bytes with unspecified content. `size_bytes` must not be 0.
  explicit ByteBlock(size_t size_bytes);
  ~ByteBlock();

  ByteBlock(const ByteBlock&) = delete;
  ByteBlock& operator=(const ByteBlock&) = delete;

  // Pointers into the bytes stay valid. The moved-from block has no bytes and may only be destroyed
  // or assigned to.
  ByteBlock(ByteBlock&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  ByteBlock& operator=(ByteBlock&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }

  // The bytes. Growing or shrinking the block moves them.
  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }

  // The number of usable bytes, at least the requested size.
  size_t capacity() const;

  // Makes the capacity at least `size_bytes` and keeps the existing bytes. Does nothing if the
  // capacity suffices. A sequence of growing calls copies each byte a constant number of times on
  // average.
  void Grow(size_t size_bytes);

  // Keeps `size_bytes` bytes and frees the rest if they fill less than half of the block.
  void ShrinkWhenSparse(size_t size_bytes);

  // Keeps `size_bytes` bytes and frees the rest.
  void ShrinkTo(size_t size_bytes);

 private:
  void Reallocate(size_t size_bytes);

  uint8_t* data_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_BYTE_BLOCK_H_
