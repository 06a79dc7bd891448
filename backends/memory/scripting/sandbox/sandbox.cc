#include "redouble/backends/memory/scripting/sandbox/sandbox.h"

#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/scripting/sandbox/guarded_functions.h"
#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"
#include "redouble/backends/memory/scripting/sandbox/msgpack_library.h"
#include "redouble/backends/memory/scripting/sandbox/proxy_table.h"
#include "redouble/backends/memory/scripting/sandbox/redis_library.h"
#include "redouble/backends/memory/scripting/sandbox/struct_library.h"

extern "C" {
#include <lua-bitop.h>
#include <lua-cjson.h>
}

namespace redouble::inline v0_1::memory {
namespace {

// Functions of the base library for scripts. Some are replaced by guarded ones.
constexpr const char* kBaseFunctions[] = {
    "assert", "collectgarbage", "error",    "gcinfo", "ipairs", "rawequal",
    "select", "tonumber",       "tostring", "type",   "xpcall", "_VERSION",
};

// Lua's own libraries, by the names of their globals.
constexpr const char* kLuaLibraries[] = {"coroutine", "math", "string", "table"};

int RefuseUnknownGlobal(lua_State* state) {
  return luaL_error(state, "Script attempted to access nonexistent global variable '%s'",
                    lua_tostring(state, 2));
}

// Opens a library whose function leaves its table on top of the stack.
void OpenLibrary(lua_State* state, lua_CFunction open) {
  lua_pushcfunction(state, open);
  lua_call(state, 0, 1);
}

// Makes getmetatable return a proxy of the metatable on top of the stack.
void ShowProtected(lua_State* state) {
  lua_newtable(state);
  lua_getfield(state, -2, "__index");
  lua_setfield(state, -2, "__index");
  PutInFront(state);
  lua_setfield(state, -2, "__metatable");
}

// Makes reads of missing globals fail, for the table on top of the stack.
void RefuseUnknownGlobals(lua_State* state) {
  lua_newtable(state);
  lua_pushcfunction(state, RefuseUnknownGlobal);
  lua_setfield(state, -2, "__index");
  ShowProtected(state);
  lua_setmetatable(state, -2);
}

// "x":upper() uses the metatable of strings, which must not circumvent the protection.
void ProtectStringMethods(lua_State* state, int globals) {
  lua_pushstring(state, "");
  lua_getmetatable(state, -1);
  lua_getfield(state, globals, "string");
  lua_setfield(state, -2, "__index");
  ShowProtected(state);
  lua_pop(state, 2);
}

void AddBaseFunctions(lua_State* state, int globals) {
  for (const char* name : kBaseFunctions) {
    lua_getglobal(state, name);
    lua_setfield(state, globals, name);
  }
  GuardBaseFunctions(state);
}

void AddLibraries(lua_State* state, int globals, ScriptKind kind,
                  const Compatibility& compatibility) {
  for (const char* name : kLuaLibraries) {
    lua_getglobal(state, name);
    if (std::string_view(name) == "math") {
      GuardMathLibrary(state);
      ReplaceRandom(state);
    }
    if (std::string_view(name) == "table") GuardTableLibrary(state);
    if (std::string_view(name) == "string") GuardStringLibrary(state);
    PutInFront(state);
    lua_setfield(state, globals, name);
  }
  OpenLibrary(state, luaopen_cjson);
  GuardJsonLibrary(state);
  PutInFront(state);
  lua_setfield(state, globals, "cjson");
  OpenLibrary(state, luaopen_bit);
  GuardBitLibrary(state);
  PutInFront(state);
  lua_setfield(state, globals, "bit");
  PushStructLibrary(state);
  PutInFront(state);
  lua_setfield(state, globals, "struct");
  PushMsgpackLibrary(state, compatibility);
  PutInFront(state);
  lua_setfield(state, globals, "cmsgpack");
  if (compatibility.Has(Feature::kScriptClock)) {
    PushClockLibrary(state);
    PutInFront(state);
    lua_setfield(state, globals, "os");
  }
  PushRedisLibrary(state, kind);
  PutInFront(state);
  NameRedisLibrary(state, globals);
}

}  // namespace

void PushSandbox(lua_State* state, ScriptKind kind, const Compatibility& compatibility) {
  SetCompatibility(state, compatibility);
  luaL_openlibs(state);
  OpenProxies(state);
  lua_newtable(state);
  const int globals = lua_gettop(state);
  AddBaseFunctions(state, globals);
  AddLibraries(state, globals, kind, compatibility);
  ProtectStringMethods(state, globals);
  RefuseUnknownGlobals(state);
  PutInFront(state);
  // A script's _G is the table of its globals.
  lua_pushvalue(state, -1);
  LookBehind(state, lua_gettop(state));
  lua_pushvalue(state, -2);
  lua_setfield(state, -2, "_G");
  lua_pop(state, 1);
}

void PushLoadingGlobals(lua_State* state, lua_CFunction register_function) {
  lua_newtable(state);
  PushLoadingRedisLibrary(state, register_function);
  RefuseUnknownGlobals(state);
  PutInFront(state);
  NameRedisLibrary(state, lua_gettop(state) - 1);
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
  lua_pushvalue(state, index);
  LookBehind(state, lua_gettop(state));
  lua_pushstring(state, name);
  PushStrings(state, values);
  lua_rawset(state, -3);
  lua_pop(state, 1);
}

}  // namespace redouble::inline v0_1::memory
