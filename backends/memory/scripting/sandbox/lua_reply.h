// Conversion between Redis replies and Lua values, by the rules of Redis 7.0's scripting
// documentation.
//
// redis.call converts a reply to a Lua value with PushReply; the value that a script returns is
// converted with PopReply. The other functions are helpers for code on the Lua stack.
//
//   PushReply(state, store::Reply::Integer(1), /*resp3=*/false);
//   const store::Reply reply = PopReply(state, nested_errors);
//
// Thread-safety: one thread for each Lua state.
// Source: Redis 7.0 EVAL; the scripting documentation, "Data type conversion".
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_LUA_REPLY_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_LUA_REPLY_H_

#include <cstdint>
#include <lua.hpp>
#include <string>
#include <string_view>

#include "redouble/backends/memory/scripting/sandbox/script_host.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

// The keys of the registry. They are small numbers: the address of a variable is another in each
// process, and with it the size of the registry, after which all other blocks lie.
enum class RegistryKey : uintptr_t {
  kBehind = 1,     // A map from each proxy to the protected table.
  kCompatibility,  // The engine's.
  kDebugger,       // The debugger of the script that runs, if it is debugged (debugger.h).
  kHost,           // The host of the script that runs.
  kLimit,          // The limit of the script that runs (run_limit.h).
  kLoad,           // The functions that a library registers while it is loaded.
  kRandom,         // The generator of math.random.
  kResp3,          // Whether the script selected RESP3 with redis.setresp.
};

// Pushes the value that redis.call returns for `reply`: a number, a string, false for nil, a table
// for an array, {ok=...} or {err=...}; with `resp3` (redis.setresp(3)) also tables for maps, sets
// and doubles, and nil.
void PushReply(lua_State* state, const store::Reply& reply, bool resp3);

// Pops the value on top of the stack and returns it as a reply. Adds the errors within it.
store::Reply PopReply(lua_State* state, NestedErrors& nested);

// True for the error of a command on top of the stack: redis.call has marked it.
bool IsMarked(lua_State* state);

// Pushes the Lua form of an error: {err = "CODE text"}.
void PushErrorTable(lua_State* state, std::string_view text);

// The text of a number as an argument of redis.call in Redis 7.0: %.17g.
std::string NumberText(lua_Number number);

// The text as a simple reply, which is one line: line breaks become spaces, and a zero byte ends
// it, as in C.
std::string OneLine(std::string text);

// The string at `index`; it may contain any bytes.
inline std::string_view ToView(lua_State* state, int index) {
  size_t size = 0;
  const char* text = lua_tolstring(state, index, &size);
  return {text, size};
}

inline void PushView(lua_State* state, std::string_view text) {
  lua_pushlstring(state, text.data(), text.size());
}

// Pushes the key as the registry has it, which is faster to look up than a string.
inline void PushKey(lua_State* state, RegistryKey key) {
  lua_pushlightuserdata(state, reinterpret_cast<void*>(key));
}

// Pushes the registry's value of a key.
inline void PushRegistered(lua_State* state, RegistryKey key) {
  PushKey(state, key);
  lua_rawget(state, LUA_REGISTRYINDEX);
}

// Pops the value on top of the stack and stores it in the registry under a key.
inline void PopRegistered(lua_State* state, RegistryKey key) {
  PushKey(state, key);
  lua_insert(state, -2);
  lua_rawset(state, LUA_REGISTRYINDEX);
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_LUA_REPLY_H_
