// What the ACL denies to a session: the reply, and the entry in the log.
#ifndef REDOUBLE_BACKENDS_MEMORY_PERMISSION_H_
#define REDOUBLE_BACKENDS_MEMORY_PERMISSION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/memory/acl/acl_user.h"
#include "backends/memory/command_context.h"

namespace redouble::memory {

class Engine;
class Session;

// Where a command is checked; Redis says it differently in each place.
enum class CheckPlace : uint8_t { kClient, kExec, kScript };

// The error for a command that the session's user may not run so, which is logged; none for one
// that it may. `arguments` are what follows the command's name, the subcommand included.
std::optional<Reply> RefuseByAcl(Engine& engine, Session& session, store::CommandId id,
                                 Arguments arguments, CheckPlace place);

// Logs a login that failed: `command` as it was sent ("AUTH"), for a user of that name.
void LogFailedLogin(Engine& engine, Session& session, std::string_view command,
                    std::string_view user);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PERMISSION_H_
