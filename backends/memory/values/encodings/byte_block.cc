#include "redouble/backends/memory/values/encodings/byte_block.h"

#ifdef __APPLE__
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

#include <bit>
#include <cstdlib>
#include <new>

namespace redouble::inline v0_1::memory {
namespace {

// The header of each glibc block; a request that leaves room for it fills its size class.
constexpr size_t kAllocatorHeaderBytes = 8;

// Small sizes are not rounded here: the allocator rounds them to 16 bytes.
constexpr size_t kRoundedFromBytes = 128;

size_t RoundUp(size_t size_bytes) {
  const size_t needed = size_bytes + kAllocatorHeaderBytes;
  if (needed <= kRoundedFromBytes) return size_bytes;
  const size_t step = std::bit_floor(needed - 1) / 4;
  return (needed + step - 1) / step * step - kAllocatorHeaderBytes;
}

}  // namespace

ByteBlock::ByteBlock(size_t size_bytes) : data_(nullptr) { Reallocate(RoundUp(size_bytes)); }

ByteBlock::~ByteBlock() { std::free(data_); }

size_t ByteBlock::capacity() const {
#ifdef __APPLE__
  return malloc_size(data_);
#else
  return malloc_usable_size(const_cast<uint8_t*>(data_));
#endif
}

void ByteBlock::Grow(size_t size_bytes) {
  if (size_bytes > capacity()) Reallocate(RoundUp(size_bytes));
}

void ByteBlock::ShrinkWhenSparse(size_t size_bytes) {
  const size_t capacity_bytes = capacity();
  if (capacity_bytes >= kRoundedFromBytes && size_bytes < capacity_bytes / 2) {
    Reallocate(RoundUp(size_bytes));
  }
}

void ByteBlock::ShrinkTo(size_t size_bytes) { Reallocate(size_bytes); }

void ByteBlock::Reallocate(size_t size_bytes) {
  void* const data = std::realloc(data_, size_bytes);
  if (data == nullptr) throw std::bad_alloc();
  data_ = static_cast<uint8_t*>(data);
}

}  // namespace redouble::inline v0_1::memory
