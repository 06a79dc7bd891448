// The `redis` table of a script: redis.call, redis.pcall and their relatives.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_REDIS_LIBRARY_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_REDIS_LIBRARY_H_

#include <lua.hpp>

#include "backends/memory/scripting/script_host.h"

namespace redouble::memory {

// Pushes the table that scripts or running functions see.
void PushRedisLibrary(lua_State* state, ScriptKind kind);

// Pushes the one that a library's code sees while it loads.
void PushLoadingRedisLibrary(lua_State* state, lua_CFunction register_function);

// Makes `host` what the scripts of this state call (null: none runs), with RESP2 conversions.
void SetScriptHost(lua_State* state, ScriptHost* host);

// Replaces math.random and math.randomseed in the math table on top of the stack by Redis's own
// generator, so that a script draws what it draws in Redis.
void ReplaceRandom(lua_State* state);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_REDIS_LIBRARY_H_
