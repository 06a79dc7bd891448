// QueryRoom and ReplyRoom: the room that Redis's buffers of a client would have, which CLIENT LIST
// shows and maxmemory-clients counts. Our own buffers have other sizes.
//
// Redis enlarges a buffer when it is used. A job that looks at each client, here every 100 ms,
// makes what was not used smaller. What the job would have done since the last call is calculated
// at each call, so that idle clients cost nothing.
//
//   QueryRoom query(now_ms);
//   query.OnInput(now_ms, received.size());
//   query.bytes(now_ms, 0, 0);  // 20474; 0 after 3 idle seconds
//
// Thread-safety: one thread.
// Source: Redis 7.0 server.c, clientsCronResizeQueryBuffer and clientsCronResizeOutputBuffer.
#ifndef REDOUBLE_SIM_SERVER_BUFFERS_BUFFER_ROOMS_H_
#define REDOUBLE_SIM_SERVER_BUFFERS_BUFFER_ROOMS_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "redouble/backends/memory/server/host.h"

namespace redouble::inline v0_1::sim {

// What has been received.
class QueryRoom {
 public:
  // A word from this size on takes the buffer over.
  static constexpr size_t kLongWordBytes = 32 * 1024;

  explicit QueryRoom(int64_t now_ms) : looked_at_ms_(now_ms) {}

  // Bytes have arrived, after which the buffer holds `held_bytes`. Before, it held `before_bytes`.
  void OnInput(int64_t now_ms, size_t before_bytes, size_t held_bytes);
  // A word was read whose bytes the buffer does not keep: a long one takes the buffer over, and the
  // next buffer has room for the same.
  void OnWord(size_t bytes);
  // The room of a buffer that holds `held_bytes`, of which the last word will have `word_bytes`.
  size_t bytes(int64_t now_ms, size_t held_bytes, size_t word_bytes);

 private:
  void Look(int64_t now_ms, size_t held_bytes, size_t word_bytes);
  void Resize(int64_t now_ms, size_t held_bytes, size_t word_bytes);

  size_t room_bytes_ = 0;
  size_t peak_bytes_ = 0;  // Of what it held since the job has looked.
  int64_t last_input_ms_ = std::numeric_limits<int64_t>::min() / 2;
  int64_t looked_at_ms_;
};

// The first buffer of replies that wait. Further ones go to a list.
class ReplyRoom {
 public:
  // `options` must outlive the object.
  ReplyRoom(int64_t now_ms, const memory::ReplyBufferOptions& options)
      : options_(options), looked_at_ms_(now_ms) {}

  // Replies were added, after which `waiting_bytes` have not been sent. To be called before they
  // are.
  void OnOutput(size_t waiting_bytes) {
    if (waiting_bytes > peak_bytes_)
      peak_bytes_ = waiting_bytes < room_bytes_ ? waiting_bytes : room_bytes_;
  }
  // Does what the job would have done until now.
  void Look(int64_t now_ms, size_t waiting_bytes);
  size_t bytes() const { return room_bytes_; }
  // The most that was used, in the last seconds.
  size_t peak_bytes() const { return peak_bytes_; }

 private:
  static constexpr size_t kMaxBytes = 16 * 1024;

  void Resize();
  void ResetPeak(int64_t now_ms, size_t waiting_bytes);

  const memory::ReplyBufferOptions& options_;
  size_t room_bytes_ = kMaxBytes;
  size_t peak_bytes_ = kMaxBytes;
  int64_t peak_reset_at_ms_ = std::numeric_limits<int64_t>::min() / 2;
  int64_t looked_at_ms_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_BUFFERS_BUFFER_ROOMS_H_
