// The flags of EVAL, FCALL and their variants: the row in the command table has the most that any
// script may do, and a script or function declares what it does.
//
//   if (RunsScript(id)) flags = DeclaredFlags(id, arguments, scripts, functions);
//
// A script without a shebang declares no flags; the flags of the row apply to it.
//
// Thread-safety: one thread.
// Source: Redis 7.0 scripting, "Script flags".
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_COMMANDS_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_COMMANDS_H_

#include <optional>
#include <span>
#include <string_view>

#include "redouble/backends/memory/scripting/function_libraries.h"
#include "redouble/backends/memory/scripting/script_cache.h"
#include "redouble/backends/memory/scripting/script_flags.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {

// True for EVAL, FCALL and their variants.
bool RunsScript(store::CommandId id);

// True if the command writes or is replicated: Redis's flags CMD_WRITE and CMD_MAY_REPLICATE, the
// second of which COMMAND does not show.
bool MayWrite(store::CommandId id);

// The flags of the script or function that the command runs; nullopt if it declares none, or is not
// known. `arguments` are the words after the command's name.
std::optional<ScriptFlags> DeclaredFlags(store::CommandId id,
                                         std::span<const std::string_view> arguments,
                                         const ScriptCache& scripts,
                                         const FunctionLibraries& functions);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_COMMANDS_H_
