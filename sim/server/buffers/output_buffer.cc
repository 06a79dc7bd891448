#include "redouble/sim/server/buffers/output_buffer.h"

#include <algorithm>

namespace redouble::inline v0_1::sim {
namespace {

// Larger pieces are freed when they are empty.
constexpr size_t kKeptRoomBytes = 256 * 1024;

}  // namespace

std::string& OutputBuffer::AddPiece(size_t bytes) {
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

}  // namespace redouble::inline v0_1::sim
