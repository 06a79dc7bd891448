// PushDelivery: hands the pushes of a queue to a listener, or to the coroutine that waits for them.
//
// Internal to the subscribers. `Source` is a machine with TakePush(), has_push() and closed().
//
//   PushDelivery<SubscribeMachine> delivery(machine);
//   delivery.Dispatch();                     // After each event that may have added pushes.
//   absl::StatusOr<PushEvent> event = co_await delivery.Next(state);
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_PUSH_DELIVERY_H_
#define REDOUBLE_BACKENDS_REDIS_NET_PUSH_DELIVERY_H_

#include <coroutine>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/subscribe/push_queue.h"
#include "redouble/core/base/task/resume.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/message_source.h"

namespace redouble::inline v0_1::redis {

template <typename Source>
class PushDelivery {
 public:
  // `source` must outlive the delivery.
  explicit PushDelivery(Source& source) : source_(source) {}

  // Null: pushes wait for Next() again.
  void set_listener(store::PushListener* listener) { listener_ = listener; }

  // Delivers what waits. The listener and the waiter may destroy the subscriber, so the caller
  // keeps the state alive that owns this object.
  void Dispatch() {
    while (listener_ != nullptr && source_.has_push()) {
      const std::optional<PushEvent> event = source_.TakePush();
      if (event->is_gap()) {
        listener_->OnGap();
      } else {
        listener_->OnPush(*event->push);
      }
    }
    if (waiter_ && (source_.has_push() || source_.closed())) {
      base::Resume(std::exchange(waiter_, {}));
    }
  }

  // Returns the next push or gap. At most one waiter at a time, and only without a listener.
  // `state` owns this object. Errors: Unavailable once the source is closed and no push waits.
  base::Task<absl::StatusOr<PushEvent>> Next(std::shared_ptr<void> state) {
    // The subscriber may be destroyed while this task waits.
    const std::shared_ptr<void> kept = std::move(state);
    co_await Awaiter(*this);
    std::optional<PushEvent> event = source_.TakePush();
    if (!event) co_return absl::UnavailableError("the subscriber is closed");
    co_return *std::move(event);
  }

 private:
  // Awaits a push or the end of the source.
  class Awaiter {
   public:
    explicit Awaiter(PushDelivery& delivery) : delivery_(delivery) {}
    ~Awaiter() {
      if (waiting_) delivery_.waiter_ = {};
    }
    Awaiter(const Awaiter&) = delete;
    Awaiter& operator=(const Awaiter&) = delete;

    bool await_ready() const { return delivery_.source_.has_push() || delivery_.source_.closed(); }
    void await_suspend(std::coroutine_handle<> awaiting) {
      waiting_ = true;
      delivery_.waiter_ = awaiting;
    }
    void await_resume() { waiting_ = false; }

   private:
    PushDelivery& delivery_;
    bool waiting_ = false;
  };

  Source& source_;
  store::PushListener* listener_ = nullptr;
  std::coroutine_handle<> waiter_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_PUSH_DELIVERY_H_
