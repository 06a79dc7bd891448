// One block of malloc'ed bytes behind one pointer: what Redis's packed values (listpack, intset)
// live in.
//
// Why it exists: a packed value knows its own size from its header, so an owner that repeats size
// and capacity, as std::string or std::vector do, costs 24 bytes per key or more. A ByteBlock is
// one pointer; its capacity is asked of the allocator. Growth is amortised by rounding larger
// blocks up to four sizes per doubling, which is also how Redis's allocator rounds them.
//
// Not safe to use from several threads at once, as any container.
//
//   ByteBlock block(7);
//   block.Grow(9000);           // the first 7 bytes are kept
//   block.data()[8999] = 0xff;
//
// Allocation failure ends as in any standard container (std::bad_alloc).

#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_BYTE_BLOCK_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_BYTE_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <utility>

namespace redouble::memory {

class ByteBlock {
 public:
  // A block of at least `size_bytes` bytes with unspecified content. `size_bytes` is not zero.
  explicit ByteBlock(size_t size_bytes);
  ~ByteBlock();

  ByteBlock(const ByteBlock&) = delete;
  ByteBlock& operator=(const ByteBlock&) = delete;

  // Moving takes the bytes along without touching them; pointers into them stay valid. The
  // moved-from block has no bytes and may only be destroyed or assigned to.
  ByteBlock(ByteBlock&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  ByteBlock& operator=(ByteBlock&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }

  // The bytes; they move whenever the block grows or shrinks.
  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }

  // How many bytes may be used, which is at least what was asked for.
  size_t capacity() const;

  // Makes the capacity at least `size_bytes`, keeping the bytes up to the old capacity. Does
  // nothing when it is already. A sequence of growing calls copies each byte a constant number of
  // times on average.
  void Grow(size_t size_bytes);

  // Gives memory back when less than half of it is needed for `size_bytes` bytes, which are kept.
  void ShrinkWhenSparse(size_t size_bytes);

  // Gives back whatever `size_bytes` bytes, which are kept, do not need.
  void ShrinkTo(size_t size_bytes);

 private:
  void Reallocate(size_t size_bytes);

  uint8_t* data_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_BYTE_BLOCK_H_
