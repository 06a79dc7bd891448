// LuaArena: the memory of one Lua state, at the same place in every process.
//
// Lua orders keys that are tables or functions by the low 32 bits of their addresses, and scripts
// see that order in pairs(). All blocks are in one reserved range of addresses that begins at a
// multiple of 4 GiB, and where a block lies depends only on the calls before. So a script gives the
// same result in every engine, process and run.
//
// Small blocks of one size share a slab. Larger ones, and slabs, are runs of pages; free runs that
// touch become one. Memory of free runs goes back to the system when it is 1 MiB or more.
//
//   LuaArena arena;
//   void* block = arena.Allocate(100);
//   arena.Free(block);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_LUA_ARENA_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_LUA_ARENA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace redouble::inline v0_1::memory {

class LuaArena {
 public:
  // Of addresses, not of memory.
  static constexpr size_t kReservedBytes = size_t{3} << 30;

  LuaArena();
  ~LuaArena();
  LuaArena(const LuaArena&) = delete;
  LuaArena& operator=(const LuaArena&) = delete;

  // False if the system does not give that many addresses; nothing else must be called then.
  bool is_reserved() const { return base_ != nullptr; }

  // A block of at least so many bytes, aligned to 16; null if the range is full. `bytes` is not 0.
  void* Allocate(size_t bytes);
  void Free(void* block);
  // Moves the contents to a block of another size, unless they can stay. Returns null if the range
  // is full; the old block is valid then. A block never fails to shrink.
  void* Resize(void* block, size_t bytes);

  // Where a block lies: the same for the same calls in every process.
  static uint32_t PlaceOf(const void* block) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(block));
  }
  // The place as an address that scripts may see.
  static const void* ShownPlaceOf(const void* block) {
    constexpr uintptr_t kFirstPlace = 0x7f0000000000;
    return reinterpret_cast<const void*>(kFirstPlace + PlaceOf(block));
  }

 private:
  static constexpr size_t kPageBytes = 8 * 1024;
  static constexpr uint32_t kSlabPages = 8;
  static constexpr size_t kSlabBytes = kSlabPages * kPageBytes;
  static constexpr size_t kLargestSmallBytes = 8 * 1024;
  static constexpr size_t kClasses = 36;
  static constexpr uint32_t kNone = UINT32_MAX;

  // The first page of a run describes it.
  struct Page {
    uint32_t head = 0;        // The first page of its run.
    uint32_t pages = 0;       // Of the run.
    uint32_t size_class = 0;  // kClasses: the run is one block.
    uint32_t used = 0;        // Blocks of a slab.
    uint32_t next_new = 0;    // The offset of the first block that was never used.
    uint32_t free_block = kNone;
    // The other slabs of the class that have room.
    uint32_t previous = kNone;
    uint32_t next = kNone;
  };

  static size_t ClassOf(size_t bytes);
  static size_t BytesOf(size_t size_class);
  static uint32_t PagesFor(size_t bytes) {
    return static_cast<uint32_t>((bytes + kPageBytes - 1) / kPageBytes);
  }

  void* AllocateSmall(size_t size_class);
  void FreeSmall(Page& slab, uint32_t index, void* block);
  void Link(uint32_t index);
  void Unlink(uint32_t index);
  // The first page of a run, or kNone.
  uint32_t AllocateRun(uint32_t pages);
  void FreeRun(uint32_t start, uint32_t pages);
  void TakeFree(uint32_t start, uint32_t pages);
  char* AddressOf(uint32_t page) const { return base_ + size_t{page} * kPageBytes; }
  uint32_t PageOf(const void* block) const {
    return static_cast<uint32_t>((static_cast<const char*>(block) - base_) / kPageBytes);
  }
  // The bytes that a block has room for.
  size_t RoomOf(const Page& run) const;

  char* base_ = nullptr;
  std::vector<Page> pages_;  // As far as runs have ever reached.
  std::array<uint32_t, kClasses> with_room_;
  // The free runs, by their first page, and by their size.
  std::map<uint32_t, uint32_t> free_;
  std::set<std::pair<uint32_t, uint32_t>> free_by_size_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_LUA_ARENA_H_
