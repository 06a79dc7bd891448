// LoadUsersAtStart: the users of a server that starts, as redis-server creates them. A server calls
// it once, before it has clients.
//
//   REDOUBLE_RETURN_IF_ERROR(LoadUsersAtStart(engine, {{"ann", "on", ">p"}}));
//
// Thread-safety: the engine's.
// Source: Redis 7.0 redis.conf, "aclfile" and "user".
#ifndef REDOUBLE_SIM_SERVER_PROCESS_LOAD_USERS_H_
#define REDOUBLE_SIM_SERVER_PROCESS_LOAD_USERS_H_

#include <vector>

#include "absl/status/status.h"
#include "redouble/backends/memory/acl/acl_file.h"
#include "redouble/backends/memory/engine/engine.h"

namespace redouble::inline v0_1::sim {

// Creates the users of `user` directives, or those of the file that the parameter aclfile names.
// Errors, in the words of Redis: InvalidArgument for the directives; FailedPrecondition for the
// file, or if there are both.
absl::Status LoadUsersAtStart(memory::Engine& engine,
                              const std::vector<memory::UserDirective>& directives);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_LOAD_USERS_H_
