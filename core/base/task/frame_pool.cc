#include "redouble/core/base/task/frame_pool.h"

namespace redouble::inline v0_1::base::internal {

constinit thread_local FramePool::Lists FramePool::lists_ = {};

FramePool::Drain::~Drain() {
  lists_.longest = 0;
  for (List& list : lists_.of_class) {
    while (list.head != nullptr) {
      Node* const next = list.head->next;
      ::operator delete(list.head);
      list.head = next;
    }
    list.length = 0;
  }
}

void* FramePool::AllocateFresh(size_t size_class) {
  // The first use on a thread enables its lists and registers their clean-up.
  static thread_local const Drain drain;
  (void)drain;
  return ::operator new((size_class + 1) * kClassBytes);
}

}  // namespace redouble::inline v0_1::base::internal
