// OutputBuffer: the bytes that a client has not been sent yet, in pieces.
//
// A piece has about 64 KiB, or one long string. So a reply of two gigabytes needs little more than
// its bytes, where one buffer that grows would need up to three times as much, and what was sent is
// freed early.
//
//   OutputBuffer output;
//   store::AppendReply(reply, protocol, output.ToAppend(OutputBuffer::SizeOf(reply)));
//   output.Consume(write(socket, output.front().data(), output.front().size()));
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_BUFFERS_OUTPUT_BUFFER_H_
#define REDOUBLE_SIM_SERVER_BUFFERS_OUTPUT_BUFFER_H_

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::sim {

class OutputBuffer {
 public:
  // What a reply has besides its text, at most.
  static constexpr size_t kFrameBytes = 32;

  // The string to which the next bytes are appended, about `bytes` of them. Valid until the next
  // call of any function.
  std::string& ToAppend(size_t bytes) {
    std::string& last = pieces_.back();
    return last.empty() || last.size() + bytes <= kPieceBytes ? last : AddPiece(bytes);
  }
  // About the bytes of a reply that is no array.
  static size_t SizeOf(const store::Reply& reply) {
    const bool has_text = reply.is_bulk() || reply.is_error() || reply.is_status();
    return kFrameBytes + (has_text ? reply.text().size() : 0);
  }

  // A position at the end of the bytes so far. Valid until bytes are consumed.
  struct Mark {
    size_t piece;
    size_t offset;
  };
  Mark End() const { return {pieces_.size() - 1, pieces_.back().size()}; }
  // Inserts a few bytes.
  void Insert(const Mark& mark, std::string_view bytes);

  bool empty() const { return size() == 0; }
  // The bytes that were not consumed.
  size_t size() const { return full_bytes_ + pieces_.back().size() - consumed_; }
  size_t capacity() const { return full_room_bytes_ + pieces_.back().capacity(); }
  // The first bytes; all of them if they are few.
  std::string_view front() const { return std::string_view(pieces_.front()).substr(consumed_); }
  // Removes bytes at the front, at most front().size().
  void Consume(size_t bytes);
  void Clear();

 private:
  static constexpr size_t kPieceBytes = 64 * 1024;

  std::string& AddPiece(size_t bytes);
  void PopFront();

  std::deque<std::string> pieces_ = std::deque<std::string>(1);  // Never empty.
  size_t consumed_ = 0;                                          // Of the first piece.
  // The sizes and capacities of all pieces but the last.
  size_t full_bytes_ = 0;
  size_t full_room_bytes_ = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_BUFFERS_OUTPUT_BUFFER_H_
