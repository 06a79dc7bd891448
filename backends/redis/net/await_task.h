// base::Task in the world of Boost.Asio's coroutines: awaiting one, and running one by itself.
//
//   boost::asio::awaitable<void> Handle(redis::Client& client) {
//     absl::StatusOr<int64_t> n = co_await redis::AwaitTask(store::Incr(client, "visits"));
//   }
//   redis::SpawnTask(context.get_executor(), Work(client));
//
// Cancellation: Asio's (a cancellation slot, the || of awaitable operators) destroys the task at
// the await where it stands. The result is then Cancelled for a task of absl::Status or StatusOr;
// for any other type Asio's own exception, operation_aborted, as its other operations throw.
//
// Thread-safety: AwaitTaskOn for a client on a strand. Otherwise the task must be resumed on the
// coroutine's executor or a context that its executor may be dispatched to; cancel from that
// executor.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_AWAIT_TASK_H_
#define REDOUBLE_BACKENDS_REDIS_NET_AWAIT_TASK_H_

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "core/base/task.h"

namespace redouble::redis {

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

// What the end of a task and its cancellation share: whichever comes first.
template <typename T>
struct Wait {
  explicit Wait(std::optional<base::Task<T>>& task) : task(task) {}

  std::optional<base::Task<T>>& task;  // Good until `over`.
  std::coroutine_handle<> caller;
  bool over = false;
};

// Calls the handler of an Asio operation, at once if its executor allows.
template <typename T, typename Handler>
SelfOwned CallHandler(std::shared_ptr<Wait<T>> wait, Handler handler) {
  wait->over = true;
  boost::asio::get_associated_cancellation_slot(handler).clear();
  boost::asio::dispatch(std::move(handler));
  co_return;
}

// Calls `handler` when the started `task` is done, or when Asio cancels: then `task` is emptied.
// That happens in a turn of its own, because what cancels may have been set off by the task itself,
// which must not be destroyed while it runs.
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

// AwaitTask for a coroutine that runs elsewhere: the task runs on `executor`, which is that of the
// client it uses (a strand, when several threads run the context), and the coroutine goes on where
// it was. What the task refers to must be good on `executor`.
template <typename T>
boost::asio::awaitable<T> AwaitTaskOn(boost::asio::any_io_executor executor, base::Task<T> task) {
  co_return co_await boost::asio::co_spawn(executor, AwaitTask(std::move(task)),
                                           boost::asio::use_awaitable);
}

// Runs a task on the executor, from its next turn on, with nobody waiting for it. What it throws
// comes out of the execution context's run().
inline void SpawnTask(boost::asio::any_io_executor executor, base::Task<void> task) {
  boost::asio::co_spawn(executor, AwaitTask(std::move(task)), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
}

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_AWAIT_TASK_H_
