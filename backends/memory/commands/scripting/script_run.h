// Runs a script or a function for a client: the part that EVAL, FCALL and their variants share.
//
// The commands of the script run in the client's session, as one step. The interpreter and the
// caches are in backends/memory/scripting.
//
// Thread-safety: one thread.
// Source: Redis 7.0 EVAL, FCALL, SCRIPT KILL.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SCRIPTING_SCRIPT_RUN_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SCRIPTING_SCRIPT_RUN_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/scripting/sandbox/script_host.h"
#include "redouble/backends/memory/scripting/script_flags.h"

namespace redouble::inline v0_1::memory {

// One run of a script or function.
struct ScriptRun {
  std::string_view name;        // The function's name, or the script's SHA-1.
  std::string_view command;     // The command that runs it, as it was called: "fcall".
  Arguments command_arguments;  // The words after that name.
  ScriptFlags flags = {};
  bool is_function = false;
  bool read_only_command = false;  // EVAL_RO, FCALL_RO, ...
  ScriptDebugger* debugger = nullptr;
};

// Checks whether the script may run now, runs it with `call`, and returns the reply. A script that
// exceeds busy-reply-threshold makes the engine busy (scripting/busy_script.h); without a host in
// real time, its client is then blocked.
Reply RunScript(CommandContext& context, const ScriptRun& run,
                const std::function<ScriptResult(ScriptHost& host, int64_t limit_ms)>& call);

// Shows a command that runs a script to the monitors. To be called before anything else, so that
// commands that fail are shown too. `arguments` are the words after its name.
void ShowToMonitors(const CommandContext& context, Arguments arguments);

// The keys and arguments after numkeys.
struct ScriptArguments {
  Arguments keys;
  Arguments arguments;
};

// Reads `numkeys key... argument...`. Returns the error reply; nullopt if `read` is filled.
// `not_a_number` is the error for an invalid numkeys.
std::optional<Reply> ReadScriptArguments(Arguments arguments, std::string_view not_a_number,
                                         ScriptArguments& read);

// SCRIPT KILL and FUNCTION KILL: ends the busy script. Returns OK or the error reply.
Reply KillScript(CommandContext& context, bool is_function);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SCRIPTING_SCRIPT_RUN_H_
