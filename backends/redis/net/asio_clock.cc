#include "redouble/backends/redis/net/asio_clock.h"

#include <boost/asio/system_timer.hpp>
#include <coroutine>
#include <memory>

#include "absl/time/clock.h"
#include "redouble/core/base/task/resume.h"

namespace redouble::inline v0_1::redis {
namespace {

// Awaits a timer. The state outlives the awaiter, because the handler of the timer may already be
// queued when the sleeping task is destroyed.
class TimerAwaiter {
 public:
  TimerAwaiter(const boost::asio::any_io_executor& executor, absl::Time deadline)
      : state_(std::make_shared<State>(executor)) {
    state_->timer.expires_at(std::chrono::time_point_cast<std::chrono::system_clock::duration>(
        absl::ToChronoTime(deadline)));
  }
  ~TimerAwaiter() {
    state_->awaiting = {};
    state_->timer.cancel();
  }
  TimerAwaiter(const TimerAwaiter&) = delete;
  TimerAwaiter& operator=(const TimerAwaiter&) = delete;

  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    state_->awaiting = awaiting;
    state_->timer.async_wait([state = state_](const boost::system::error_code&) {
      if (state->awaiting) base::Resume(state->awaiting);
    });
  }
  void await_resume() {}

 private:
  struct State {
    explicit State(const boost::asio::any_io_executor& executor) : timer(executor) {}
    boost::asio::system_timer timer;
    std::coroutine_handle<> awaiting;
  };

  const std::shared_ptr<State> state_;
};

}  // namespace

int64_t AsioClock::NowMicros() const { return absl::GetCurrentTimeNanos() / 1000; }

base::Task<void> AsioClock::SleepUntil(absl::Time deadline) {
  while (Now() < deadline) co_await TimerAwaiter(executor_, deadline);
}

}  // namespace redouble::inline v0_1::redis
