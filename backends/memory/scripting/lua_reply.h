// Replies of Redis as Lua values and back, by the rules of Redis 7.0's scripting documentation.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_LUA_REPLY_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_LUA_REPLY_H_

#include <lua.hpp>
#include <string>
#include <string_view>

#include "core/store/reply.h"

namespace redouble::memory {

// Lua's registry holds here whether the script chose RESP3 (redis.setresp).
inline constexpr char kResp3RegistryKey[] = "redouble.resp3";

// Pushes what redis.call returns for `reply`: a number, a string, false for nil, a table for an
// array, {ok=...} and {err=...}; with `resp3` (redis.setresp(3)) also maps, sets and doubles as
// tables of their kind, and nil.
void PushReply(lua_State* state, const store::Reply& reply, bool resp3);

// The reply for the value on top of the stack, which is popped.
store::Reply PopReply(lua_State* state);

// Pushes the table that an error is in Lua: {err = "CODE text"}.
void PushErrorTable(lua_State* state, std::string_view text);

// The text of a number as redis.call sends it: %.17g.
std::string NumberText(lua_Number number);

// The string at `index`, whatever bytes it has.
inline std::string_view ToView(lua_State* state, int index) {
  size_t size = 0;
  const char* text = lua_tolstring(state, index, &size);
  return {text, size};
}

inline void PushView(lua_State* state, std::string_view text) {
  lua_pushlstring(state, text.data(), text.size());
}

// Pushes what Lua's registry holds under a key. It is found by the key's address: a text would be
// hashed and looked for among all of Lua's strings.
inline void PushRegistered(lua_State* state, const char* key) {
  lua_pushlightuserdata(state, const_cast<char*>(key));
  lua_rawget(state, LUA_REGISTRYINDEX);
}

// Puts the value on top of the stack there, and pops it.
inline void PopRegistered(lua_State* state, const char* key) {
  lua_pushlightuserdata(state, const_cast<char*>(key));
  lua_insert(state, -2);
  lua_rawset(state, LUA_REGISTRYINDEX);
}

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_LUA_REPLY_H_
