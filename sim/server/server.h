// Server: serves the memory engine over sockets; the server of `redouble serve`.
//
// Listens on TCP and on a Unix socket, supports RESP2, RESP3 and inline commands, and runs
// everything on one thread, as redis-server does. With the system clock, keys expire and commands
// time out in real time, also if the system clock is set back. With a manual clock, time advances
// only when a client says so (SIM, sim/server/sim_commands.h).
//
//   ServeOptions options;
//   options.engine.server.port = 0;  // No TCP.
//   options.engine.server.unixsocket = "/tmp/redouble.sock";
//   absl::StatusOr<std::unique_ptr<Server>> server = Server::Open(options);
//   (*server)->Run();  // Until SIGTERM, SIGINT or SHUTDOWN.
//
// Thread-safety: one thread; Stop() may be called from any thread.
#ifndef REDOUBLE_SIM_SERVER_SERVER_H_
#define REDOUBLE_SIM_SERVER_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/acl/acl_file.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/sim/server/process/log.h"

namespace redouble::inline v0_1::sim {

struct ServeOptions {
  enum class Clock { kSystem, kManual };

  Clock clock = Clock::kSystem;
  // Listens on a free TCP port, whatever `engine.server.port` says. CONFIG GET port and
  // Server::port() have the port.
  bool any_port = false;
  // The initial time of a manual clock.
  absl::Time start = absl::UnixEpoch();
  // The period of background work: timeouts of idle clients, output buffer limits, statistics.
  absl::Duration upkeep_period = absl::Milliseconds(100);
  // Called after each round of background work, after its results were sent to clients. May be
  // empty.
  std::function<void()> after_upkeep = {};
  // The absolute path of the file that CONFIG REWRITE replaces; empty: none.
  std::string config_file = {};
  // Connections (verbose) and the end of the server (warning) are logged here.
  Log log = {};
  // Seed, password, maxmemory, cluster; `engine.server` has the addresses to listen on. Its `bind`
  // may hold several, separated by spaces, as in redis.conf: an address that begins with "-" is
  // skipped if it is not available, and "*" means all addresses of the machine.
  memory::EngineOptions engine = {};
};

class Server {
 public:
  // Opens the listening sockets. Errors: InvalidArgument if an address cannot be parsed or there is
  // nothing to listen on; the operating system's error, with the address, if listening fails.
  static absl::StatusOr<std::unique_ptr<Server>> Open(ServeOptions options);
  virtual ~Server() = default;

  // "127.0.0.1:6379 and unix:/tmp/redouble.sock"
  virtual std::string addresses() const = 0;
  // The TCP port; 0 for none.
  virtual int port() const = 0;
  // Serves until SIGTERM, SIGINT, SHUTDOWN or Stop(). Sends the replies that are ready to be sent,
  // then closes every connection. Returns false if a second SIGINT ended what the first one began.
  virtual bool Run() = 0;
  virtual void Stop() = 0;

  // Loads dir/dbfilename if it exists, and returns lines for the log; to be called before Run().
  // With `appendonly`, loads the append-only log instead, and continues it. Clients are served
  // while a large file is loaded: most of their commands are refused with LOADING. Errors: those of
  // the file system, of memory::LoadRdb and of memory::LoadAppendOnly; Cancelled if the server has
  // been stopped.
  virtual absl::StatusOr<std::vector<std::string>> LoadKeys() = 0;
  // Creates the users of `user` directives, or those of the file that the parameter aclfile names;
  // to be called before Run(). Errors, in the words of Redis: InvalidArgument for the directives;
  // FailedPrecondition for the file, or if there are both.
  virtual absl::Status LoadUsers(const std::vector<memory::UserDirective>& directives) = 0;
  // The engine, to be prepared before Run().
  virtual memory::Engine& engine() = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_SERVER_H_
