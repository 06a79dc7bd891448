// Resuming coroutines from outside: what a store, a clock or an event loop calls when something
// that a coroutine waits for has happened.
//
//   void OnReply(absl::StatusOr<Reply> reply) {
//     reply_ = std::move(reply);
//     base::Resume(awaiting_);
//   }
//
// A resumption may happen inside another coroutine's step: one actor's write wakes another actor's
// blocked read. That is harmless, except that a coroutine must not be destroyed while it is on the
// stack. WhenAny, which destroys the tasks that lost, therefore has to know about it; so an awaiter
// calls Resume() rather than handle.resume().
//
// Thread-safety: the bookkeeping is per thread.
#ifndef REDOUBLE_CORE_BASE_RESUME_H_
#define REDOUBLE_CORE_BASE_RESUME_H_

#include <algorithm>
#include <coroutine>
#include <cstddef>

namespace redouble::base {
namespace internal {

class DeferredResumption;

// What this thread is doing, from the outermost resumption on.
struct ResumeState {
  // How many resumptions are on the stack.
  size_t depth = 0;
  // How many of them were there when the innermost Run() began.
  size_t root = 0;
  // Those that wait for the stack to unwind, in the order in which they began to.
  DeferredResumption* first = nullptr;
  DeferredResumption* last = nullptr;
};
extern constinit thread_local ResumeState resume_state;

// Stands on the stack around each resumption.
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

// Stands on the stack around Run(): what is below belongs to other runs.
class RunScope {
 public:
  RunScope() : outer_root_(resume_state.root) { resume_state.root = resume_state.depth; }
  ~RunScope() { resume_state.root = outer_root_; }
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

 private:
  size_t outer_root_;
};

// The resumption of a coroutine that must not go on while coroutines of its own run are on the
// stack. Destroying it takes it back.
class DeferredResumption {
 public:
  DeferredResumption() : root_(resume_state.root) {}
  ~DeferredResumption();
  DeferredResumption(const DeferredResumption&) = delete;
  DeferredResumption& operator=(const DeferredResumption&) = delete;

  // `coroutine` itself when it may go on now, for symmetric transfer; otherwise a coroutine that
  // does nothing, and `coroutine` is resumed as soon as the stack has unwound.
  std::coroutine_handle<> Request(std::coroutine_handle<> coroutine) noexcept;

 private:
  friend class ResumeScope;

  // How many resumptions may be on the stack when it goes on: those below its run, and one. A run
  // that has ended since does not count.
  size_t allowed_depth() const { return std::min(root_, resume_state.root) + 1; }
  void Unlink() noexcept;

  size_t root_;
  std::coroutine_handle<> coroutine_;  // Set while it is in the list.
  DeferredResumption* previous_ = nullptr;
  DeferredResumption* next_ = nullptr;
};

}  // namespace internal

// Resumes a suspended coroutine, during this call. It may have been destroyed when the call
// returns.
inline void Resume(std::coroutine_handle<> coroutine) {
  const internal::ResumeScope scope;
  coroutine.resume();
}

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_RESUME_H_
