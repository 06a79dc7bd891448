#include "redouble/backends/memory/scripting/sandbox/guarded_functions.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "redouble/backends/memory/scripting/sandbox/load_text.h"
#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"
#include "redouble/backends/memory/scripting/sandbox/proxy_table.h"

namespace redouble::memory {
namespace {

int Next(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 2);
  LookBehind(state, 1);
  if (lua_next(state, 1) != 0) return 2;
  lua_pushnil(state);
  return 1;
}

int Pairs(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_pushcfunction(state, Next);
  lua_pushvalue(state, 1);
  lua_pushnil(state);
  return 3;
}

// pcall returns the text of an error that redis.call raised as a table.
int Pcall(lua_State* state) {
  luaL_checkany(state, 1);
  if (lua_pcall(state, lua_gettop(state) - 1, LUA_MULTRET, 0) == 0) {
    lua_pushboolean(state, 1);
    lua_insert(state, 1);
    return lua_gettop(state);
  }
  lua_settop(state, 1);
  if (lua_istable(state, 1)) {
    lua_getfield(state, 1, "err");
    lua_isstring(state, -1) != 0 ? lua_replace(state, 1) : lua_pop(state, 1);
  }
  lua_pushboolean(state, 0);
  lua_insert(state, 1);
  return 2;
}

int RawGet(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  luaL_checkany(state, 2);
  lua_settop(state, 2);
  LookBehind(state, 1);
  lua_rawget(state, 1);
  return 1;
}

int RawSet(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  luaL_checkany(state, 2);
  luaL_checkany(state, 3);
  lua_settop(state, 3);
  RefuseProxy(state, 1);
  lua_rawset(state, 1);
  return 1;
}

// Returns the metatable of a protected table itself, or nil. Never returns the metatable of a
// proxy.
int GetMetatable(lua_State* state) {
  luaL_checkany(state, 1);
  LookBehind(state, 1);
  if (lua_getmetatable(state, 1) == 0) {
    lua_pushnil(state);
    return 1;
  }
  luaL_getmetafield(state, 1, "__metatable");
  return 1;
}

int SetMetatable(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  const int type = lua_type(state, 2);
  luaL_argcheck(state, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table expected");
  RefuseProxy(state, 1);
  if (luaL_getmetafield(state, 1, "__metatable") != 0) {
    luaL_error(state, "cannot change a protected metatable");
  }
  lua_settop(state, 2);
  lua_setmetatable(state, 1);
  return 1;
}

int Unpack(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  const int64_t first = luaL_optint(state, 2, 1);
  const int64_t last = lua_isnoneornil(state, 3) ? static_cast<int64_t>(lua_objlen(state, 1))
                                                 : luaL_checkint(state, 3);
  if (first > last) return 0;
  const int64_t count = last - first + 1;
  if (count >= std::numeric_limits<int>::max() ||
      lua_checkstack(state, static_cast<int>(count)) == 0) {
    return luaL_error(state, "too many results to unpack");
  }
  for (int64_t i = first; i <= last; ++i) lua_rawgeti(state, 1, static_cast<int>(i));
  return static_cast<int>(count);
}

// A guard calls the function that it replaces in its own frame, so that error positions and
// argument numbers stay as they are. The function is this upvalue; a function that needs its own
// upvalue finds it as the first one.
constexpr int kReplacedUpvalue = 2;

int CallReplaced(lua_State* state) {
  return lua_tocfunction(state, lua_upvalueindex(kReplacedUpvalue))(state);
}

int TableInsert(lua_State* state) {
  const int arguments = lua_gettop(state);
  if (arguments == 2 || arguments == 3) RefuseProxy(state, 1);
  return CallReplaced(state);
}

int TableForEach(lua_State* state) {
  LookBehind(state, 1);
  return CallReplaced(state);
}

// The number of digits is negated, which the least number cannot be. More than 8 digits are 8.
int BitToHex(lua_State* state) {
  if (lua_isnumber(state, 2) != 0) {
    // The bitop library's conversion: the low 32 bits of the number's mantissa.
    constexpr lua_Number kShift = 6755399441055744.0;
    constexpr auto kLeast = uint32_t{1} << 31;
    const auto bits = std::bit_cast<uint64_t>(lua_tonumber(state, 2) + kShift);
    if (static_cast<uint32_t>(bits) == kLeast) {
      lua_pushinteger(state, -8);
      lua_replace(state, 2);
    }
  }
  return CallReplaced(state);
}

// cjson counts the bytes of its buffer, which it doubles, in an int; it ends the process when that
// overflows.
constexpr size_t kMaxJsonBytes = (size_t{1} << 30) - 1;

// Adds an upper bound of the encoded size of the value on top of the stack.
void AddJsonBytes(lua_State* state, size_t& bytes) {
  constexpr size_t kScalarBytes = 32;
  constexpr size_t kEscapedBytes = 6;
  constexpr lua_Number kNullBytes = 5;
  bytes += kScalarBytes;
  if (lua_type(state, -1) == LUA_TSTRING) bytes += kEscapedBytes * lua_objlen(state, -1);
  // cjson refuses a table that nests too deep for Lua's stack.
  if (lua_type(state, -1) != LUA_TTABLE || lua_checkstack(state, 4) == 0) return;
  lua_Number last = 0;
  lua_pushnil(state);
  while (bytes <= kMaxJsonBytes && lua_next(state, -2) != 0) {
    AddJsonBytes(state, bytes);
    lua_pop(state, 1);
    if (lua_type(state, -1) == LUA_TSTRING) bytes += kEscapedBytes * lua_objlen(state, -1);
    if (lua_type(state, -1) == LUA_TNUMBER) last = std::max(last, lua_tonumber(state, -1));
  }
  if (bytes > kMaxJsonBytes) luaL_error(state, "Cannot serialise: the text would be too long");
  if (last * kNullBytes > kMaxJsonBytes) {
    luaL_error(state, "Cannot serialise table: excessively sparse array");
  }
}

int JsonEncode(lua_State* state) {
  if (lua_gettop(state) == 1) {
    LookBehind(state, 1);
    size_t bytes = 0;
    AddJsonBytes(state, bytes);
  }
  return CallReplaced(state);
}

// Replaces the function `name` of the table on top of the stack by `guard`.
void Guard(lua_State* state, const char* name, lua_CFunction guard) {
  lua_getfield(state, -1, name);
  if (lua_getupvalue(state, -1, 1) == nullptr) lua_pushnil(state);
  lua_insert(state, -2);
  lua_pushcclosure(state, guard, kReplacedUpvalue);
  lua_setfield(state, -2, name);
}

}  // namespace

void GuardBaseFunctions(lua_State* state) {
  static constexpr luaL_Reg kFunctions[] = {
      {"getmetatable", GetMetatable},
      {"load", LuaLoad},
      {"loadstring", LuaLoadString},
      {"next", Next},
      {"pairs", Pairs},
      {"pcall", Pcall},
      {"rawget", RawGet},
      {"rawset", RawSet},
      {"setmetatable", SetMetatable},
      {"unpack", Unpack},
  };
  for (const luaL_Reg& row : kFunctions) {
    lua_pushcfunction(state, row.func);
    lua_setfield(state, -2, row.name);
  }
}

void GuardTableLibrary(lua_State* state) {
  Guard(state, "insert", TableInsert);
  Guard(state, "foreach", TableForEach);
}

void GuardBitLibrary(lua_State* state) { Guard(state, "tohex", BitToHex); }

void GuardJsonLibrary(lua_State* state) { Guard(state, "encode", JsonEncode); }

}  // namespace redouble::memory
