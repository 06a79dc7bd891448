#include "redouble/sim/server/buffers/input_buffer.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace redouble::inline v0_1::sim {

std::span<char> InputBuffer::Room(size_t total) {
  if (total > capacity_) {
    auto larger = std::make_unique_for_overwrite<char[]>(total);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = total;
  }
  const size_t end = std::max(total, size_);
  return {bytes_.get() + size_, end - size_};
}

void InputBuffer::Grow(size_t count) {
  assert(count <= capacity_ - size_);
  size_ += count;
}

void InputBuffer::Append(std::string_view bytes) {
  if (bytes.empty()) return;
  const size_t total = size_ + bytes.size();
  const std::span<char> room = Room(total > capacity_ ? std::max(total, 2 * capacity_) : total);
  std::memcpy(room.data(), bytes.data(), bytes.size());
  Grow(bytes.size());
}

void InputBuffer::Consume(size_t count) {
  assert(count <= size_);
  size_ -= count;
  if (count > 0 && size_ > 0) std::memmove(bytes_.get(), bytes_.get() + count, size_);
}

void InputBuffer::Free() { *this = InputBuffer(); }

}  // namespace redouble::inline v0_1::sim
