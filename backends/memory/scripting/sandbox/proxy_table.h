// Proxy tables: how Lua 5.1 gets read-only tables.
//
// Redis patches Lua so that a table can be locked. Debian's Lua has no such tables, and a patched
// Lua would have to be built from Debian's source package on every machine that builds Redouble,
// with its security updates applied by hand. So a script sees a protected table through a proxy:
// an empty table whose metatable forwards reads and rejects writes. What the metatable cannot stop
// are Lua's raw functions, so each of those that is visible to scripts is replaced
// (guarded_functions.h), and none of them returns a protected table.
//
//   lua_newtable(state);         // the protected table
//   PutInFront(state);           // its proxy
//
// Thread-safety: one thread for each Lua state.
// Source: Redis 7.0 scripting, "Sandboxed script context".
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_PROXY_TABLE_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_PROXY_TABLE_H_

#include <lua.hpp>

namespace redouble::inline v0_1::memory {

// Redis's error for a change of a protected table.
inline constexpr char kReadOnlyTable[] = "Attempt to modify a readonly table";

// Prepares a new state. Must be called before the other functions.
void OpenProxies(lua_State* state);

// Replaces the table on top of the stack by a proxy for it.
void PutInFront(lua_State* state);

// Replaces the proxy at `index` by its protected table. Any other value stays. Returns true if the
// value was a proxy.
bool LookBehind(lua_State* state, int index);

// Raises kReadOnlyTable, without a position, if the value at `index` is a proxy.
void RefuseProxy(lua_State* state, int index);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_PROXY_TABLE_H_
