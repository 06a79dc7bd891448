// Asking a spawned server one thing, for what waits until several of them have found each other.
//
// Thread-safety: a free function.
#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_ASK_SERVER_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_ASK_SERVER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/redis/spawn/spawned_server.h"

namespace redouble::redis {

// Sends a command with one argument over a connection of its own; gives the bulk string that is its
// reply, an empty one for another reply. Errors: as BlockingClient::Connect, and of the command.
absl::StatusOr<std::string> AskServer(const SpawnedServer& server, std::string_view name,
                                      std::string_view argument);

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_ASK_SERVER_H_
