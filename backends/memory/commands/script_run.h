// Running a script or a function for a client: what EVAL, FCALL and their relatives share.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SCRIPT_RUN_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SCRIPT_RUN_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backends/memory/command_context.h"
#include "backends/memory/scripting/script_flags.h"
#include "backends/memory/scripting/script_host.h"

namespace redouble::memory {

// One run, as a command asked for it.
struct ScriptRun {
  std::string_view name;        // Of the function, or the script's SHA-1.
  std::string_view command;     // "FCALL": what asked for it.
  Arguments command_arguments;  // Behind that name.
  ScriptFlags flags = {};
  bool is_function = false;
  bool read_only_command = false;  // EVAL_RO, FCALL_RO, ...
};

// Checks whether the script may run now, runs it with `call` in the client's session as one step,
// and gives the reply; a script that runs too long leaves the engine busy and its client waiting
// (busy_script.h).
Reply RunScript(CommandContext& context, const ScriptRun& run,
                const std::function<ScriptResult(ScriptHost& host, int64_t limit_ms)>& call);

// The keys and arguments behind a count of keys.
struct ScriptArguments {
  Arguments keys;
  Arguments arguments;
};

// Reads `numkeys key... argument...`. An error reply, or none and `read` filled; `not_a_number` is
// the error of a count that is none.
std::optional<Reply> ReadScriptArguments(Arguments arguments, std::string_view not_a_number,
                                         ScriptArguments& read);

// SCRIPT KILL and FUNCTION KILL: ends the busy script. OK, or the error reply.
Reply KillScript(CommandContext& context, bool is_function);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SCRIPT_RUN_H_
