// AskServer: one command to a spawned server, over a connection of its own.
//
// Clusters and sentinels use it to wait until their servers know each other:
//
//   absl::StatusOr<std::string> info = AskServer(server, "CLUSTER", "INFO");
//
// Thread-safety: a free function.
#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_ASK_SERVER_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_ASK_SERVER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::redis {

// Sends a command with one argument. Returns its bulk reply, or an empty string for another reply.
// Errors: as SyncClient::Connect, and those of the command.
absl::StatusOr<std::string> AskServer(const SpawnedServer& server, std::string_view name,
                                      std::string_view argument);

// Sends a command, given by its words, and returns its reply. Errors: as above, and the server's
// error for an error reply.
absl::StatusOr<store::Reply> AskServer(const SpawnedServer& server,
                                       const std::vector<std::string>& words);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_ASK_SERVER_H_
