// ServerOptions: what a server around the engine makes of its connections.
//
// They are the engine's to keep, because CONFIG reads and sets them; the engine itself opens no
// socket. Names and defaults are those of redis.conf 7.0.15, but for `bind`: a double listens on
// the machine's own address unless it is told otherwise.
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_OPTIONS_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_OPTIONS_H_

#include <array>
#include <cstdint>
#include <string>

namespace redouble::memory {

// How much a client may leave unread: nothing beyond `hard_bytes`, nor beyond `soft_bytes` for
// longer than `soft_seconds`. 0: as much as it likes.
struct OutputBufferLimit {
  uint64_t hard_bytes = 0;
  uint64_t soft_bytes = 0;
  int64_t soft_seconds = 0;
};

// The classes of client-output-buffer-limit, in Redis's order.
enum class ClientClass : uint8_t { kNormal, kReplica, kPubSub };

struct ServerOptions {
  // 0: no TCP.
  int port = 6379;
  std::string bind = "127.0.0.1";
  // The path of a Unix socket; empty: none.
  std::string unixsocket = {};
  // Without a password, only clients of this machine are served.
  bool protected_mode = true;
  int maxclients = 10'000;
  // Idle clients are disconnected after so many seconds; 0: never.
  int timeout_s = 0;
  uint64_t client_query_buffer_limit_bytes = 1ull << 30;
  std::array<OutputBufferLimit, 3> client_output_buffer_limits = {
      OutputBufferLimit{},
      OutputBufferLimit{256ull << 20, 64ull << 20, 60},
      OutputBufferLimit{32ull << 20, 8ull << 20, 60},
  };
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_OPTIONS_H_
