// LuaMemory: the allocator of one Lua state, with a ceiling.
//
// A script that asks for more than kMaxBytes gets Lua's error "not enough memory", so that it
// cannot take the memory of the process that embeds the engine. The sizes that Lua asks for depend
// on the code only, so the error comes at the same point on every machine.
//
// The blocks are in a LuaArena. If the system does not give that many addresses (ulimit -v), they
// are where malloc puts them, and the order of keys that are tables or functions depends on the
// process.
//
//   LuaMemory memory;
//   lua_State* state = lua_newstate(&LuaMemory::Allocate, &memory);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_LUA_MEMORY_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_LUA_MEMORY_H_

#include <cstddef>
#include <lua.hpp>

#include "redouble/backends/memory/scripting/sandbox/lua_arena.h"

namespace redouble::inline v0_1::memory {

class RunLimit;

class LuaMemory {
 public:
  static constexpr size_t kMaxBytes = size_t{1} << 30;

  LuaMemory() = default;
  LuaMemory(const LuaMemory&) = delete;
  LuaMemory& operator=(const LuaMemory&) = delete;

  // A lua_Alloc function; `memory` is a LuaMemory.
  static void* Allocate(void* memory, void* block, size_t old_bytes, size_t new_bytes);
  // The allocator of a state that uses it.
  static LuaMemory& Of(lua_State* state);

  // Charged for allocations; null for none.
  void set_meter(RunLimit* meter) { meter_ = meter; }

 private:
  void Free(void* block);
  void* Resize(void* block, size_t bytes);

  LuaArena arena_;
  size_t used_bytes_ = 0;
  RunLimit* meter_ = nullptr;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_LUA_MEMORY_H_
