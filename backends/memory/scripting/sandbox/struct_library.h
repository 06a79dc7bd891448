// The `struct` table of scripts: conversion between Lua values and the bytes of C structures.
//
// PushSandbox adds it to the globals of scripts and functions. A script uses it as
//
//   struct.unpack("<I4", struct.pack("<I4", 7))
//
// Thread-safety: one thread for each Lua state.
// Source: Redis 7.0 scripting, "struct library".
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_STRUCT_LIBRARY_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_STRUCT_LIBRARY_H_

#include <lua.hpp>

namespace redouble::inline v0_1::memory {

// Pushes the table with pack, unpack and size.
void PushStructLibrary(lua_State* state);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_STRUCT_LIBRARY_H_
