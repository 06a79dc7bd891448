// Task<T>: the project's lazy coroutine.
//
// All code that uses a store is written once, as coroutines that return a Task. A task does not run
// until it is awaited or started. Awaiting a task that can finish at once does not suspend the
// caller, so that on the memory engine a whole call tree runs like plain functions. A task that
// waits is resumed by the event that it waits for: the simulator's scheduler, an Asio strand or a
// virtual clock.
//
//   base::Task<absl::StatusOr<int>> CountTwice(store::Store& store, std::string_view key) {
//     REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Incr(store, key)).status());
//     REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, co_await store::Incr(store, key));
//     co_return static_cast<int>(count);
//   }
//   absl::StatusOr<int> count = base::Run(CountTwice(store, "visits"));
//
// Ownership: a Task owns the frame of its coroutine. Destroying a task cancels it: the frame is
// destroyed at the await where it is suspended, together with all tasks that it awaits. A task must
// not be destroyed from inside its own step. Arguments taken by reference or view must outlive the
// task; in `co_await F(temporary)` they do.
//
// Exceptions: the project throws none. An exception thrown by user code inside a task is rethrown
// when the result is taken.
//
// Thread-safety: a task and all that it awaits belong to one thread or strand at a time.
#ifndef REDOUBLE_CORE_BASE_TASK_TASK_H_
#define REDOUBLE_CORE_BASE_TASK_TASK_H_

#include <cassert>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "redouble/core/base/task/frame_pool.h"
#include "redouble/core/base/task/resume.h"

namespace redouble::inline v0_1::base {

template <typename T>
class Task;

namespace internal {

class TaskPromiseBase;

// Waits for several tasks. Implemented by the combinators of run.h.
class TaskGroup {
 public:
  // Called when one of the tasks has ended. Returns the coroutine to resume.
  virtual std::coroutine_handle<> OnTaskDone(const TaskPromiseBase& task) noexcept = 0;

 protected:
  ~TaskGroup() = default;
};

class TaskPromiseBase {
 public:
  static void* operator new(size_t size) { return FramePool::Allocate(size); }
  static void operator delete(void* frame, size_t size) { FramePool::Free(frame, size); }

  std::suspend_always initial_suspend() noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
      return self.promise().Finish();
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }

  void unhandled_exception() noexcept { error_ = std::current_exception(); }

  // The coroutine to resume when the task ends; not set while the task runs inside its awaiter's
  // call.
  void set_continuation(std::coroutine_handle<> continuation) { continuation_ = continuation; }
  void set_group(TaskGroup* group) { group_ = group; }

 protected:
  void RethrowError() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  std::coroutine_handle<> Finish() noexcept {
    if (group_ != nullptr) return group_->OnTaskDone(*this);
    if (continuation_) return continuation_;
    return std::noop_coroutine();
  }

  std::coroutine_handle<> continuation_;
  TaskGroup* group_ = nullptr;
  std::exception_ptr error_;
};

template <typename T>
class TaskPromise : public TaskPromiseBase {
 public:
  Task<T> get_return_object() noexcept;

  template <typename U = T>
    requires std::convertible_to<U, T>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }

  T Take() {
    RethrowError();
    assert(value_.has_value());
    return *std::move(value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> : public TaskPromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  void Take() { RethrowError(); }
};

}  // namespace internal

// A coroutine that returns a T: void or a movable object type.
template <typename T = void>
class [[nodiscard]] Task {
  static_assert(!std::is_reference_v<T>, "a task returns values; return a pointer instead");

 public:
  using promise_type = internal::TaskPromise<T>;
  using value_type = T;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      Destroy();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { Destroy(); }

  // Runs the task to its first wait or to its end. Call it once, and only on a task that is not
  // awaited.
  void Start() {
    assert(handle_ && !handle_.done());
    Resume(handle_);
  }

  // Returns whether the task has ended.
  bool done() const { return handle_.done(); }

  // Returns the result of a task that has ended; rethrows its exception. Call it once.
  T TakeResult() {
    assert(done());
    return handle_.promise().Take();
  }

  // Sets the coroutine to resume when this task, which is started and has not ended, ends. For code
  // that drives tasks; other code awaits them.
  void ResumeWhenDone(std::coroutine_handle<> continuation) {
    assert(!done());
    handle_.promise().set_continuation(continuation);
  }
  // Notifies `group` when this task ends; for the combinators of run.h.
  void JoinGroup(internal::TaskGroup& group) {
    assert(!done());
    handle_.promise().set_group(&group);
  }
  // Returns whether `task`, an argument of OnTaskDone, is this task.
  bool Is(const internal::TaskPromiseBase& task) const { return &handle_.promise() == &task; }

  // await_ready starts the task, so that a loop over tasks that finish at once does not grow the
  // stack at any optimization level; symmetric transfer would need the optimizer for that. A task
  // that waited resumes its awaiter by symmetric transfer.
  class Awaiter {
   public:
    explicit Awaiter(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    bool await_ready() {
      handle_.resume();
      return handle_.done();
    }
    void await_suspend(std::coroutine_handle<> awaiting) {
      handle_.promise().set_continuation(awaiting);
    }
    T await_resume() { return handle_.promise().Take(); }

   private:
    std::coroutine_handle<promise_type> handle_;
  };

  // Starts the task and returns its result. The task must stay alive until then, as the operand of
  // a co_await expression does.
  Awaiter operator co_await() && {
    assert(handle_ && !handle_.done());
    return Awaiter(handle_);
  }

 private:
  friend promise_type;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  void Destroy() {
    if (handle_) std::exchange(handle_, {}).destroy();
  }

  std::coroutine_handle<promise_type> handle_;
};

namespace internal {

template <typename T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

}  // namespace internal
}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TASK_TASK_H_
