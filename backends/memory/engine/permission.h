// Whether a session may run a command: by the ACL (the NOPERM error and the entry in ACL LOG), by
// the protection of the configuration, and by the flags that a script declares.
//
// Used by the engine before a command runs or is queued, by EXEC for each queued command, and by
// scripts for each command that they call. The rules themselves are in acl/acl_user.h.
//
// Thread-safety: one thread.
// Source: Redis 7.0 ACL.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_PERMISSION_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_PERMISSION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "redouble/backends/memory/acl/acl_user.h"
#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/server_options.h"

namespace redouble::inline v0_1::memory {

class EngineCore;
class SessionCore;

// Where a command is checked. Redis's error text depends on it.
enum class CheckPlace : uint8_t { kClient, kExec, kScript };

// Returns the error and logs the denial if the session's user may not run the command; nullopt if
// it may. `arguments` are the words after the command's name, the subcommand included.
std::optional<Reply> RefuseByAcl(EngineCore& engine, SessionCore& session, store::CommandId id,
                                 Arguments arguments, CheckPlace place);

// The channels of a new user, as acl-pubsub-default says.
AclUser::NewChannels NewChannelsOf(const EngineOptions& options);

// True if the session may do what `access` protects.
bool Permits(EngineCore& engine, const SessionCore& session, ProtectedAccess access);

// Returns the error for a protected command (command_flag::kProtected) that the configuration does
// not allow the session; nullopt if it does.
std::optional<Reply> RefuseByConfiguration(EngineCore& engine, const SessionCore& session,
                                           store::CommandId id);

// True if the command, with these arguments, writes (as the command table has it), may write, or is
// refused when memory is short. A script that declares its flags counts as a command with those
// flags, whatever the table says about EVAL.
bool IsWrite(EngineCore& engine, store::CommandId id, Arguments arguments);
bool MayWrite(EngineCore& engine, store::CommandId id, Arguments arguments);
bool DeniesOom(EngineCore& engine, store::CommandId id, Arguments arguments);

// Returns the error for a command that writes: MISCONF, NOREPLICAS or READONLY; nullopt if it may
// run.
std::optional<Reply> RefuseWriting(EngineCore& engine);
// Returns the MASTERDOWN error if the engine follows a master without a link to it, and must not
// serve what it has (replica-serve-stale-data); nullopt if it may.
std::optional<Reply> RefuseStale(EngineCore& engine);
// True if a stale engine runs the command with these arguments.
bool RunsStale(EngineCore& engine, store::CommandId id, Arguments arguments);

// Logs a failed AUTH or HELLO. `command` is the command's name, `user` the user name of the
// attempt.
void LogFailedLogin(EngineCore& engine, SessionCore& session, std::string_view command,
                    std::string_view user);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_PERMISSION_H_
