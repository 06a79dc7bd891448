// The `redis` table of scripts: redis.call, redis.pcall and the other functions of the scripting
// API.
//
// PushSandbox adds the table to the globals; SetScriptHost connects it to the engine for the time
// of one run.
//
//   SetScriptHost(state, &host);
//   lua_pcall(state, 0, 1, 0);
//   SetScriptHost(state, nullptr);
//
// Thread-safety: one thread for each Lua state.
// Source: Redis 7.0 scripting, "Redis Lua API reference".
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_REDIS_LIBRARY_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_REDIS_LIBRARY_H_

#include <lua.hpp>
#include <string_view>

#include "redouble/backends/memory/compatibility/compatibility.h"
#include "redouble/backends/memory/scripting/sandbox/script_host.h"

namespace redouble::inline v0_1::memory {

// Sets the version that the table belongs to, which must outlive the state. Must be called before
// all others.
void SetCompatibility(lua_State* state, const Compatibility& compatibility);
const Compatibility& CompatibilityOf(lua_State* state);

// Pushes the table for scripts or for running functions.
void PushRedisLibrary(lua_State* state, ScriptKind kind);

// Pushes the table for a library's code while it is loaded.
void PushLoadingRedisLibrary(lua_State* state, lua_CFunction register_function);

// Pops the table and adds it to the table of globals at that index: as `redis`, and in Valkey also
// as `server`.
void NameRedisLibrary(lua_State* state, int globals);

// Pushes the table of an error of the library, whose text is given as Redis has it.
void PushLibraryError(lua_State* state, std::string_view redis_text);

// Pushes the table `os` of later versions: its only function, clock, always returns 0.
void PushClockLibrary(lua_State* state);

// Sets the host that redis.call uses, and resets the conversions to RESP2. Null: no script is
// running.
void SetScriptHost(lua_State* state, ScriptHost* host);

// Replaces math.random and math.randomseed in the math table on top of the stack by Redis's
// generator, so that equal seeds have Redis's sequences.
void ReplaceRandom(lua_State* state);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_REDIS_LIBRARY_H_
