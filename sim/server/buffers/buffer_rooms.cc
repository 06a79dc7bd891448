#include "redouble/sim/server/buffers/buffer_rooms.h"

#include <algorithm>

#include "redouble/backends/memory/values/memory_usage.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr int64_t kLookMillis = 100;
// What Redis reads at once.
constexpr size_t kReadBytes = 16 * 1024;
// Redis leaves this much free.
constexpr size_t kLeastWasteBytes = 4 * 1024;
// A larger query buffer is made smaller when its client is not idle, too.
constexpr size_t kLargeQueryBytes = 32 * 1024;
constexpr int64_t kIdleSeconds = 2;
constexpr size_t kLeastReplyBytes = 1024;
constexpr size_t kLineBreakBytes = 2;

// What Redis allocates for a string with room for so many bytes.
size_t RoomFor(size_t bytes) { return bytes + memory::RoomOfKey(bytes).spare_bytes; }

}  // namespace

void QueryRoom::OnInput(int64_t now_ms, size_t before_bytes, size_t held_bytes) {
  Look(now_ms, before_bytes, 0);
  last_input_ms_ = now_ms;
  room_bytes_ = std::max({room_bytes_, RoomFor(kReadBytes), held_bytes});
  peak_bytes_ = std::max(peak_bytes_, held_bytes);
}

void QueryRoom::OnWord(size_t bytes) {
  if (bytes >= kLongWordBytes) room_bytes_ = RoomFor(bytes + kLineBreakBytes);
}

size_t QueryRoom::bytes(int64_t now_ms, size_t held_bytes, size_t word_bytes) {
  Look(now_ms, held_bytes, word_bytes);
  if (word_bytes > 0) room_bytes_ = std::max(room_bytes_, RoomFor(word_bytes + kLineBreakBytes));
  return std::max(room_bytes_, held_bytes);
}

void QueryRoom::Look(int64_t now_ms, size_t held_bytes, size_t word_bytes) {
  const int64_t looks = (now_ms - looked_at_ms_) / kLookMillis;
  if (looks <= 0) return;
  looked_at_ms_ += looks * kLookMillis;
  Resize(now_ms, held_bytes, word_bytes);
  peak_bytes_ = std::max(held_bytes, word_bytes);
  // Nothing changes after a second look at the same bytes.
  if (looks > 1) Resize(now_ms, held_bytes, word_bytes);
}

void QueryRoom::Resize(int64_t now_ms, size_t held_bytes, size_t word_bytes) {
  if (room_bytes_ <= held_bytes + kLeastWasteBytes) return;
  if (now_ms / 1000 - last_input_ms_ / 1000 > kIdleSeconds) {
    room_bytes_ = held_bytes;
  } else if (room_bytes_ > kLargeQueryBytes && room_bytes_ / 2 > peak_bytes_) {
    room_bytes_ = std::max({held_bytes, peak_bytes_, word_bytes});
  }
}

void ReplyRoom::Look(int64_t now_ms, size_t waiting_bytes) {
  const int64_t looks = (now_ms - looked_at_ms_) / kLookMillis;
  if (looks <= 0) return;
  looked_at_ms_ += looks * kLookMillis;
  Resize();
  ResetPeak(now_ms, waiting_bytes);
  // Nothing changes after a second look at the same peak.
  if (looks > 1) Resize();
}

void ReplyRoom::Resize() {
  if (!options_.resizes) return;
  if (room_bytes_ / 2 >= kLeastReplyBytes && peak_bytes_ < room_bytes_ / 2) {
    room_bytes_ = memory::AllocatedBytes(std::max(kLeastReplyBytes, peak_bytes_ + 1));
  } else if (room_bytes_ < kMaxBytes && peak_bytes_ == room_bytes_) {
    room_bytes_ = std::min(kMaxBytes, room_bytes_ * 2);
  }
}

void ReplyRoom::ResetPeak(int64_t now_ms, size_t waiting_bytes) {
  if (options_.peak_reset_ms < 0 || now_ms - peak_reset_at_ms_ <= options_.peak_reset_ms) return;
  peak_bytes_ = std::min(waiting_bytes, room_bytes_);
  peak_reset_at_ms_ = now_ms;
}

}  // namespace redouble::inline v0_1::sim
