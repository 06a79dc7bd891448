#include "redouble/backends/memory/scripting/sandbox/lua_memory.h"

#include <cstdlib>

#include "redouble/backends/memory/scripting/sandbox/run_limit.h"

namespace redouble::inline v0_1::memory {

void* LuaMemory::Allocate(void* memory, void* block, size_t old_bytes, size_t new_bytes) {
  auto& self = *static_cast<LuaMemory*>(memory);
  if (new_bytes == 0) {
    std::free(block);
    self.used_bytes_ -= old_bytes;
    return nullptr;
  }
  // Lua requires that a block can always shrink.
  if (new_bytes > old_bytes && new_bytes - old_bytes > kMaxBytes - self.used_bytes_) return nullptr;
  void* moved = std::realloc(block, new_bytes);
  if (moved == nullptr) return nullptr;
  self.used_bytes_ += new_bytes - old_bytes;
  if (self.meter_ != nullptr && new_bytes > old_bytes) self.meter_->ChargeAllocation(new_bytes);
  return moved;
}

LuaMemory& LuaMemory::Of(lua_State* state) {
  void* memory = nullptr;
  lua_getallocf(state, &memory);
  return *static_cast<LuaMemory*>(memory);
}

}  // namespace redouble::inline v0_1::memory
