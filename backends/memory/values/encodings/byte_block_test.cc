#include "redouble/backends/memory/values/encodings/byte_block.h"

#include <cstring>
#include <utility>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

static_assert(sizeof(ByteBlock) == sizeof(void*));

TEST(ByteBlock, HasAtLeastTheCapacityAskedFor) {
  for (const size_t size : {1, 7, 24, 119, 120, 121, 128, 1000, 8192, 100000}) {
    ByteBlock block(size);
    EXPECT_GE(block.capacity(), size);
    std::memset(block.data(), 0xff, size);
  }
}

TEST(ByteBlock, RoundsLargeBlocksByAQuarterAtMost) {
  for (size_t size = 200; size < 100000; size += 777) {
    EXPECT_LE(ByteBlock(size).capacity(), size + size / 4 + 16) << size;
  }
}

TEST(ByteBlock, KeepsItsBytesWhenItGrowsAndShrinks) {
  ByteBlock block(4);
  std::memcpy(block.data(), "abcd", 4);
  block.Grow(10000);
  EXPECT_GE(block.capacity(), 10000u);
  EXPECT_EQ(std::memcmp(block.data(), "abcd", 4), 0);
  block.ShrinkTo(4);
  EXPECT_EQ(std::memcmp(block.data(), "abcd", 4), 0);
}

TEST(ByteBlock, DoesNotMoveWhileTheBytesFit) {
  ByteBlock block(1000);
  const uint8_t* const before = block.data();
  block.Grow(block.capacity());
  EXPECT_EQ(block.data(), before);
}

TEST(ByteBlock, GrowsInFewSteps) {
  ByteBlock block(128);
  int steps = 0;
  size_t capacity = block.capacity();
  for (size_t size = 129; size <= 1 << 20; ++size) {
    block.Grow(size);
    if (block.capacity() != capacity) ++steps;
    capacity = block.capacity();
  }
  EXPECT_LT(steps, 80);
}

TEST(ByteBlock, ShrinksOnlyWhenLessThanHalfIsUsed) {
  ByteBlock block(4096);
  const size_t capacity = block.capacity();
  block.ShrinkWhenSparse(capacity / 2);
  EXPECT_EQ(block.capacity(), capacity);
  block.ShrinkWhenSparse(500);
  EXPECT_LT(block.capacity(), 1000u);
  EXPECT_GE(block.capacity(), 500u);
}

TEST(ByteBlock, MovesWithoutCopying) {
  ByteBlock first(100);
  const uint8_t* const bytes = first.data();
  ByteBlock second(std::move(first));
  EXPECT_EQ(second.data(), bytes);
  ByteBlock third(1);
  third = std::move(second);
  EXPECT_EQ(third.data(), bytes);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
