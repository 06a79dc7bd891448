// SpawnedServer: a real redis-server for tests and for replays against live Redis.
//
// Each server runs in a private temporary folder, listens on a Unix socket there (and, on request,
// on a free loopback port), and persists nothing unless configured to. Process and folder are
// removed with the object, or when this process ends, even by SIGKILL. Nothing is shared with a
// Redis that runs on this machine.
//
// The wall clock of the server can be held (see HeldClock). Expiry, TIME, stream ids, idle times
// and block timeouts then follow SetTime only, to the microsecond. A command sent after SetTime has
// returned sees the new time exactly, because Redis reads the clock for each command. The server's
// own work (active expiry with its messages, block timeouts) happens on its next timer tick, within
// some 2 ms of real time; Settle waits for that.
//
//     SpawnedServerOptions options;
//     options.held_time = absl::FromUnixSeconds(1'700'000'000);
//     auto server = SpawnedServer::Start(options);
//     if (!server.ok()) return server.status();  // "redis-server is in no folder of PATH ..."
//     Connect((*server)->unix_socket());         // SET key value PX 1000
//     (*server)->AdvanceTime(absl::Milliseconds(1000));  // PTTL key: 0, the key still exists
//     (*server)->AdvanceTime(absl::Milliseconds(1));     // GET key: nil
//
// Thread-safety: the time functions, Settle and the accessors may be called from any thread; Kill,
// Terminate and Restart must not overlap with any other call.

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
#include "redouble/backends/redis/spawn/child_process.h"
#include "redouble/backends/redis/spawn/held_clock.h"
#include "redouble/backends/redis/spawn/loopback_port.h"
#include "redouble/backends/redis/spawn/private_folder.h"

namespace redouble::inline v0_1::redis {

// PEM files for a server with TLS.
struct SpawnedTls {
  std::string certificate_file;
  std::string key_file;
  std::string ca_file;
  // Whether clients must have a certificate signed by `ca_file`.
  bool demands_client_certificate = false;
};

struct SpawnedServerOptions {
  // A path, or a name that is searched on PATH.
  std::string executable = "redis-server";

  // Holds the server's wall clock at this time from the start. nullopt: real time.
  std::optional<absl::Time> held_time;

  // The password for all clients (requirepass) if not empty; may contain any byte except zero.
  std::string password;

  // Whether to listen on a free port of 127.0.0.1 as well.
  bool listen_on_loopback = false;
  // The port to listen on, if others must know it before the server runs; implies
  // listen_on_loopback. Null: the server selects a free port.
  std::shared_ptr<LoopbackPort> port = nullptr;

  // Whether to run as a sentinel: `config` names the monitored masters. A sentinel persists its
  // configuration.
  bool sentinel = false;

  // Uses TLS only on the loopback port; requires listen_on_loopback.
  std::optional<SpawnedTls> tls;

  // Further lines of redis.conf, such as "notify-keyspace-events KEA" or "appendonly yes". They
  // follow the built-in lines and override them.
  std::vector<std::string> config;

  // The limit of real time for a start, a stop or a Settle.
  absl::Duration patience = absl::Seconds(30);
};

class SpawnedServer {
 public:
  // Starts a server and returns once it answers PING.
  // Errors: NotFound if there is no such executable; InvalidArgument for an option that redis.conf
  // cannot express; FailedPrecondition if the server has exited, as Redis does with an invalid
  // configuration, or does not follow the held clock; DeadlineExceeded if it does not answer within
  // `patience`; Unavailable if it cannot be run. The last three contain its log.
  static absl::StatusOr<std::unique_ptr<SpawnedServer>> Start(
      const SpawnedServerOptions& options = SpawnedServerOptions());

  // Kills the server if it runs, waits until it has ended, and removes its folder.
  ~SpawnedServer();

  SpawnedServer(const SpawnedServer&) = delete;
  SpawnedServer& operator=(const SpawnedServer&) = delete;

  // The absolute path of its Unix socket; unchanged by a Restart.
  std::string unix_socket() const { return folder_.PathOf("redis.sock"); }

  // Its port on 127.0.0.1, unchanged by a Restart; 0 unless listen_on_loopback.
  int port() const;

  // The URI for a client: unix://[:PASSWORD@]PATH, the password percent-encoded.
  std::string uri() const;

  // redis://[:PASSWORD@]127.0.0.1:PORT (rediss:// with TLS); empty unless listen_on_loopback.
  std::string loopback_uri() const;

  // Its process id; 0 if it does not run.
  pid_t pid() const;

  // Its private folder: socket, configuration, log and persisted data.
  const std::string& folder() const { return folder_.path(); }

  // Its standard output (the log, by default) and standard error since the first start. Timestamps
  // are those of the held clock.
  std::string log() const;

  // Sets the held clock to `now`, forwards or backwards, rounded down to a microsecond. Also works
  // while the server does not run.
  // Errors: FailedPrecondition if the clock is not held; InvalidArgument before 1970 or after the
  // year 294246.
  absl::Status SetTime(absl::Time now);

  // Moves the held clock by `step`. Errors: as SetTime.
  absl::Status AdvanceTime(absl::Duration step);

  // The time of the held clock; nullopt if the clock is not held.
  std::optional<absl::Time> held_time() const;

  // Waits until the server has finished the work that is due at the current time: blocked commands
  // whose timeout has passed have been answered, expired keys have been removed, and the replies
  // and messages of both have been written to their sockets. Sends no command: it waits for three
  // turns of the server's event loop (see HeldClock::idle_turns), some 6 ms. The first may have
  // begun before the time was set; in the second Redis may only shrink a sparse table of deadlines;
  // the third has completed the work.
  //
  // Active expiry is complete up to 65 keys with a TTL per database. Above that Redis samples, as
  // in production: an expired key can stay in memory (never visible to a read) until a command
  // accesses it, such as a complete SCAN. Keys that expire at the same time are removed in the
  // order of a hash table with a random seed, which differs between processes.
  //
  // Errors: FailedPrecondition if the clock is not held; Unavailable if the server does not run or
  // ends in the meantime; DeadlineExceeded if it is never idle within `patience`.
  absl::Status Settle();

  // Waits until the server has ended, at most for `timeout` of real time. Returns true if it has
  // ended or does not run. Also the pause between two checks of a starting server.
  bool WaitForExit(absl::Duration timeout) const;

  // Kills the server with SIGKILL, as in a crash, and waits until it has ended. No effect if it
  // does not run.
  void Kill();

  // Sends SIGTERM (the server saves if configured to) and waits until the server has ended. No
  // effect if it does not run.
  // Errors: DeadlineExceeded if it has not ended within `patience`; it is then killed.
  absl::Status Terminate();

  // Terminates the server if it runs, and starts it again with the same folder, socket, port,
  // configuration and held time. Without persistence it is empty then.
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

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_SERVER_H_
