#include "redouble/core/base/task/frame_pool.h"

#include <cstring>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::base::internal {
namespace {

TEST(FramePool, GivesMemoryOfTheAskedSize) {
  for (const size_t size : {1u, 63u, 64u, 65u, 500u, 1024u, 1025u, 100'000u}) {
    void* const frame = FramePool::Allocate(size);
    std::memset(frame, 0xab, size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(frame) % alignof(std::max_align_t), 0u);
    FramePool::Free(frame, size);
  }
}

TEST(FramePool, GivesAFreedFrameOutAgain) {
  if (!kPoolFrames) GTEST_SKIP() << "sanitizers see every frame";
  void* const frame = FramePool::Allocate(200);
  FramePool::Free(frame, 200);
  void* const again = FramePool::Allocate(199);
  EXPECT_EQ(again, frame);
  FramePool::Free(again, 199);
}

TEST(FramePool, KeepsSizesApart) {
  void* const small = FramePool::Allocate(64);
  FramePool::Free(small, 64);
  void* const large = FramePool::Allocate(65);
  std::memset(large, 0xab, 65);
  EXPECT_NE(large, small);
  FramePool::Free(large, 65);
}

TEST(FramePool, KeepsLiveFramesApart) {
  std::vector<unsigned char*> frames;
  for (int i = 0; i < 100; ++i) {
    frames.push_back(static_cast<unsigned char*>(FramePool::Allocate(128)));
    std::memset(frames.back(), i, 128);
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(frames[i][0], i);
    EXPECT_EQ(frames[i][127], i);
    FramePool::Free(frames[i], 128);
  }
}

TEST(FramePool, TakesMoreFramesBackThanItKeeps) {
  std::vector<void*> frames;
  for (int i = 0; i < 10'000; ++i) frames.push_back(FramePool::Allocate(64));
  for (void* frame : frames) FramePool::Free(frame, 64);
}

TEST(FramePool, TakesAFrameFromAnotherThread) {
  void* frame = nullptr;
  std::thread([&] { frame = FramePool::Allocate(128); }).join();
  std::memset(frame, 0xab, 128);
  std::thread([&] { FramePool::Free(frame, 128); }).join();
}

// The goal: a thread that has ended leaks no memory, even if one of its destructors frees a frame
// after the pool's destructor ran.
TEST(FramePool, LeavesNothingBehindWhenAThreadEnds) {
  struct Last {
    ~Last() {
      FramePool::Free(frame, 128);
      FramePool::Free(FramePool::Allocate(128), 128);
    }
    void* frame = nullptr;
  };
  std::thread([] {
    // Destroyed in the reverse order of construction: after the pool.
    static thread_local Last last;
    void* const other = FramePool::Allocate(128);
    last.frame = FramePool::Allocate(128);
    FramePool::Free(other, 128);
  }).join();
}

}  // namespace
}  // namespace redouble::inline v0_1::base::internal
