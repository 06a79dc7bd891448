#include "redouble/backends/memory/scripting/sandbox/proxy_table.h"

#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"

namespace redouble::inline v0_1::memory {
namespace {

int RefuseWrite(lua_State* state) { return luaL_error(state, "%s", kReadOnlyTable); }

// Pushes the protected table of the proxy at `index`; nil if the value is not a proxy.
void PushBehind(lua_State* state, int index) {
  lua_pushvalue(state, index);
  PushRegistered(state, RegistryKey::kBehind);
  lua_insert(state, -2);
  lua_rawget(state, -2);
  lua_remove(state, -2);
}

}  // namespace

void OpenProxies(lua_State* state) {
  lua_newtable(state);
  PopRegistered(state, RegistryKey::kBehind);
}

void PutInFront(lua_State* state) {
  lua_newtable(state);
  lua_newtable(state);
  lua_pushvalue(state, -3);
  lua_setfield(state, -2, "__index");
  lua_pushcfunction(state, RefuseWrite);
  lua_setfield(state, -2, "__newindex");
  lua_setmetatable(state, -2);
  PushRegistered(state, RegistryKey::kBehind);
  lua_pushvalue(state, -2);
  lua_pushvalue(state, -4);
  lua_rawset(state, -3);
  lua_pop(state, 1);
  lua_remove(state, -2);
}

bool LookBehind(lua_State* state, int index) {
  if (lua_type(state, index) != LUA_TTABLE) return false;
  PushBehind(state, index);
  const bool is_proxy = !lua_isnil(state, -1);
  is_proxy ? lua_replace(state, index) : lua_pop(state, 1);
  return is_proxy;
}

void RefuseProxy(lua_State* state, int index) {
  if (lua_type(state, index) != LUA_TTABLE) return;
  PushBehind(state, index);
  const bool is_proxy = !lua_isnil(state, -1);
  lua_pop(state, 1);
  if (!is_proxy) return;
  lua_pushstring(state, kReadOnlyTable);
  lua_error(state);
}

}  // namespace redouble::inline v0_1::memory
