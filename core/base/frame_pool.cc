#include "core/base/frame_pool.h"

namespace redouble::base::internal {

constinit thread_local FramePool::Lists FramePool::lists_ = {};

FramePool::Drain::~Drain() {
  lists_.open = false;
  for (Node*& head : lists_.heads) {
    while (head != nullptr) {
      Node* next = head->next;
      ::operator delete(head);
      head = next;
    }
  }
}

void* FramePool::AllocateFresh(size_t size_class) {
  // The first use on a thread registers the clean-up of its lists.
  static thread_local Drain drain;
  static thread_local bool opened = (lists_.open = true);
  (void)drain;
  (void)opened;
  return ::operator new((size_class + 1) * kClassBytes);
}

}  // namespace redouble::base::internal
