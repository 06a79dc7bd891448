// Recycles the memory of coroutine frames.
//
// A typed command is one coroutine frame that usually lives for less than a microsecond; a free
// list per size class and thread makes it cost a few instructions instead of a trip to malloc.
// Used by Task's promise only. Sanitizer builds go straight to the heap, so that a frame used
// after its end is seen.
//
// Thread-safety: every thread has its own lists; a frame may be freed on another thread than the
// one that made it.
#ifndef REDOUBLE_CORE_BASE_FRAME_POOL_H_
#define REDOUBLE_CORE_BASE_FRAME_POOL_H_

#include <cstddef>
#include <new>

namespace redouble::base::internal {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kPoolFrames = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kPoolFrames = false;
#else
inline constexpr bool kPoolFrames = true;
#endif
#else
inline constexpr bool kPoolFrames = true;
#endif

class FramePool {
 public:
  // Memory for a frame of `size` bytes, aligned as operator new aligns.
  static void* Allocate(size_t size) {
    if (kPoolFrames && size <= kLargestPooled) {
      Node*& list = lists_.heads[ClassOf(size)];
      if (list != nullptr) {
        Node* node = list;
        list = node->next;
        return node;
      }
      return AllocateFresh(ClassOf(size));
    }
    return ::operator new(size);
  }

  // Gives back what Allocate(size) gave.
  static void Free(void* frame, size_t size) {
    if (kPoolFrames && size <= kLargestPooled && lists_.open) {
      Node* node = static_cast<Node*>(frame);
      node->next = lists_.heads[ClassOf(size)];
      lists_.heads[ClassOf(size)] = node;
      return;
    }
    ::operator delete(frame);
  }

 private:
  static constexpr size_t kClassBytes = 64;
  static constexpr size_t kLargestPooled = 1024;

  struct Node {
    Node* next;
  };
  // Trivially destructible, so that a frame freed after the thread's other destructors ran is
  // still handled: `open` is false by then.
  struct Lists {
    Node* heads[kLargestPooled / kClassBytes];
    bool open;
  };
  // Empties the lists when the thread ends.
  struct Drain {
    ~Drain();
  };

  static size_t ClassOf(size_t size) { return (size - 1) / kClassBytes; }
  static void* AllocateFresh(size_t size_class);

  static constinit thread_local Lists lists_;
};

}  // namespace redouble::base::internal

#endif  // REDOUBLE_CORE_BASE_FRAME_POOL_H_
