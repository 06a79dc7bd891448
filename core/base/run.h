// Running tasks from plain functions, and several tasks at once.
//
//   absl::StatusOr<int64_t> n = base::Run(store::Incr(store, "visits"));
//
//   std::vector<base::Task<absl::StatusOr<int64_t>>> both;
//   both.push_back(store::Incr(a, "x"));
//   both.push_back(store::Incr(b, "y"));
//   std::vector<absl::StatusOr<int64_t>> counts = co_await base::WhenAll(std::move(both));
//
// Thread-safety: as Task.
#ifndef REDOUBLE_CORE_BASE_RUN_H_
#define REDOUBLE_CORE_BASE_RUN_H_

#include <coroutine>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/base/task.h"

namespace redouble::base {

namespace internal {
// Says what went wrong on stderr and aborts.
[[noreturn]] void DieOfUnfinishedTask();

// Starts tasks and waits for all of them. Whether one is done is asked only when all have been
// started: a task may finish an earlier one.
template <typename T>
class VectorAllAwaiter {
 public:
  explicit VectorAllAwaiter(std::vector<Task<T>>& tasks) : tasks_(tasks) {
    for (Task<T>& task : tasks_) task.Start();
  }
  bool await_ready() {
    for (const Task<T>& task : tasks_) countdown_.remaining += task.done() ? 0 : 1;
    return countdown_.remaining == 0;
  }
  void await_suspend(std::coroutine_handle<> awaiting) {
    for (Task<T>& task : tasks_) {
      if (!task.done()) task.ResumeWhenDone(awaiting, &countdown_);
    }
  }
  void await_resume() {}

 private:
  std::vector<Task<T>>& tasks_;
  Countdown countdown_;
};

template <typename... Ts>
class TupleAllAwaiter {
 public:
  explicit TupleAllAwaiter(std::tuple<Task<Ts>...>& tasks) : tasks_(tasks) {
    std::apply([](auto&... task) { (task.Start(), ...); }, tasks_);
  }
  bool await_ready() {
    countdown_.remaining =
        std::apply([](auto&... task) { return ((task.done() ? 0u : 1u) + ...); }, tasks_);
    return countdown_.remaining == 0;
  }
  void await_suspend(std::coroutine_handle<> awaiting) {
    std::apply([&](auto&... task) { (Watch(task, awaiting), ...); }, tasks_);
  }
  void await_resume() {}

 private:
  template <typename T>
  void Watch(Task<T>& task, std::coroutine_handle<> awaiting) {
    if (!task.done()) task.ResumeWhenDone(awaiting, &countdown_);
  }

  std::tuple<Task<Ts>...>& tasks_;
  Countdown countdown_;
};

template <typename T>
class AnyAwaiter {
 public:
  explicit AnyAwaiter(std::vector<Task<T>>& tasks) : tasks_(tasks) {}
  bool await_ready() {
    for (Task<T>& task : tasks_) {
      task.Start();
      ++started_;
      if (FirstDone() < started_) return true;
    }
    return false;
  }
  void await_suspend(std::coroutine_handle<> awaiting) {
    for (Task<T>& task : tasks_) task.ResumeWhenDone(awaiting);
  }
  size_t await_resume() const { return FirstDone(); }

 private:
  // The index of the first started task that is done; started_ when none is.
  size_t FirstDone() const {
    size_t index = 0;
    while (index < started_ && !tasks_[index].done()) ++index;
    return index;
  }

  std::vector<Task<T>>& tasks_;
  size_t started_ = 0;
};
}  // namespace internal

// Runs a task that never has to wait for anybody, as on the memory engine, and returns its result.
// A task that does wait could never be resumed from here: the program is ended with a message that
// says so. Use RunUntilDone with a driver for those.
template <typename T>
T Run(Task<T> task) {
  task.Start();
  if (!task.done()) internal::DieOfUnfinishedTask();
  return task.TakeResult();
}

// Runs a task that may wait: calls `step` until the task is done. `step` lets something happen (an
// event loop turn, the next timer of a virtual clock) and returns false when nothing is left to
// happen; the program is then ended as by Run.
template <typename T>
T RunUntilDone(Task<T> task, absl::FunctionRef<bool()> step) {
  task.Start();
  while (!task.done()) {
    if (!step()) internal::DieOfUnfinishedTask();
  }
  return task.TakeResult();
}

// Starts all tasks, in order, and waits for all; results in the order of the tasks.
template <typename T>
  requires(!std::is_void_v<T>)
Task<std::vector<T>> WhenAll(std::vector<Task<T>> tasks) {
  co_await internal::VectorAllAwaiter<T>(tasks);
  std::vector<T> results;
  results.reserve(tasks.size());
  for (Task<T>& task : tasks) results.push_back(task.TakeResult());
  co_return results;
}

// As above, for tasks without a result.
inline Task<void> WhenAll(std::vector<Task<void>> tasks) {
  co_await internal::VectorAllAwaiter<void>(tasks);
  for (Task<void>& task : tasks) task.TakeResult();
}

// As above, for tasks of different types.
template <typename... Ts>
  requires(sizeof...(Ts) > 0 && (!std::is_void_v<Ts> && ...))
Task<std::tuple<Ts...>> WhenAll(Task<Ts>... tasks) {
  std::tuple<Task<Ts>...> owned(std::move(tasks)...);
  co_await internal::TupleAllAwaiter<Ts...>(owned);
  co_return std::apply([](auto&... task) { return std::tuple<Ts...>(task.TakeResult()...); },
                       owned);
}

// What WhenAny gives: which task ended first, and its result.
template <typename T>
struct FirstResult {
  size_t index;
  T value;
};

// Starts the tasks in order and waits for the first to end; the others are cancelled (destroyed
// where they stand). Tasks behind one that ended at once are never started. `tasks` must not be
// empty.
template <typename T>
  requires(!std::is_void_v<T>)
Task<FirstResult<T>> WhenAny(std::vector<Task<T>> tasks) {
  size_t index = co_await internal::AnyAwaiter<T>(tasks);
  FirstResult<T> first{index, tasks[index].TakeResult()};
  tasks.clear();
  co_return first;
}

// As above, for tasks without a result: gives the index.
inline Task<size_t> WhenAny(std::vector<Task<void>> tasks) {
  size_t index = co_await internal::AnyAwaiter<void>(tasks);
  tasks[index].TakeResult();
  tasks.clear();
  co_return index;
}

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_RUN_H_
