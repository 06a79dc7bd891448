// LoadKeysAtStart: the keys of a server that starts, and its place in a replication, as
// redis-server finds them in its file. A server calls it once, before it runs.
//
//   const auto lines = LoadKeysAtStart(engine, key_file, append_log, replication,
//                                      [&] { return ServeClients(); });
//
// Thread-safety: the engine's.
// Source: Redis 7.0 server.c, loadDataFromDisk.
#ifndef REDOUBLE_SIM_SERVER_LOAD_KEYS_H_
#define REDOUBLE_SIM_SERVER_LOAD_KEYS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/sim/server/append_only_file.h"
#include "redouble/sim/server/rdb_key_file.h"
#include "redouble/sim/server/replication/node.h"

namespace redouble::inline v0_1::sim {

// Loads the append-only log, and continues it, if `appendonly` says so; otherwise the file of keys,
// if it exists. Returns lines for the log of the server. A file that was written by a part of a
// replication continues that, so that not all keys need be sent again. `after_part` and errors: as
// RdbKeyFile::Load; errors of memory::LoadAppendOnly.
absl::StatusOr<std::vector<std::string>> LoadKeysAtStart(memory::Engine& engine,
                                                         RdbKeyFile& key_file,
                                                         AppendOnlyFile& append_log,
                                                         ReplicationNode& replication,
                                                         const std::function<bool()>& after_part);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_LOAD_KEYS_H_
