// The `struct` table of a script: strings laid out as C structures.
//
// Source: Redis 7.0 scripting, "struct library".
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_STRUCT_LIBRARY_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_STRUCT_LIBRARY_H_

#include <lua.hpp>

namespace redouble::memory {

// Pushes the table: struct.pack, struct.unpack and struct.size.
void PushStructLibrary(lua_State* state);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_STRUCT_LIBRARY_H_
