// StartServer: opens a server, says so, serves, and returns the exit code.
//
// Both ways to start the program as a server end here: `redouble serve` and a program that is
// called redis-server.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_SERVE_START_H_
#define REDOUBLE_SIM_CLI_SERVE_START_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/sim/cli/serve/configuration.h"
#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

struct StartOptions {
  // The beginning of error messages: "redouble serve".
  std::string program;
  // Whether the first line of output names the addresses, for scripts.
  bool announces_addresses = false;
  // A file that is written when clients can connect, and removed at the end. Empty: none. One line
  // of JSON: {"port":7000,"unixsocket":"","addresses":"127.0.0.1:7000","pid":4711,
  // "version":"0.1.0","clock":"manual"}
  std::string ready_file = {};
  // Stops the server within a tenth of a second after the parent process ended, however it ended.
  bool exits_with_parent = false;
  // Called before clients can connect. An exit code other than kExitPassed ends the program. May be
  // empty.
  std::function<int(memory::Engine& engine)> prepare = {};
};

// Returns when the server was told to stop, or cannot start. Prints the reason for the latter.
int StartServer(ServeSettings settings, const StartOptions& start, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SERVE_START_H_
