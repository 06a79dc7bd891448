// `redouble migrate`: copies the keys of one system from a server in one key layout to a server in
// the other, and compares the two. Use it to move from one Redis to a cluster and back.
//
//   redouble migrate --system gateway --from redis://a --to 'redis://b?cluster=yes'
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_MIGRATE_MIGRATE_H_
#define REDOUBLE_SIM_CLI_MIGRATE_MIGRATE_H_

#include <functional>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// As Subcommand::add. Exit codes: 0 the servers have equal keys, 1 they differ, or a key or a
// server that fails, 2 bad usage.
std::function<int()> AddMigrate(CLI::App& app, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_MIGRATE_MIGRATE_H_
