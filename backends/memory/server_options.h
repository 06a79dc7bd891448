// ServerOptions: the settings of a server that serves an engine over sockets.
//
// The engine keeps them because CONFIG reads and sets them; it opens no socket itself. Names and
// defaults are those of redis.conf 7.0.15, except that `bind` is the loopback address by default.
//
//   EngineOptions options;
//   options.server.port = 7000;
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_OPTIONS_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_OPTIONS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::memory {

// The limit of unread replies of a client: `hard_bytes` at any time, `soft_bytes` for longer than
// `soft_seconds`. A client that exceeds it is disconnected. 0: no limit.
struct OutputBufferLimit {
  uint64_t hard_bytes = 0;
  uint64_t soft_bytes = 0;
  int64_t soft_seconds = 0;
};

// The classes of client-output-buffer-limit, in Redis's order.
enum class ClientClass : uint8_t { kNormal, kReplica, kPubSub };

// A file of keys is saved when at least `changes` keys have changed and `seconds` have passed since
// the last save.
struct SavePoint {
  int64_t seconds = 0;
  int64_t changes = 0;
};

// When the append-only log is synced: never, before each reply, or once a second.
enum class AppendFsync : uint8_t { kNo, kAlways, kEverySecond };

// The names in redis.conf, in the order in which Redis lists them.
inline constexpr std::string_view kAppendFsyncNames[] = {"everysec", "always", "no"};
inline constexpr AppendFsync kAppendFsyncs[] = {AppendFsync::kEverySecond, AppendFsync::kAlways,
                                                AppendFsync::kNo};

// Whether clients may do what is protected; kLocal: those of this machine.
enum class ProtectedAccess : uint8_t { kNo, kYes, kLocal };

// The names in redis.conf, in the order of ProtectedAccess.
inline constexpr std::string_view kProtectedAccessNames[] = {"no", "yes", "local"};

struct ServerOptions {
  // 0: no TCP.
  int port = 6379;
  std::string bind = "127.0.0.1";
  // The path of a Unix socket. Empty: no Unix socket.
  std::string unixsocket = {};
  // Without a password, only local clients are accepted.
  bool protected_mode = true;
  int maxclients = 10'000;
  // Idle clients are disconnected after this many seconds. 0: never.
  int timeout_s = 0;
  uint64_t client_query_buffer_limit_bytes = 1ull << 30;
  std::array<OutputBufferLimit, 3> client_output_buffer_limits = {
      OutputBufferLimit{},
      OutputBufferLimit{256ull << 20, 64ull << 20, 60},
      OutputBufferLimit{32ull << 20, 8ull << 20, 60},
  };
  // The file of keys in the working folder (server/key_file.h), and when it is saved. Redis's
  // default has three save points.
  std::string dbfilename = "dump.rdb";
  std::vector<SavePoint> save_points = {};
  // The append-only log (append_only/append_only_log.h): whether it is written, where, and when it
  // is synced and rewritten.
  bool appendonly = false;
  std::string appenddirname = "appendonlydir";
  std::string appendfilename = "appendonly.aof";
  AppendFsync appendfsync = AppendFsync::kEverySecond;
  bool aof_load_truncated = true;
  bool aof_use_rdb_preamble = true;
  bool aof_timestamp_enabled = false;
  // It is rewritten when it is larger than `min_size` and has grown by `percentage` since the last
  // rewrite. 0 percent: never.
  int auto_aof_rewrite_percentage = 100;
  int64_t auto_aof_rewrite_min_size_bytes = 64 << 20;
  bool rdbcompression = true;
  bool rdbchecksum = true;
  // DEBUG, MODULE LOAD and UNLOAD, and CONFIG SET of protected parameters. The program that owns an
  // engine may use DEBUG; `redouble serve` starts with Redis's default, kNo.
  ProtectedAccess enable_debug_command = ProtectedAccess::kYes;
  ProtectedAccess enable_module_command = ProtectedAccess::kNo;
  ProtectedAccess enable_protected_configs = ProtectedAccess::kNo;
  // Whether writes are refused after a save in the background failed, if there are save points.
  bool stop_writes_on_bgsave_error = true;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_OPTIONS_H_
