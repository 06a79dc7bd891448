// The `cmsgpack` table of scripts: conversion between Lua values and MessagePack.
//
// PushSandbox adds it to the globals of scripts and functions. A script uses it as
//
//   cmsgpack.unpack(cmsgpack.pack({1, 2, 3}))
//
// Thread-safety: one thread for each Lua state.
// Source: Redis 7.0 scripting, "cmsgpack library"; the MessagePack specification.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_MSGPACK_LIBRARY_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_MSGPACK_LIBRARY_H_

#include <lua.hpp>

#include "redouble/backends/memory/compatibility/compatibility.h"

namespace redouble::inline v0_1::memory {

// Pushes the table with pack, unpack, unpack_one and unpack_limit. Its _COPYRIGHT depends on the
// version.
void PushMsgpackLibrary(lua_State* state, const Compatibility& compatibility);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_MSGPACK_LIBRARY_H_
