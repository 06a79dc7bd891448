// Guarded functions: the functions of Lua's base and other libraries that Redis patches, or that
// could change a protected table past its proxy (proxy_table.h).
//
// How Redis 7.0.15 differs from Lua 5.1 and its libraries, and where that is implemented here:
//
//   bytecode is refused                        LoadText (load_text.h)
//   chunk names are kept during compilation    LoadText
//   no token is shown after too many lines     LoadText, which compiles no text of 1 GiB
//   room for parameters and `...` together     Debian's Lua has the same patch
//   read-only tables                           rawset, setmetatable, table.insert; proxies
//   the metatable of strings is read-only      getmetatable returns a proxy
//   unpack counts its results without overflow unpack
//   bit.tohex of the least number              bit.tohex
//   (long patterns are an error here only)     string.find, gmatch, gsub, match
//   (SCRIPT KILL reaches handlers here only)   xpcall
//   cjson's buffer does not overflow           cjson.encode, and the encode of a library made by
//                                              cjson.new, refuse what may exceed its integers
//   struct and cmsgpack                        our own libraries, with 64-bit sizes
//   no newproxy, debug, os, io, package        not in the sandbox's list (sandbox.cc)
//   strings are hashed by every byte           not here: it decides the order of pairs only, for
//                                              keys of 32 bytes and more (docs/compatibility.md)
//
// Thread-safety: one thread for each Lua state.
// Source: Redis 7.0 scripting, "Sandboxed script context".
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_GUARDED_FUNCTIONS_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_GUARDED_FUNCTIONS_H_

#include <lua.hpp>

namespace redouble::inline v0_1::memory {

// The following functions replace entries of the library's table on top of the stack.

void GuardBaseFunctions(lua_State* state);
void GuardTableLibrary(lua_State* state);
void GuardMathLibrary(lua_State* state);
void GuardStringLibrary(lua_State* state);
void GuardBitLibrary(lua_State* state);
void GuardJsonLibrary(lua_State* state);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_GUARDED_FUNCTIONS_H_
