// `redouble serve`: a server of the memory engine, for clients and test suites in any language.
//
// The subcommand reads its options, as flags or from a redis.conf, opens TCP, TLS and Unix sockets,
// and serves until it receives SIGTERM or SHUTDOWN. sim/server has the server itself;
// docs/serve.md describes the options. subcommands.cc has the row of this subcommand.
//
//   redouble serve --port 7000 --clock manual
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_SERVE_SERVE_H_
#define REDOUBLE_SIM_CLI_SERVE_SERVE_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// As Subcommand::add.
std::function<int()> AddServe(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SERVE_SERVE_H_
