// Server: the memory engine behind sockets: a Redis whose clock may be held.
//
// Listens on TCP and on a Unix socket, speaks RESP2, RESP3 and the inline form, and runs everything
// on one thread, as redis-server does. With the clock of the system, keys expire and calls time out
// as the machine's clock goes on, or is set back; with a manual one time moves only when a client
// says so (SIM, sim_commands.h).
//
//   ServeOptions options;
//   options.engine.server.port = 0;
//   options.engine.server.unixsocket = "/tmp/redouble.sock";
//   absl::StatusOr<std::unique_ptr<Server>> server = Server::Open(options);
//   (*server)->Run();  // Until SIGTERM, SIGINT or SHUTDOWN.
//
// Thread-safety: one thread; Stop() may be called from any.
#ifndef REDOUBLE_SIM_SERVER_SERVER_H_
#define REDOUBLE_SIM_SERVER_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backends/memory/engine.h"
#include "backends/memory/engine_options.h"

namespace redouble::sim {

struct ServeOptions {
  enum class Clock { kSystem, kManual };

  Clock clock = Clock::kSystem;
  // Where a manual clock begins.
  absl::Time start = absl::UnixEpoch();
  // How often what no client asks for is done: time-outs of idle clients, output limits, rates.
  absl::Duration upkeep_period = absl::Milliseconds(100);
  // Called after each time, when clients have been told of what came of it; may be empty.
  std::function<void()> after_upkeep = {};
  // Seed, password, maxmemory, cluster; `engine.server` says where to listen.
  memory::EngineOptions engine = {};
};

class Server {
 public:
  // Opens the sockets.
  // Errors: InvalidArgument for an address that is none or nowhere to listen; the kernel's, with
  // the address, when it cannot be listened on.
  static absl::StatusOr<std::unique_ptr<Server>> Open(ServeOptions options);
  virtual ~Server() = default;

  // "127.0.0.1:6379 and unix:/tmp/redouble.sock"
  virtual std::string addresses() const = 0;
  // Serves until it is stopped by a signal (SIGTERM, SIGINT), SHUTDOWN or Stop(). What is ready to
  // be sent is sent; then every connection is closed.
  virtual void Run() = 0;
  virtual void Stop() = 0;

  // To prepare the engine before Run().
  virtual memory::Engine& engine() = 0;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_SERVER_H_
