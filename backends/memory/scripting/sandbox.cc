#include "backends/memory/scripting/sandbox.h"

#include "backends/memory/scripting/lua_reply.h"
#include "backends/memory/scripting/msgpack_library.h"
#include "backends/memory/scripting/redis_library.h"
#include "backends/memory/scripting/struct_library.h"

extern "C" {
#include <lua-bitop.h>
#include <lua-cjson.h>
}

namespace redouble::memory {
namespace {

// Functions of the base library that a script may call; next, pairs and pcall are replaced.
constexpr const char* kBaseFunctions[] = {
    "assert",   "collectgarbage", "error",      "gcinfo",       "getmetatable",
    "ipairs",   "load",           "loadstring", "pcall",        "rawequal",
    "rawget",   "rawset",         "select",     "setmetatable", "tonumber",
    "tostring", "type",           "unpack",     "xpcall",       "_VERSION",
};

// Libraries of Lua's own, by the name of their global.
constexpr const char* kLuaLibraries[] = {"coroutine", "math", "string", "table"};

// In the registry: from the table in front to the table behind.
constexpr char kBehindKey[] = "redouble.behind";

int RefuseWrite(lua_State* state) {
  return luaL_error(state, "Attempt to modify a readonly table");
}

int RefuseUnknownGlobal(lua_State* state) {
  return luaL_error(state, "Script attempted to access nonexistent global variable '%s'",
                    lua_tostring(state, 2));
}

// Replaces the table at `index` by what stands behind it, if it is a table in front.
void LookBehind(lua_State* state, int index) {
  PushRegistered(state, kBehindKey);
  lua_pushvalue(state, index);
  lua_rawget(state, -2);
  if (lua_isnil(state, -1)) {
    lua_pop(state, 2);
  } else {
    lua_replace(state, index);
    lua_pop(state, 1);
  }
}

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

// pcall gives the text of an error that redis.call raised, which is a table otherwise.
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

// Puts an empty table in front of the one on top of the stack, which it replaces there.
void PutInFront(lua_State* state) {
  lua_newtable(state);
  lua_newtable(state);
  lua_pushvalue(state, -3);
  lua_setfield(state, -2, "__index");
  lua_pushcfunction(state, RefuseWrite);
  lua_setfield(state, -2, "__newindex");
  lua_pushboolean(state, 0);
  lua_setfield(state, -2, "__metatable");
  lua_setmetatable(state, -2);
  PushRegistered(state, kBehindKey);
  lua_pushvalue(state, -2);
  lua_pushvalue(state, -4);
  lua_rawset(state, -3);
  lua_pop(state, 1);
  lua_remove(state, -2);
}

// Opens a library with the function that leaves its table on top of the stack.
void OpenLibrary(lua_State* state, lua_CFunction open) {
  lua_pushcfunction(state, open);
  lua_call(state, 0, 1);
}

// Reads of globals that do not exist fail, on the table on top of the stack.
void RefuseUnknownGlobals(lua_State* state) {
  lua_newtable(state);
  lua_pushcfunction(state, RefuseUnknownGlobal);
  lua_setfield(state, -2, "__index");
  lua_pushboolean(state, 0);
  lua_setfield(state, -2, "__metatable");
  lua_setmetatable(state, -2);
}

// "x":upper() goes through the metatable of strings, which must not lead around the protection.
void ProtectStringMethods(lua_State* state, int globals) {
  lua_pushstring(state, "");
  lua_getmetatable(state, -1);
  lua_getfield(state, globals, "string");
  lua_setfield(state, -2, "__index");
  lua_pushboolean(state, 0);
  lua_setfield(state, -2, "__metatable");
  lua_pop(state, 2);
}

void AddBaseFunctions(lua_State* state, int globals) {
  for (const char* name : kBaseFunctions) {
    lua_getglobal(state, name);
    lua_setfield(state, globals, name);
  }
  lua_pushcfunction(state, Next);
  lua_setfield(state, globals, "next");
  lua_pushcfunction(state, Pairs);
  lua_setfield(state, globals, "pairs");
  lua_pushcfunction(state, Pcall);
  lua_setfield(state, globals, "pcall");
}

void AddLibraries(lua_State* state, int globals, ScriptKind kind) {
  for (const char* name : kLuaLibraries) {
    lua_getglobal(state, name);
    if (std::string_view(name) == "math") ReplaceRandom(state);
    PutInFront(state);
    lua_setfield(state, globals, name);
  }
  OpenLibrary(state, luaopen_cjson);
  PutInFront(state);
  lua_setfield(state, globals, "cjson");
  OpenLibrary(state, luaopen_bit);
  PutInFront(state);
  lua_setfield(state, globals, "bit");
  PushStructLibrary(state);
  PutInFront(state);
  lua_setfield(state, globals, "struct");
  PushMsgpackLibrary(state);
  PutInFront(state);
  lua_setfield(state, globals, "cmsgpack");
  PushRedisLibrary(state, kind);
  PutInFront(state);
  lua_setfield(state, globals, "redis");
}

}  // namespace

void PushSandbox(lua_State* state, ScriptKind kind) {
  luaL_openlibs(state);
  lua_newtable(state);
  PopRegistered(state, kBehindKey);
  lua_newtable(state);
  const int globals = lua_gettop(state);
  AddBaseFunctions(state, globals);
  AddLibraries(state, globals, kind);
  ProtectStringMethods(state, globals);
  RefuseUnknownGlobals(state);
  PutInFront(state);
  // The script's _G is what it runs in.
  PushRegistered(state, kBehindKey);
  lua_pushvalue(state, -2);
  lua_rawget(state, -2);
  lua_pushvalue(state, -3);
  lua_setfield(state, -2, "_G");
  lua_pop(state, 2);
}

void PushLoadingGlobals(lua_State* state, lua_CFunction register_function) {
  lua_newtable(state);
  PushLoadingRedisLibrary(state, register_function);
  RefuseUnknownGlobals(state);
  PutInFront(state);
  lua_setfield(state, -2, "redis");
  RefuseUnknownGlobals(state);
}

void PushStrings(lua_State* state, std::span<const std::string_view> values) {
  lua_createtable(state, static_cast<int>(values.size()), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    PushView(state, values[i]);
    lua_rawseti(state, -2, static_cast<int>(i) + 1);
  }
}

void SetStrings(lua_State* state, int index, const char* name,
                std::span<const std::string_view> values) {
  PushRegistered(state, kBehindKey);
  lua_pushvalue(state, index);
  lua_rawget(state, -2);
  lua_pushstring(state, name);
  PushStrings(state, values);
  lua_rawset(state, -3);
  lua_pop(state, 2);
}

}  // namespace redouble::memory
