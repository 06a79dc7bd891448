#include "redouble/sim/server/output_buffer.h"

#include <algorithm>

namespace redouble::sim {
namespace {

constexpr size_t kPieceBytes = 64 * 1024;
// Larger pieces are freed when they are empty.
constexpr size_t kKeptRoomBytes = 256 * 1024;

}  // namespace

size_t OutputBuffer::SizeOf(const store::Reply& reply) {
  constexpr size_t kFrameBytes = 32;
  const bool has_text = reply.is_bulk() || reply.is_error() || reply.is_status();
  return kFrameBytes + (has_text ? reply.text().size() : 0);
}

std::string& OutputBuffer::ToAppend(size_t bytes) {
  if (pieces_.back().empty() || pieces_.back().size() + bytes <= kPieceBytes) {
    return pieces_.back();
  }
  full_bytes_ += pieces_.back().size();
  full_room_bytes_ += pieces_.back().capacity();
  std::string& piece = pieces_.emplace_back();
  piece.reserve(std::max(bytes, kPieceBytes));
  return piece;
}

void OutputBuffer::Insert(const Mark& mark, std::string_view bytes) {
  std::string& piece = pieces_[mark.piece];
  const bool is_last = mark.piece + 1 == pieces_.size();
  const size_t room = piece.capacity();
  piece.insert(mark.offset, bytes);
  if (is_last) return;
  full_bytes_ += bytes.size();
  full_room_bytes_ += piece.capacity() - room;
}

void OutputBuffer::PopFront() {
  full_bytes_ -= pieces_.front().size();
  full_room_bytes_ -= pieces_.front().capacity();
  pieces_.pop_front();
  consumed_ = 0;
}

void OutputBuffer::Consume(size_t bytes) {
  consumed_ += bytes;
  if (consumed_ < pieces_.front().size()) return;
  if (pieces_.size() > 1) return PopFront();
  consumed_ = 0;
  pieces_.front().clear();
  if (pieces_.front().capacity() > kKeptRoomBytes) pieces_.front() = std::string();
}

void OutputBuffer::Clear() { *this = OutputBuffer(); }

}  // namespace redouble::sim
