// SpawnedServer: a real redis-server of one's own, for tests and replays against live Redis.
//
// Each server runs in a private temporary folder, listens on a Unix socket there (and, on request,
// on a free loopback port), persists nothing unless told to, and is gone, process and folder, when
// the object is, or when this process dies, however it dies. Nothing is shared with a Redis
// that the machine may run.
//
// Its wall clock can be held (see HeldClock): then expiry, TIME, stream ids, idle times and block
// time-outs follow SetTime to the microsecond and nothing else. A command sent after SetTime has
// returned sees the new time exactly, since Redis reads the clock anew for each command. What the
// server does of itself (active expiry with its messages, block time-outs) it does on its next
// timer tick, within some 2 ms of real time; Settle waits for just that.
//
// Thread-safety: the time functions, Settle and the accessors may be called from any thread;
// Kill, Terminate and Restart must not overlap with any other call.
//
//     SpawnedServerOptions options;
//     options.held_time = absl::FromUnixSeconds(1'700'000'000);
//     auto server = SpawnedServer::Start(options);
//     if (!server.ok()) return server.status();  // "redis-server is in no folder of PATH ..."
//     Connect((*server)->unix_socket());         // SET key value PX 1000
//     (*server)->AdvanceTime(absl::Milliseconds(1000));  // PTTL key: 0, still there
//     (*server)->AdvanceTime(absl::Milliseconds(1));     // GET key: nil

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_SERVER_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_SERVER_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backends/redis/spawn/child_process.h"
#include "backends/redis/spawn/held_clock.h"
#include "backends/redis/spawn/loopback_port.h"
#include "backends/redis/spawn/private_folder.h"

namespace redouble::redis {

// PEM files for a server that speaks TLS.
struct SpawnedTls {
  std::string certificate_file;
  std::string key_file;
  std::string ca_file;
  // Refuses clients without a certificate of `ca_file`.
  bool demands_client_certificate = false;
};

struct SpawnedServerOptions {
  // A path, or a name that is looked for on PATH.
  std::string executable = "redis-server";

  // Holds the server's wall clock at this time, from its first reading on. Unset: real time.
  std::optional<absl::Time> held_time;

  // Asked of every client (requirepass) when not empty; may hold any byte but zero.
  std::string password;

  // Listens on a free port of 127.0.0.1 as well.
  bool listen_on_loopback = false;
  // The port to listen on, when others have to know it before the server runs; implies
  // listen_on_loopback. Null: a port of the server's own choosing.
  std::shared_ptr<LoopbackPort> port = nullptr;

  // Runs as a sentinel: `config` says what it monitors. It persists its configuration.
  bool sentinel = false;

  // Speaks TLS, and nothing else, on its loopback port; needs listen_on_loopback.
  std::optional<SpawnedTls> tls;

  // Further lines of redis.conf, e.g. "notify-keyspace-events KEA" or "appendonly yes". They follow
  // the server's own, so they win where both name a directive.
  std::vector<std::string> config;

  // How much real time a start, a stop or a Settle may take.
  absl::Duration patience = absl::Seconds(30);
};

class SpawnedServer {
 public:
  // Starts a server and returns once it answers PING.
  // Errors: NotFound when there is no such executable; InvalidArgument for an option that no
  // redis.conf can express; FailedPrecondition when the server has exited, which is how Redis
  // refuses its configuration, or does not follow the held clock; DeadlineExceeded when it does not
  // answer in time; Unavailable when it cannot be run at all. The last three quote its log.
  static absl::StatusOr<std::unique_ptr<SpawnedServer>> Start(
      const SpawnedServerOptions& options = SpawnedServerOptions());

  // Kills the server if it runs, waits until it is gone, and removes its folder.
  ~SpawnedServer();

  SpawnedServer(const SpawnedServer&) = delete;
  SpawnedServer& operator=(const SpawnedServer&) = delete;

  // Where it listens: the absolute path of its socket, the same after a Restart.
  std::string unix_socket() const { return folder_.PathOf("redis.sock"); }

  // Its port on 127.0.0.1, the same after a Restart; 0 unless listen_on_loopback.
  int port() const;

  // Where it listens, for a client: unix://[:PASSWORD@]PATH, the password percent-encoded.
  std::string uri() const;

  // redis://[:PASSWORD@]127.0.0.1:PORT (rediss:// with TLS), or empty unless listen_on_loopback.
  std::string loopback_uri() const;

  // Its process id; 0 while it does not run.
  pid_t pid() const;

  // Its private folder: socket, configuration, log, and what it persists.
  const std::string& folder() const { return folder_.path(); }

  // All that it has written to its standard output, where Redis logs unless configured otherwise,
  // and standard error, over all its starts. The times in it are those of the held clock.
  std::string log() const;

  // Moves the held clock to `now`, forwards or backwards, rounded down to a microsecond. Works
  // also while the server does not run.
  // Errors: FailedPrecondition when the clock is not held; InvalidArgument before 1970 or after
  // the year 294246.
  absl::Status SetTime(absl::Time now);

  // Moves the held clock by `step`. Errors: as SetTime.
  absl::Status AdvanceTime(absl::Duration step);

  // The time that the clock is held at; nothing when it is not held.
  std::optional<absl::Time> held_time() const;

  // Waits until the server has done of itself what the present time asks for: every block time-out
  // that is over has been answered, every expired key has been removed, and the replies and
  // messages of both have been written to their sockets. Sends no command: it watches three turns
  // of the server's event loop go by (see HeldClock::idle_turns), some 6 ms. One may have begun
  // before the time was set; the next may find the table of deadlines so sparse that Redis
  // only shrinks it; the third has done all.
  //
  // Active expiry is exhaustive up to 65 keys with a TTL per database. Beyond that Redis takes
  // samples, as in production: an expired key can stay in memory (never visible to a read) until
  // something touches it; a complete SCAN does. The order in which it removes keys that are due
  // together is that of a hash table with a random seed, another one in each process.
  //
  // Errors: FailedPrecondition when the clock is not held; Unavailable when the server does not run
  // or dies meanwhile; DeadlineExceeded when it is too busy to be idle.
  absl::Status Settle();

  // Waits until the server has ended of itself, at most for `timeout` of real time; true when it
  // has or does not run. The pause between two looks at a server that is getting ready.
  bool WaitForExit(absl::Duration timeout) const;

  // Kills the server at once, as a crash does, and waits until it is gone. Nothing happens when it
  // does not run.
  void Kill();

  // Asks the server to shut down (SIGTERM; it saves if so configured) and waits until it is gone.
  // Nothing happens when it does not run.
  // Errors: DeadlineExceeded when it has not gone in time; it is then killed.
  absl::Status Terminate();

  // Terminates the server if it runs, and starts it again: same folder, socket, port, configuration
  // and held time. Without persistence in the configuration it comes back empty.
  // Errors: as Terminate and Start.
  absl::Status Restart();

 private:
  SpawnedServer(SpawnedServerOptions options, std::string executable, PrivateFolder folder);

  absl::Status WriteConfiguration() const;
  absl::Status Launch();
  absl::Status WaitUntilReady();
  bool IsRunning() const;
  std::string Credentials() const;
  std::string PortLines() const;
  std::string LogTail() const;

  const SpawnedServerOptions options_;
  const std::string executable_;
  PrivateFolder folder_;
  std::shared_ptr<LoopbackPort> port_;     // Null unless listen_on_loopback.
  std::unique_ptr<HeldClock> clock_;       // Null unless held_time.
  std::unique_ptr<ChildProcess> process_;  // Null while the server is stopped.
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_SERVER_H_
