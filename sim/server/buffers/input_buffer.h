// InputBuffer: the bytes of incomplete and waiting commands of a client.
//
// The rest of a long command is read from the socket to where it stays, so that a value of a
// megabyte is copied once, to its key:
//
//   const std::span<char> room = input.Room(parser.bytes_wanted());
//   input.Grow(recv(socket, room.data(), room.size(), 0));
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_BUFFERS_INPUT_BUFFER_H_
#define REDOUBLE_SIM_SERVER_BUFFERS_INPUT_BUFFER_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace redouble::inline v0_1::sim {

class InputBuffer {
 public:
  std::string_view bytes() const { return {bytes_.get(), size_}; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t capacity() const { return capacity_; }

  // Makes the buffer large enough for `total` bytes, those that it has included, and returns the
  // unused part of these. Its content is undefined. Valid until the next call of another function.
  std::span<char> Room(size_t total);
  // The first `count` bytes of Room() have been filled.
  void Grow(size_t count);
  // O(bytes), amortised.
  void Append(std::string_view bytes);
  // Removes `count` bytes at the front. O(bytes that stay).
  void Consume(size_t count);
  // Removes all bytes and frees the memory.
  void Free();

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_BUFFERS_INPUT_BUFFER_H_
