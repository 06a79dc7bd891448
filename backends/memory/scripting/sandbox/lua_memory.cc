#include "redouble/backends/memory/scripting/sandbox/lua_memory.h"

#include <cstdlib>

#include "redouble/backends/memory/scripting/sandbox/run_limit.h"

namespace redouble::inline v0_1::memory {

void* LuaMemory::Allocate(void* memory, void* block, size_t old_bytes, size_t new_bytes) {
  auto& self = *static_cast<LuaMemory*>(memory);
  if (new_bytes == 0) {
    if (block != nullptr) self.Free(block);
    self.used_bytes_ -= old_bytes;
    return nullptr;
  }
  // Lua requires that a block can always shrink.
  if (new_bytes > old_bytes && new_bytes - old_bytes > kMaxBytes - self.used_bytes_) return nullptr;
  void* const moved = self.Resize(block, new_bytes);
  if (moved == nullptr) return nullptr;
  self.used_bytes_ += new_bytes - old_bytes;
  if (self.meter_ != nullptr && new_bytes > old_bytes) self.meter_->ChargeAllocation(new_bytes);
  return moved;
}

void LuaMemory::Free(void* block) {
  if (arena_.is_reserved()) return arena_.Free(block);
  std::free(block);
}

void* LuaMemory::Resize(void* block, size_t bytes) {
  if (!arena_.is_reserved()) return std::realloc(block, bytes);
  return block == nullptr ? arena_.Allocate(bytes) : arena_.Resize(block, bytes);
}

LuaMemory& LuaMemory::Of(lua_State* state) {
  void* memory = nullptr;
  lua_getallocf(state, &memory);
  return *static_cast<LuaMemory*>(memory);
}

}  // namespace redouble::inline v0_1::memory
