#include "redouble/backends/memory/scripting/sandbox/lua_arena.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kMega = size_t{1} << 20;

struct Block {
  unsigned char* bytes;
  size_t size;
  unsigned char fill;
};

bool IsWhole(const Block& block, size_t size) {
  return std::all_of(block.bytes, block.bytes + size,
                     [&](unsigned char byte) { return byte == block.fill; });
}

// Calls all functions at random, and checks that no block changes. Returns the places.
std::vector<uint32_t> RunAtRandom(LuaArena& arena, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Block> blocks;
  std::vector<uint32_t> places;
  const auto size_at_random = [&] {
    const size_t limit = size_t{16} << (random() % 14);  // 16 B to 128 KiB.
    return 1 + random() % limit;
  };
  const auto fill = [&](Block& block) {
    block.fill = static_cast<unsigned char>(random());
    std::memset(block.bytes, block.fill, block.size);
    places.push_back(LuaArena::PlaceOf(block.bytes));
  };
  for (int step = 0; step < 20'000; ++step) {
    const size_t chosen = blocks.empty() ? 0 : random() % blocks.size();
    const uint64_t what = random() % 8;
    if (blocks.empty() || (what < 4 && blocks.size() < 2'000)) {
      const size_t size = size_at_random();
      Block& block =
          blocks.emplace_back(Block{static_cast<unsigned char*>(arena.Allocate(size)), size, 0});
      EXPECT_EQ(LuaArena::PlaceOf(block.bytes) % 16, 0U);
      fill(block);
    } else if (what < 6) {
      Block& block = blocks[chosen];
      const size_t size = size_at_random();
      block.bytes = static_cast<unsigned char*>(arena.Resize(block.bytes, size));
      EXPECT_TRUE(IsWhole(block, std::min(size, block.size)));
      block.size = size;
      fill(block);
    } else {
      EXPECT_TRUE(IsWhole(blocks[chosen], blocks[chosen].size));
      arena.Free(blocks[chosen].bytes);
      blocks[chosen] = blocks.back();
      blocks.pop_back();
    }
  }
  for (const Block& block : blocks) {
    EXPECT_TRUE(IsWhole(block, block.size));
    arena.Free(block.bytes);
  }
  return places;
}

TEST(LuaArena, KeepsEveryBlockAndItsPlaceForTheSameCalls) {
  LuaArena first;
  ASSERT_TRUE(first.is_reserved());
  const std::vector<uint32_t> places = RunAtRandom(first, 1);
  LuaArena second;
  void* const elsewhere = first.Allocate(100);
  EXPECT_EQ(RunAtRandom(second, 1), places);
  first.Free(elsewhere);
}

TEST(LuaArena, WastesAtMostAQuarterOfSmallBlocks) {
  LuaArena arena;
  for (size_t size = 1; size <= 8'192; ++size) {
    auto* const block = static_cast<char*>(arena.Allocate(size));
    // The slab's next block is as far away as the block is large.
    auto* const next = static_cast<char*>(arena.Allocate(size));
    const auto room = static_cast<size_t>(std::abs(next - block));
    EXPECT_GE(room, size);
    EXPECT_LE(room, std::max(size + 15, size + size / 4)) << size;
    arena.Free(next);
    arena.Free(block);
  }
}

TEST(LuaArena, IsFullAtTheEndOfItsRangeAndHasRoomAgain) {
  LuaArena arena;
  constexpr size_t kPart = 256 * kMega;
  std::vector<void*> parts;
  while (void* const part = arena.Allocate(kPart)) parts.push_back(part);
  EXPECT_EQ(parts.size(), LuaArena::kReservedBytes / kPart - 1);  // The first page is not used.
  EXPECT_EQ(arena.Allocate(LuaArena::kReservedBytes + 1), nullptr);
  EXPECT_EQ(arena.Resize(parts[0], 2 * kPart), nullptr);
  EXPECT_EQ(arena.Resize(parts[0], kPart - 1), parts[0]);
  arena.Free(parts[1]);
  arena.Free(parts[3]);
  arena.Free(parts[2]);
  EXPECT_EQ(arena.Allocate(3 * kPart), parts[1]) << "the free runs are one";
  // Small blocks need a slab, for which there is room until this is full as well.
  size_t blocks = 0;
  while (arena.Allocate(8'192) != nullptr) ++blocks;
  EXPECT_GT(blocks, 1'000U);
  EXPECT_NE(arena.Resize(parts[0], 100), nullptr) << "a block never fails to shrink";
}

TEST(LuaArena, ReturnsTheMemoryOfLargeFreeRuns) {
  LuaArena arena;
  const auto is_zero_again = [&](size_t size) {
    auto* const bytes = static_cast<char*>(arena.Allocate(size));
    std::memset(bytes, 'x', size);
    arena.Free(bytes);
    auto* const again = static_cast<char*>(arena.Allocate(size));
    EXPECT_EQ(again, bytes);
    const bool is_zero = std::all_of(again, again + size, [](char c) { return c == 0; });
    arena.Free(again);
    return is_zero;
  };
  EXPECT_TRUE(is_zero_again(2 * kMega));
  // Many slabs that are freed one by one become a large run.
  std::vector<char*> blocks;
  for (int i = 0; i < 10'000; ++i) {
    blocks.push_back(static_cast<char*>(arena.Allocate(1'000)));
    std::memset(blocks.back(), 'x', 1'000);
  }
  for (char* const block : blocks) arena.Free(block);
  auto* const whole = static_cast<char*>(arena.Allocate(5 * kMega));
  EXPECT_TRUE(std::all_of(whole, whole + 5 * kMega, [](char c) { return c == 0; }));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
