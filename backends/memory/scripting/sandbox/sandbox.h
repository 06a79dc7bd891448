// The globals of scripts and functions: those of Redis 7.0.15, protected against changes.
//
// ScriptState calls these functions when it creates a Lua state and before it runs code in it.
//
//   PushSandbox(state, ScriptKind::kScript, compatibility);
//   SetStrings(state, -1, "KEYS", keys);
//
// Thread-safety: one thread for each Lua state.
// Source: Redis 7.0 scripting, "Runtime libraries".
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_SANDBOX_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_SANDBOX_H_

#include <lua.hpp>
#include <span>
#include <string_view>

#include "redouble/backends/memory/compatibility/compatibility.h"
#include "redouble/backends/memory/scripting/sandbox/script_host.h"

namespace redouble::inline v0_1::memory {

// Opens the libraries in a new state and pushes the environment of scripts. The globals and each
// library are read-only (proxy_table.h), and functions that are unsafe in Lua 5.1 are replaced
// (guarded_functions.h). `compatibility` must outlive the state.
void PushSandbox(lua_State* state, ScriptKind kind, const Compatibility& compatibility);

// Pushes the globals of a library that is loaded: only a `redis` table with the given
// register_function. Requires a state with a sandbox.
void PushLoadingGlobals(lua_State* state, lua_CFunction register_function);

// Pushes a table of strings.
void PushStrings(lua_State* state, std::span<const std::string_view> values);

// Sets a global of the environment at `index` in spite of the protection: KEYS or ARGV, as a table
// of strings that the script may change.
void SetStrings(lua_State* state, int index, const char* name,
                std::span<const std::string_view> values);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_SANDBOX_H_
