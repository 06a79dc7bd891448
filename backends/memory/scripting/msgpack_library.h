// The `cmsgpack` table of a script: Lua values as MessagePack and back.
//
// Source: Redis 7.0 scripting, "cmsgpack library"; the MessagePack specification.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_MSGPACK_LIBRARY_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_MSGPACK_LIBRARY_H_

#include <lua.hpp>

namespace redouble::memory {

// Pushes the table: cmsgpack.pack, unpack, unpack_one and unpack_limit.
void PushMsgpackLibrary(lua_State* state);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_MSGPACK_LIBRARY_H_
