#include "redouble/backends/memory/scripting/sandbox/lua_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define REDOUBLE_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REDOUBLE_POISONS 1
#endif
#endif
#ifdef REDOUBLE_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace redouble::inline v0_1::memory {
namespace {

// So that the low 32 bits of the addresses are those within the range.
constexpr size_t kAlignment = size_t{1} << 32;
// Free runs of fewer pages keep their memory.
constexpr size_t kReturnedBytes = size_t{1} << 20;
constexpr size_t kSmallestStep = 16;
// Up to here sizes are multiples of the step; after it there are four for each doubling.
constexpr size_t kFinestBytes = 256;
constexpr size_t kFinestClasses = kFinestBytes / kSmallestStep;

#ifdef REDOUBLE_POISONS
void Poison(void* block, size_t bytes) { ASAN_POISON_MEMORY_REGION(block, bytes); }
void Unpoison(void* block, size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(block, bytes); }
#else
void Poison(void*, size_t) {}
void Unpoison(void*, size_t) {}
#endif

}  // namespace

LuaArena::LuaArena() {
  with_room_.fill(kNone);
  constexpr size_t kSpan = kReservedBytes + kAlignment;
  void* const span = mmap(nullptr, kSpan, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (span == MAP_FAILED) return;
  char* const begin = static_cast<char*>(span);
  const size_t before = (kAlignment - reinterpret_cast<uintptr_t>(begin) % kAlignment) % kAlignment;
  base_ = begin + before;
  if (before > 0) munmap(begin, before);
  munmap(base_ + kReservedBytes, kAlignment - before);
  // A block at the very beginning would have a null place.
  pages_.emplace_back();
}

LuaArena::~LuaArena() {
  if (base_ == nullptr) return;
  Unpoison(base_, pages_.size() * kPageBytes);
  munmap(base_, kReservedBytes);
}

size_t LuaArena::ClassOf(size_t bytes) {
  if (bytes <= kFinestBytes) return (bytes - 1) / kSmallestStep;
  const auto doublings = static_cast<size_t>(std::bit_width((bytes - 1) / kFinestBytes)) - 1;
  const size_t step = (kFinestBytes << doublings) / 4;
  return kFinestClasses + doublings * 4 + (bytes - 1 - (kFinestBytes << doublings)) / step;
}

size_t LuaArena::BytesOf(size_t size_class) {
  if (size_class < kFinestClasses) return (size_class + 1) * kSmallestStep;
  const size_t doublings = (size_class - kFinestClasses) / 4;
  const size_t quarters = (size_class - kFinestClasses) % 4 + 1;
  return (kFinestBytes << doublings) / 4 * (4 + quarters);
}

size_t LuaArena::RoomOf(const Page& run) const {
  return run.size_class < kClasses ? BytesOf(run.size_class) : run.pages * kPageBytes;
}

void* LuaArena::Allocate(size_t bytes) {
  assert(bytes > 0 && is_reserved());
  if (bytes > kReservedBytes) return nullptr;
  if (bytes <= kLargestSmallBytes) return AllocateSmall(ClassOf(bytes));
  const uint32_t index = AllocateRun(PagesFor(bytes));
  if (index == kNone) return nullptr;
  pages_[index].size_class = kClasses;
  Unpoison(AddressOf(index), bytes);
  return AddressOf(index);
}

void* LuaArena::AllocateSmall(size_t size_class) {
  uint32_t index = with_room_[size_class];
  if (index == kNone) {
    index = AllocateRun(kSlabPages);
    if (index == kNone) return nullptr;
    Page& slab = pages_[index];
    slab.size_class = static_cast<uint32_t>(size_class);
    slab.used = slab.next_new = 0;
    slab.free_block = kNone;
    Poison(AddressOf(index), kSlabBytes);
    Link(index);
  }
  Page& slab = pages_[index];
  const size_t bytes = BytesOf(size_class);
  uint32_t offset = slab.free_block;
  char* const block = AddressOf(index) + (offset == kNone ? slab.next_new : offset);
  Unpoison(block, bytes);
  if (offset == kNone) {
    slab.next_new += static_cast<uint32_t>(bytes);
  } else {
    std::memcpy(&slab.free_block, block, sizeof(slab.free_block));
  }
  ++slab.used;
  if (slab.free_block == kNone && slab.next_new + bytes > kSlabBytes) Unlink(index);
  return block;
}

void LuaArena::Free(void* block) {
  const uint32_t index = pages_[PageOf(block)].head;
  Page& run = pages_[index];
  if (run.size_class < kClasses) return FreeSmall(run, index, block);
  FreeRun(index, run.pages);
}

void LuaArena::FreeSmall(Page& slab, uint32_t index, void* block) {
  const size_t bytes = BytesOf(slab.size_class);
  const bool was_full = slab.free_block == kNone && slab.next_new + bytes > kSlabBytes;
  std::memcpy(block, &slab.free_block, sizeof(slab.free_block));
  slab.free_block = static_cast<uint32_t>(static_cast<char*>(block) - AddressOf(index));
  Poison(block, bytes);
  --slab.used;
  if (was_full) Link(index);
  // The last slab with room is kept for the next block.
  const bool is_last = slab.previous == kNone && slab.next == kNone;
  if (slab.used > 0 || is_last) return;
  Unlink(index);
  FreeRun(index, slab.pages);
}

void LuaArena::Link(uint32_t index) {
  Page& slab = pages_[index];
  uint32_t& first = with_room_[slab.size_class];
  slab.previous = kNone;
  slab.next = first;
  if (first != kNone) pages_[first].previous = index;
  first = index;
}

void LuaArena::Unlink(uint32_t index) {
  Page& slab = pages_[index];
  if (slab.next != kNone) pages_[slab.next].previous = slab.previous;
  (slab.previous == kNone ? with_room_[slab.size_class] : pages_[slab.previous].next) = slab.next;
  slab.previous = slab.next = kNone;
}

void* LuaArena::Resize(void* block, size_t bytes) {
  const uint32_t index = pages_[PageOf(block)].head;
  const Page run = pages_[index];
  const size_t room = RoomOf(run);
  if (bytes <= kLargestSmallBytes ? run.size_class == ClassOf(bytes)
                                  : run.size_class == kClasses && run.pages == PagesFor(bytes)) {
    if (run.size_class == kClasses) Unpoison(block, bytes);
    return block;
  }
  const bool shrinks_in_place =
      run.size_class == kClasses && bytes > kLargestSmallBytes && PagesFor(bytes) < run.pages;
  if (shrinks_in_place) {
    const uint32_t kept = PagesFor(bytes);
    pages_[index].pages = kept;
    FreeRun(index + kept, run.pages - kept);
    return block;
  }
  void* const moved = Allocate(bytes);
  if (moved == nullptr) return bytes <= room ? block : nullptr;
  Unpoison(block, std::min(room, bytes));
  std::memcpy(moved, block, std::min(room, bytes));
  Free(block);
  return moved;
}

uint32_t LuaArena::AllocateRun(uint32_t pages) {
  uint32_t start = static_cast<uint32_t>(pages_.size());
  const auto fitting = free_by_size_.lower_bound({pages, 0});
  if (fitting != free_by_size_.end()) {
    const auto [size, first] = *fitting;
    TakeFree(first, size);
    if (size > pages) {
      free_.emplace(first + pages, size - pages);
      free_by_size_.emplace(size - pages, first + pages);
    }
    start = first;
  } else {
    if ((size_t{start} + pages) * kPageBytes > kReservedBytes) return kNone;
    pages_.resize(size_t{start} + pages);
  }
  for (uint32_t page = start; page < start + pages; ++page) pages_[page].head = start;
  pages_[start].pages = pages;
  return start;
}

void LuaArena::TakeFree(uint32_t start, uint32_t pages) {
  free_.erase(start);
  free_by_size_.erase({pages, start});
}

void LuaArena::FreeRun(uint32_t start, uint32_t pages) {
  Poison(AddressOf(start), size_t{pages} * kPageBytes);
  // What becomes part of a large run is returned, unless it was before.
  uint32_t first = start, last = start + pages;
  uint32_t returned_first = first, returned_last = last;
  const auto is_returned = [](uint32_t size) { return size * kPageBytes >= kReturnedBytes; };
  const auto after = free_.lower_bound(start);
  if (after != free_.end() && after->first == last) {
    const uint32_t size = after->second;
    last += size;
    if (!is_returned(size)) returned_last = last;
    TakeFree(start + pages, size);
  }
  const auto behind = free_.lower_bound(start);
  if (behind != free_.begin()) {
    const auto [before, size] = *std::prev(behind);
    if (before + size == start) {
      first = before;
      if (!is_returned(size)) returned_first = first;
      TakeFree(before, size);
    }
  }
  free_.emplace(first, last - first);
  free_by_size_.emplace(last - first, first);
  if (!is_returned(last - first)) return;
  madvise(AddressOf(returned_first), size_t{returned_last - returned_first} * kPageBytes,
          MADV_DONTNEED);
}

}  // namespace redouble::inline v0_1::memory
