#include "redouble/core/store/wrappers/intercepting_store.h"

#include <coroutine>
#include <exception>
#include <utility>

namespace redouble::inline v0_1::store {
namespace {

using Interception = base::Task<absl::StatusOr<Reply>>;

// A coroutine without an owner: its frame is freed when it ends or when Keeper destroys it.
struct Detached {
  struct promise_type {
    Detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
  };
};

// Waits for the end of a started interception, and is destroyed if the request is abandoned.
class Keeper final : private RequestKeeper {
 public:
  Keeper(Interception& interception, Request& request)
      : interception_(interception), request_(request) {}
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    waiting_ = waiting;
    interception_.ResumeWhenDone(waiting);
    request_.SetKeeper(this);
  }
  absl::StatusOr<Reply> await_resume() { return interception_.TakeResult(); }

 private:
  void Abandon(Request&) override { waiting_.destroy(); }

  Interception& interception_;
  Request& request_;
  std::coroutine_handle<> waiting_;
};

Detached CompleteLater(Interception pending, Request& request) {
  absl::StatusOr<Reply> result;
  {
    // A local variable, so that the interception is destroyed before the caller is resumed.
    Interception interception = std::move(pending);
    result = co_await Keeper(interception, request);
  }
  request.Complete(std::move(result));
}

}  // namespace

void InterceptingStore::Submit(Request& request) {
  if (!Intercepts(request)) return ForwardingStore::Submit(request);
  Interception interception = Intercept(request);
  interception.Start();
  if (interception.done()) return request.Complete(interception.TakeResult());
  CompleteLater(std::move(interception), request);
}

}  // namespace redouble::inline v0_1::store
