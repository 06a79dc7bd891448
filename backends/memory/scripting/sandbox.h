// The globals of a script: what Redis 7.0.15 offers, and not to be changed.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_H_

#include <lua.hpp>
#include <span>
#include <string_view>

#include "backends/memory/scripting/script_host.h"

namespace redouble::memory {

// Opens the libraries in a fresh state and pushes the environment that scripts run in. Lua 5.1 has
// no read-only tables, so a script sees each library, and its globals, through an empty table in
// front, which hands reads on and refuses writes; pairs and next look behind it.
void PushSandbox(lua_State* state, ScriptKind kind);

// Pushes what stands behind the globals while a library's code runs: nothing but a `redis` table
// whose register_function is the one given. Only in a state that has a sandbox.
void PushLoadingGlobals(lua_State* state, lua_CFunction register_function);

// Pushes a table of strings.
void PushStrings(lua_State* state, std::span<const std::string_view> values);

// Sets a global of the environment at `index` past the protection: KEYS or ARGV, as a table of
// strings that the script may change.
void SetStrings(lua_State* state, int index, const char* name,
                std::span<const std::string_view> values);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_H_
