// Host: what an engine asks of the server that it runs in: sockets, the process, and a real clock.
//
// An engine in a test has none of these; an engine in a server does, and INFO, CLIENT and SHUTDOWN
// report them. Everything of that kind comes through this interface, so that an engine without a
// host is a function of its commands, its clock and its seed.
//
//   class Server final : public memory::Host { ... };
//   engine.core().administration().set_host(&server);
//
// Thread-safety: one thread, the one that uses the engine.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_HOST_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_HOST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/memory/migration/connector.h"
#include "redouble/backends/memory/scripting/debugger/debug_host.h"
#include "redouble/backends/memory/server/append_log.h"
#include "redouble/backends/memory/server/key_file.h"
#include "redouble/backends/memory/server/replication.h"
#include "redouble/backends/memory/server/shutdown.h"
#include "redouble/backends/memory/server_options.h"

namespace redouble::inline v0_1::memory {

class SessionCore;

// The fields of CLIENT LIST that describe a socket. The defaults are those of a session without
// one.
struct ConnectionFigures {
  std::string address = "?:0";        // "127.0.0.1:50312", "/run/redouble.sock:0"
  std::string local_address = "?:0";  // The server's side.
  int descriptor = -1;
  size_t query_bytes = 0;       // Received; the commands that run are included.
  size_t query_free_bytes = 0;  // Allocated and free.
  size_t argument_bytes = 0;    // The words of the current command.
  size_t output_bytes = 0;      // Replies not yet sent.
  size_t reply_room_bytes = 0;  // Allocated for the first of them; the others are in a list.
  size_t reply_peak_bytes = 0;  // The most of it that was used lately.
  bool waits_to_write = false;  // The socket's send buffer is full.
};

// What DEBUG REPLYBUFFER sets.
struct ReplyBufferOptions {
  static constexpr int64_t kDefaultPeakResetMillis = 5'000;

  // After this time the greatest use of a client's buffer is forgotten; negative: never.
  int64_t peak_reset_ms = kDefaultPeakResetMillis;
  // Buffers that are used little become smaller.
  bool resizes = true;
};

// The fields of INFO that describe the process.
struct ProcessFigures {
  int64_t process_id = 0;
  int tcp_port = 0;
  std::string executable;
  std::string run_id = std::string(40, '0');
  std::string monotonic_clock = "virtual";
  std::string multiplexing_api = "none";
  int64_t resident_bytes = 0;
  int64_t peak_resident_bytes = 0;
  int64_t allocated_bytes = 0;  // On the program's heap.
  int64_t system_memory_bytes = 0;
  double system_cpu_seconds = 0;
  double user_cpu_seconds = 0;
  double operations_per_second = 0;
  double input_kilobytes_per_second = 0;
  double output_kilobytes_per_second = 0;
  int64_t largest_input_bytes = 0;  // Of the present connections.
  int64_t largest_output_bytes = 0;
  int64_t migration_sockets = 0;  // Those that are kept for the next MIGRATE.
  std::string config_file;        // CONFIG REWRITE writes it.
};

class Host {
 public:
  virtual ~Host() = default;

  // A monotonic clock, for the duration of commands.
  virtual int64_t MonotonicMicros() = 0;
  virtual ProcessFigures Figures() = 0;
  virtual ConnectionFigures FiguresOf(const SessionCore& session) = 0;
  // Another session's command closed this session: the host closes the socket.
  virtual void OnDisconnect(const SessionCore& session) = 0;
  // DEBUG SLEEP: blocks the process.
  virtual void Sleep(int64_t duration_us) = 0;
  // DEBUG LOG: writes a warning to the log of the server.
  virtual void LogWarning(std::string_view) {}
  // DEBUG PAUSE-CRON: stops the host's regular work, or lets it go on.
  virtual void PauseUpkeep(bool) {}
  // CONFIG SET bind and port: listens there, and no longer where it listened before. Connections
  // stay. After an error it listens where it listened before.
  virtual absl::Status Listen(const ServerOptions& options) = 0;
  // CONFIG SET maxclients: raises the process's limit of descriptors if it can. Returns how many of
  // the wanted clients fit.
  virtual int RoomForClients(int wanted) = 0;
  // CONFIG GET and SET dir: the working folder of the process. Errors: strerror of the reason.
  virtual std::string Folder() = 0;
  virtual absl::Status EnterFolder(const std::string& path) = 0;
  // The file of keys; null: nothing is saved.
  virtual KeyFile* key_file() { return nullptr; }
  // The append-only log; null: nothing is logged.
  virtual AppendLog* append_log() { return nullptr; }
  // The replicas; null: this server accepts no replicas.
  virtual Replication* replication() { return nullptr; }
  // The connections of MIGRATE; null: no target is reached.
  virtual MigrationConnector* migration_connector() { return nullptr; }
  // The end of the server; null: it does not shut down.
  virtual Shutdown* shutdown() { return nullptr; }
  // Where scripts are debugged; null: this server debugs no scripts.
  virtual DebugHost* debug_host() { return nullptr; }
  // The unread input and unsent output of all clients, in bytes; what a client with little of them
  // has is not counted. It counts towards maxmemory.
  virtual uint64_t client_buffer_bytes() const { return 0; }
  // True if the session's client is on this machine: a Unix socket or the loopback interface.
  virtual bool IsLocal(const SessionCore&) { return true; }
  // True if the engine's clock follows the real one, so that scripts are limited by real time.
  virtual bool runs_in_real_time() const { return false; }
  // A script has run longer than busy-reply-threshold: serves the other clients, for which the
  // engine is busy. The engine's clock must not move. Returns false if the script must end because
  // the server stops. Called often; only if runs_in_real_time().
  virtual bool ServeOthers() { return true; }
  // The configuration file that CONFIG REWRITE replaces: its absolute path; empty: none.
  virtual std::string ConfigFile() = 0;
  // The configuration and ACL files. Replacing is one step, after which the file is on the disk.
  // Errors: strerror of the reason; NotFound if the file to read does not exist.
  virtual absl::StatusOr<std::string> ReadTextFile(const std::string& path) = 0;
  virtual absl::Status ReplaceTextFile(const std::string& path, std::string_view text) = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_HOST_H_
