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

#include <cassert>
#include <coroutine>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/base/resume.h"
#include "core/base/task.h"

namespace redouble::base {

namespace internal {

// Says what went wrong on stderr and aborts.
[[noreturn]] void DieOfUnfinishedTask();

// Waits for all tasks of a vector or tuple. Whether one is done is asked only when all have been
// started: a task may finish an earlier one.
class AllAwaiter : private TaskGroup {
 public:
  template <typename T>
  explicit AllAwaiter(std::vector<Task<T>>& tasks) {
    for (Task<T>& task : tasks) task.Start();
    for (Task<T>& task : tasks) Watch(task);
  }
  template <typename... Ts>
  explicit AllAwaiter(std::tuple<Task<Ts>...>& tasks) {
    std::apply([](auto&... task) { (task.Start(), ...); }, tasks);
    std::apply([this](auto&... task) { (this->Watch(task), ...); }, tasks);
  }
  AllAwaiter(const AllAwaiter&) = delete;
  AllAwaiter& operator=(const AllAwaiter&) = delete;

  bool await_ready() const { return remaining_ == 0; }
  void await_suspend(std::coroutine_handle<> awaiting) { awaiting_ = awaiting; }
  void await_resume() {}

 private:
  template <typename T>
  void Watch(Task<T>& task) {
    if (task.done()) return;
    ++remaining_;
    task.JoinGroup(*this);
  }
  std::coroutine_handle<> OnTaskDone(const TaskPromiseBase&) noexcept override {
    return --remaining_ == 0 ? awaiting_ : std::noop_coroutine();
  }

  size_t remaining_ = 0;
  std::coroutine_handle<> awaiting_;
};

// Waits for the first of the tasks; gives its index.
template <typename T>
class AnyAwaiter : private TaskGroup {
 public:
  explicit AnyAwaiter(std::vector<Task<T>>& tasks) : tasks_(tasks) { assert(!tasks.empty()); }
  AnyAwaiter(const AnyAwaiter&) = delete;
  AnyAwaiter& operator=(const AnyAwaiter&) = delete;

  // Until a task has ended, its own step or a later one's may end it: all are looked at.
  bool await_ready() {
    for (size_t started = 0; started < tasks_.size() && !first_; ++started) {
      tasks_[started].Start();
      for (size_t i = 0; i <= started && !first_; ++i) {
        if (tasks_[i].done()) first_ = i;
      }
    }
    return first_.has_value();
  }
  void await_suspend(std::coroutine_handle<> awaiting) {
    awaiting_ = awaiting;
    for (Task<T>& task : tasks_) task.JoinGroup(*this);
  }
  size_t await_resume() const { return *first_; }

 private:
  // The losers are destroyed next, which they survive only while none of them is on the stack: one
  // may have ended this task from inside its own step.
  std::coroutine_handle<> OnTaskDone(const TaskPromiseBase& ended) noexcept override {
    if (first_) return std::noop_coroutine();
    first_ = 0;
    while (!tasks_[*first_].Is(ended)) ++*first_;
    return resumption_.Request(awaiting_);
  }

  std::vector<Task<T>>& tasks_;
  std::optional<size_t> first_;
  std::coroutine_handle<> awaiting_;
  DeferredResumption resumption_;
};

}  // namespace internal

// Runs a task that never has to wait for anybody, as on the memory engine, and returns its result.
// A task that does wait could never be resumed from here: the program is ended with a message that
// says so. Use RunUntilDone with a driver for those.
template <typename T>
T Run(Task<T> task) {
  const internal::RunScope scope;
  task.Start();
  if (!task.done()) internal::DieOfUnfinishedTask();
  return task.TakeResult();
}

// Runs a task that may wait: calls `step` until the task is done. `step` lets something happen (an
// event loop turn, the next timer of a virtual clock) and returns false when nothing is left to
// happen; the program is then ended as by Run.
template <typename T>
T RunUntilDone(Task<T> task, absl::FunctionRef<bool()> step) {
  const internal::RunScope scope;
  task.Start();
  while (!task.done()) {
    if (!step()) internal::DieOfUnfinishedTask();
  }
  return task.TakeResult();
}

// Starts all tasks, in order, and waits for all; results in the order of the tasks. When tasks
// threw, the first of them in that order is rethrown.
template <typename T>
  requires(!std::is_void_v<T>)
Task<std::vector<T>> WhenAll(std::vector<Task<T>> tasks) {
  co_await internal::AllAwaiter(tasks);
  std::vector<T> results;
  results.reserve(tasks.size());
  for (Task<T>& task : tasks) results.push_back(task.TakeResult());
  co_return results;
}

// As above, for tasks without a result.
inline Task<void> WhenAll(std::vector<Task<void>> tasks) {
  co_await internal::AllAwaiter(tasks);
  for (Task<void>& task : tasks) task.TakeResult();
}

// As above, for tasks of different types.
template <typename... Ts>
  requires(sizeof...(Ts) > 0 && (!std::is_void_v<Ts> && ...))
Task<std::tuple<Ts...>> WhenAll(Task<Ts>... tasks) {
  std::tuple<Task<Ts>...> owned(std::move(tasks)...);
  co_await internal::AllAwaiter(owned);
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
// where they stand). Tasks behind one that ended at once are never started. A task that ends
// because of another's step wins when that step is over. `tasks` must not be empty.
template <typename T>
  requires(!std::is_void_v<T>)
Task<FirstResult<T>> WhenAny(std::vector<Task<T>> tasks) {
  // A local's life ends with the race, a parameter's only with the task.
  std::vector<Task<T>> racers = std::move(tasks);
  const size_t index = co_await internal::AnyAwaiter<T>(racers);
  FirstResult<T> first{index, racers[index].TakeResult()};
  co_return first;
}

// As above, for tasks without a result: gives the index.
inline Task<size_t> WhenAny(std::vector<Task<void>> tasks) {
  std::vector<Task<void>> racers = std::move(tasks);
  const size_t index = co_await internal::AnyAwaiter<void>(racers);
  racers[index].TakeResult();
  co_return index;
}

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_RUN_H_
