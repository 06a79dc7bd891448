// AwaitTask: awaits a base::Task in a Boost.Asio coroutine. AsyncTask is an asynchronous operation
// of Asio for callers that are no coroutines. SpawnTask runs a task without a waiter.
//
//   boost::asio::awaitable<void> Handle(redis::Client& client) {
//     absl::StatusOr<int64_t> n = co_await redis::AwaitTask(store::Incr(client, "visits"));
//   }
//   redis::SpawnTask(context.get_executor(), Work(client));
//
//   std::future<absl::StatusOr<int64_t>> n =
//       redis::AsyncTask(executor, store::Incr(client, "visits"), boost::asio::use_future);
//   redis::AsyncTask(executor, store::Incr(client, "visits"),
//                    [](absl::StatusOr<int64_t> n) { ... });
//
// Cancellation: cancelling the Asio operation (a cancellation slot, the || of awaitable operators)
// destroys the task at its current await. The result is then Cancelled for a task of absl::Status
// or StatusOr. For any other type AwaitTask throws operation_aborted, as Asio's own operations do.
//
// Thread-safety: AwaitTaskOn serves a client on a strand. Otherwise the task must be resumed on the
// coroutine's executor, or on a context that its executor may be dispatched to; cancel from that
// executor.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_AWAIT_TASK_H_
#define REDOUBLE_BACKENDS_REDIS_NET_AWAIT_TASK_H_

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "redouble/core/base/task/task.h"

namespace redouble::inline v0_1::redis {

namespace internal {

// A coroutine that starts when it is resumed and frees itself at its end.
struct SelfOwned {
  struct promise_type {
    SelfOwned get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

// State shared by the end of a task and its cancellation; the first of the two sets `over`.
template <typename T>
struct Wait {
  explicit Wait(std::optional<base::Task<T>>& awaited) : task(awaited) {}

  std::optional<base::Task<T>>& task;  // Valid until `over`.
  std::coroutine_handle<> caller;
  bool over = false;
};

// Calls the handler of an Asio operation, at once if its executor allows it.
template <typename T, typename Handler>
SelfOwned CallHandler(std::shared_ptr<Wait<T>> wait, Handler handler) {
  wait->over = true;
  boost::asio::get_associated_cancellation_slot(handler).clear();
  boost::asio::dispatch(std::move(handler));
  co_return;
}

// Calls `handler` when the started `task` is done, or after destroying it when Asio cancels. The
// task is destroyed in a later turn, because the task itself may have caused the cancellation and
// must not be destroyed while it runs.
template <typename T, typename Handler>
void CallWhenDone(std::optional<base::Task<T>>& task, Handler handler) {
  auto wait = std::make_shared<Wait<T>>(task);
  const auto executor = boost::asio::get_associated_executor(handler);
  boost::asio::cancellation_slot slot = boost::asio::get_associated_cancellation_slot(handler);
  wait->caller = CallHandler(wait, std::move(handler)).handle;
  task->ResumeWhenDone(wait->caller);
  if (!slot.is_connected()) return;
  slot.assign([wait, executor](boost::asio::cancellation_type) {
    boost::asio::post(executor, [wait] {
      if (wait->over) return;
      wait->task.reset();
      wait->caller.resume();
    });
  });
}

}  // namespace internal

// Starts the task and waits for its result.
template <typename T>
boost::asio::awaitable<T> AwaitTask(base::Task<T> lazy_task) {
  std::optional<base::Task<T>> task(std::move(lazy_task));
  task->Start();
  if (!task->done()) {
    auto initiate = [&task](auto handler) { internal::CallWhenDone(task, std::move(handler)); };
    auto waiting = boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void()>(
        initiate, boost::asio::use_awaitable);
    co_await std::move(waiting);
  }
  if (!task) {
    if constexpr (std::is_constructible_v<T, absl::Status>) {
      co_return absl::CancelledError("the coroutine that awaited the task was cancelled");
    } else {
      throw boost::system::system_error(boost::asio::error::operation_aborted);
    }
  }
  co_return task->TakeResult();
}

// AwaitTask for a coroutine on another executor. The task runs on `executor`, which must be the
// executor of its client (a strand, if several threads run the context). The coroutine resumes on
// its own executor.
// Objects that the task refers to must be usable on `executor`.
template <typename T>
boost::asio::awaitable<T> AwaitTaskOn(boost::asio::any_io_executor executor, base::Task<T> task) {
  co_return co_await boost::asio::co_spawn(executor, AwaitTask(std::move(task)),
                                           boost::asio::use_awaitable);
}

// Runs a task on `executor`, which must be the executor of its client, and completes with its
// result: the signature is void(T). `token`: any completion token of Asio, such as a function,
// use_future, deferred or use_awaitable. The function is called on the token's associated executor,
// by default on `executor`. Cancellation as above; a cancelled task must return absl::Status or
// StatusOr, and exceptions of a task leave the run() of the execution context.
template <typename T, typename Token>
auto AsyncTask(boost::asio::any_io_executor executor, base::Task<T> task, Token&& token) {
  return boost::asio::async_initiate<Token, void(T)>(
      [executor](auto handler, base::Task<T> started) {
        const auto slot = boost::asio::get_associated_cancellation_slot(handler);
        auto target = boost::asio::prefer(boost::asio::get_associated_executor(handler, executor),
                                          boost::asio::execution::outstanding_work.tracked);
        auto complete = [target, handler = std::move(handler)](std::exception_ptr error,
                                                               T result) mutable {
          if (error) std::rethrow_exception(error);
          boost::asio::dispatch(
              target, [handler = std::move(handler), result = std::move(result)]() mutable {
                std::move(handler)(std::move(result));
              });
        };
        boost::asio::co_spawn(executor, AwaitTask(std::move(started)),
                              boost::asio::bind_cancellation_slot(slot, std::move(complete)));
      },
      token, std::move(task));
}

// Runs a task on the executor, from its next turn on, without a waiter. Exceptions of the task
// leave the run() of the execution context.
inline void SpawnTask(boost::asio::any_io_executor executor, base::Task<void> task) {
  boost::asio::co_spawn(executor, AwaitTask(std::move(task)), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
}

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_AWAIT_TASK_H_
