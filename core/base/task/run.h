// Runs tasks from plain functions, and combines several tasks into one.
//
// Run() is for tasks that never wait, as on the memory engine; RunUntilDone() is for tasks that
// need a clock or an event loop to make progress. WhenAll() and WhenAny() run tasks concurrently on
// one thread.
//
//   absl::StatusOr<int64_t> n = base::Run(store::Incr(store, "visits"));
//   absl::StatusOr<store::Reply> reply = base::Run(store.Execute(command));
//
//   std::vector<base::Task<absl::StatusOr<int64_t>>> both;
//   both.push_back(store::Incr(a, "x"));
//   both.push_back(store::Incr(b, "y"));
//   std::vector<absl::StatusOr<int64_t>> counts = co_await base::WhenAll(std::move(both));
//
// Thread-safety: as Task: a task and all that it awaits belong to one thread at a time.
#ifndef REDOUBLE_CORE_BASE_TASK_RUN_H_
#define REDOUBLE_CORE_BASE_TASK_RUN_H_

#include <cassert>
#include <coroutine>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "redouble/core/base/task/resume.h"
#include "redouble/core/base/task/task.h"

namespace redouble::inline v0_1::base {

namespace internal {

// Writes to stderr that the task cannot finish, and aborts.
[[noreturn]] void DieOfUnfinishedTask();

// Waits for all tasks of a vector or tuple. Checks which of them are done only after all have been
// started, because a task may finish an earlier one.
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

// Waits for the first task to end; its result is the index of that task.
template <typename T>
class AnyAwaiter : private TaskGroup {
 public:
  explicit AnyAwaiter(std::vector<Task<T>>& tasks) : tasks_(tasks) { assert(!tasks.empty()); }
  AnyAwaiter(const AnyAwaiter&) = delete;
  AnyAwaiter& operator=(const AnyAwaiter&) = delete;

  // A task may also be ended by the step of a later one, so that each start is followed by a look
  // at all started tasks.
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
  // WhenAny destroys the losers next. None of them may be on the stack then, and one is if it ended
  // this task from inside its own step; hence the deferred resumption.
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

// An object that can be awaited directly, such as the result of Store::Execute. A Task is none.
template <typename T>
concept Awaiter = requires(std::remove_reference_t<T>& awaiter) {
  awaiter.await_ready();
  awaiter.await_resume();
};

// Runs a task that never waits, as on the memory engine, and returns its result. Rethrows what the
// task threw.
//
// A task that waits could not be resumed from here, so that the program is then aborted with a
// message on stderr. Use RunUntilDone for such tasks.
template <typename T>
T Run(Task<T> task) {
  const internal::RunScope scope;
  task.Start();
  if (!task.done()) internal::DieOfUnfinishedTask();
  return task.TakeResult();
}

// Awaits `awaiter` as Run(Task) would and returns the result of the co_await.
template <Awaiter T>
auto Run(T&& awaiter) {
  using Result = decltype(awaiter.await_resume());
  return Run([](std::remove_reference_t<T>& awaited) -> Task<Result> {
    co_return co_await awaited;
  }(awaiter));
}

// Runs a task that may wait and returns its result. Calls `step` until the task is done: `step`
// lets something happen (a turn of an event loop, the next timer of a virtual clock) and returns
// false if nothing is left to happen. The program is then aborted as by Run.
template <typename T>
T RunUntilDone(Task<T> task, absl::FunctionRef<bool()> step) {
  const internal::RunScope scope;
  task.Start();
  while (!task.done()) {
    if (!step()) internal::DieOfUnfinishedTask();
  }
  return task.TakeResult();
}

// Starts all tasks in order, waits until all have ended, and returns their results in the order of
// the tasks. If tasks threw, rethrows the exception of the first of them in that order.
template <typename T>
  requires(!std::is_void_v<T>)
Task<std::vector<T>> WhenAll(std::vector<Task<T>> tasks) {
  co_await internal::AllAwaiter(tasks);
  std::vector<T> results;
  results.reserve(tasks.size());
  for (Task<T>& task : tasks) results.push_back(task.TakeResult());
  co_return results;
}

// The same for tasks without a result.
inline Task<void> WhenAll(std::vector<Task<void>> tasks) {
  co_await internal::AllAwaiter(tasks);
  for (Task<void>& task : tasks) task.TakeResult();
}

// The same for tasks of different types; returns a tuple.
template <typename... Ts>
  requires(sizeof...(Ts) > 0 && (!std::is_void_v<Ts> && ...))
Task<std::tuple<Ts...>> WhenAll(Task<Ts>... tasks) {
  std::tuple<Task<Ts>...> owned(std::move(tasks)...);
  co_await internal::AllAwaiter(owned);
  co_return std::apply([](auto&... task) { return std::tuple<Ts...>(task.TakeResult()...); },
                       owned);
}

// The result of WhenAny: the index of the task that ended first, and its result.
template <typename T>
struct FirstResult {
  size_t index;
  T value;
};

// Starts the tasks in order, waits for the first to end, and cancels the others: they are destroyed
// at the await where they are suspended. Tasks after one that ends at once are never started. If
// the step of one task ends another, the other wins once that step is over. `tasks` must not be
// empty.
template <typename T>
  requires(!std::is_void_v<T>)
Task<FirstResult<T>> WhenAny(std::vector<Task<T>> tasks) {
  // A local variable is destroyed when the race is over; a parameter would live until the caller
  // destroys the task.
  std::vector<Task<T>> racers = std::move(tasks);
  const size_t index = co_await internal::AnyAwaiter<T>(racers);
  FirstResult<T> first{index, racers[index].TakeResult()};
  co_return first;
}

// The same for tasks without a result; returns the index.
inline Task<size_t> WhenAny(std::vector<Task<void>> tasks) {
  std::vector<Task<void>> racers = std::move(tasks);
  const size_t index = co_await internal::AnyAwaiter<void>(racers);
  racers[index].TakeResult();
  co_return index;
}

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TASK_RUN_H_
