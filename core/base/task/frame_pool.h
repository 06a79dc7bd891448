// FramePool: recycles the memory of coroutine frames.
//
// A typed command is a coroutine whose frame usually lives for less than a microsecond. A free list
// per size class and thread replaces most calls of malloc by a few instructions. Only Task's
// promise uses it. Sanitizer builds allocate from the heap, so that a use after the frame's end is
// reported.
//
// Thread-safety: each thread has its own lists; a frame may be freed on any thread.
#ifndef REDOUBLE_CORE_BASE_TASK_FRAME_POOL_H_
#define REDOUBLE_CORE_BASE_TASK_FRAME_POOL_H_

#include <cstddef>
#include <new>

namespace redouble::inline v0_1::base::internal {

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
  // Returns memory for a frame of `size` bytes, aligned as by operator new.
  static void* Allocate(size_t size) {
    if (!kPoolFrames || size > kLargestPooled) return ::operator new(size);
    List& list = lists_.of_class[ClassOf(size)];
    if (list.head == nullptr) return AllocateFresh(ClassOf(size));
    Node* const node = list.head;
    list.head = node->next;
    --list.length;
    return node;
  }

  // Frees memory that Allocate(size) returned.
  static void Free(void* frame, size_t size) {
    if (!kPoolFrames || size > kLargestPooled) return ::operator delete(frame);
    List& list = lists_.of_class[ClassOf(size)];
    if (list.length >= lists_.longest) return ::operator delete(frame);
    Node* const node = static_cast<Node*>(frame);
    node->next = list.head;
    list.head = node;
    ++list.length;
  }

 private:
  static constexpr size_t kClassBytes = 64;
  static constexpr size_t kLargestPooled = 1024;
  // Enough for thousands of actors. The limit is for a thread that only frees frames of others.
  static constexpr size_t kLongestList = 4096;

  struct Node {
    Node* next;
  };
  struct List {
    Node* head;
    size_t length;
  };
  // Trivially destructible, so that a frame can be freed after the thread's other destructors ran.
  // `longest` is 0 before the thread's first frame and after the thread's end.
  struct Lists {
    List of_class[kLargestPooled / kClassBytes];
    size_t longest;
  };
  // Empties the lists when the thread ends.
  struct Drain {
    Drain() { lists_.longest = kLongestList; }
    ~Drain();
  };

  static size_t ClassOf(size_t size) { return (size - 1) / kClassBytes; }
  static void* AllocateFresh(size_t size_class);

  static constinit thread_local Lists lists_;
};

}  // namespace redouble::inline v0_1::base::internal

#endif  // REDOUBLE_CORE_BASE_TASK_FRAME_POOL_H_
