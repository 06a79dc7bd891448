// Resume: resumes a suspended coroutine from a store, a clock or an event loop.
//
// Awaiters call it, instead of handle.resume(), when the event that their coroutine waits for has
// happened:
//
//   void OnReply(absl::StatusOr<Reply> reply) {
//     reply_ = std::move(reply);
//     base::Resume(awaiting_);
//   }
//
// A coroutine may be resumed inside another coroutine's step, as when one actor's write unblocks
// another actor's read. A coroutine must not be destroyed while it is on the stack, and WhenAny
// destroys the tasks that did not end first. Resume counts the resumptions on the stack, so that
// WhenAny can wait until the stack has unwound.
//
// Thread-safety: the state is per thread.
#ifndef REDOUBLE_CORE_BASE_TASK_RESUME_H_
#define REDOUBLE_CORE_BASE_TASK_RESUME_H_

#include <algorithm>
#include <coroutine>
#include <cstddef>

namespace redouble::inline v0_1::base {
namespace internal {

class DeferredResumption;

// The resumptions on this thread's stack.
struct ResumeState {
  // The number of resumptions on the stack.
  size_t depth = 0;
  // How many of them were on the stack when the innermost Run() began.
  size_t root = 0;
  // The list of resumptions that wait for the stack to unwind, oldest first.
  DeferredResumption* first = nullptr;
  DeferredResumption* last = nullptr;
};
extern constinit thread_local ResumeState resume_state;

// Counts a resumption while it is on the stack.
class ResumeScope {
 public:
  ResumeScope() { ++resume_state.depth; }
  ~ResumeScope() {
    if (resume_state.first != nullptr) ResumeDeferred();
    --resume_state.depth;
  }
  ResumeScope(const ResumeScope&) = delete;
  ResumeScope& operator=(const ResumeScope&) = delete;

 private:
  static void ResumeDeferred();
};

// Marks a Run() on the stack: resumptions below it belong to other runs.
class RunScope {
 public:
  RunScope() : outer_root_(resume_state.root) { resume_state.root = resume_state.depth; }
  ~RunScope() { resume_state.root = outer_root_; }
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

 private:
  size_t outer_root_;
};

// The resumption of a coroutine that must not continue while coroutines of its own run are on the
// stack. Destroying this object cancels it.
class DeferredResumption {
 public:
  DeferredResumption() : root_(resume_state.root) {}
  ~DeferredResumption();
  DeferredResumption(const DeferredResumption&) = delete;
  DeferredResumption& operator=(const DeferredResumption&) = delete;

  // Returns `coroutine` if it may continue now, for symmetric transfer. Otherwise returns a
  // coroutine that does nothing, and resumes `coroutine` as soon as the stack has unwound.
  std::coroutine_handle<> Request(std::coroutine_handle<> coroutine) noexcept;

 private:
  friend class ResumeScope;

  // How many resumptions may be on the stack when the coroutine continues: those below its run, and
  // one. A run that has ended in the meantime does not count.
  size_t allowed_depth() const { return std::min(root_, resume_state.root) + 1; }
  void Unlink() noexcept;

  size_t root_;
  std::coroutine_handle<> coroutine_;  // Set while it is in the list.
  DeferredResumption* previous_ = nullptr;
  DeferredResumption* next_ = nullptr;
};

}  // namespace internal

// Resumes a suspended coroutine during this call. The coroutine may no longer exist when the call
// returns.
inline void Resume(std::coroutine_handle<> coroutine) {
  const internal::ResumeScope scope;
  coroutine.resume();
}

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TASK_RESUME_H_
