// LoadText: the only way in which code enters a Lua state.
//
// Lua's loader takes a chunk that begins with an escape character for bytecode and runs it without
// verification, so that a crafted chunk reads and writes any memory of the process. Code is
// compiled as text here, whatever it begins with: bytecode is then a syntax error, as in Redis.
//
//   if (LoadText(state, body, "@user_script") != 0) return ToView(state, -1);
//
// Thread-safety: one thread for each Lua state.
// Source: Redis 7.0 EVAL, FUNCTION LOAD.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_LOAD_TEXT_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_LOAD_TEXT_H_

#include <lua.hpp>
#include <string_view>

namespace redouble::inline v0_1::memory {

// Compiles `text` and pushes the function, or the error message. Returns 0, or Lua's error code.
// May raise an error if memory runs out.
int LoadText(lua_State* state, std::string_view text, const char* chunk_name);

// Lua's functions `load` and `loadstring`, for text only.
int LuaLoad(lua_State* state);
int LuaLoadString(lua_State* state);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_LOAD_TEXT_H_
