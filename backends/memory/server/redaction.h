// Redaction: hides passwords in what MONITOR and SLOWLOG show.
//
// Apply it to each command before its arguments are recorded or sent to another client. Commands
// without secrets are returned unchanged.
//
//   Redact(CommandId::kAuth, {"alice", "secret"})  ->  {"(redacted)", "(redacted)"}
//
// Thread-safety: a pure function.
// Source: Redis 7.0 MONITOR, SLOWLOG GET; redactClientCommandArgument.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_REDACTION_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_REDACTION_H_

#include <span>
#include <string_view>
#include <vector>

#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {

// The arguments (the words after the command's name, the subcommand included) with "(redacted)" in
// the place of each that Redis hides: those of AUTH and ACL SETUSER, user and password after AUTH
// or AUTH2 of HELLO and MIGRATE, and the values of secret parameters of CONFIG SET.
std::vector<std::string_view> Redact(store::CommandId id,
                                     std::span<const std::string_view> arguments);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_REDACTION_H_
