#include "redouble/sim/server/process/deferred_tasks.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/system/error_code.hpp"

namespace redouble::inline v0_1::sim {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::microseconds;

// A delay that is shortened meanwhile ends after this time at the latest.
constexpr microseconds kLongestWait = std::chrono::milliseconds(100);

DeferredTasks::DeferredTasks(asio::io_context& context, std::function<void()> after_each,
                             std::function<microseconds()> part_delay)
    : context_(context), after_each_(std::move(after_each)), part_delay_(std::move(part_delay)) {}

void DeferredTasks::Later(std::function<void()> task) {
  ++pending_;
  asio::post(context_, [this, task = std::move(task)] {
    --pending_;
    task();
    after_each_();
  });
}

void DeferredTasks::InBackground(std::function<void()> task) {
  auto part = [this, task = std::move(task)] {
    in_background_ = true;
    task();
    in_background_ = false;
  };
  if (in_background_) {
    RunAfterDelay(std::move(part), microseconds(0));
  } else {
    Later(std::move(part));
  }
}

void DeferredTasks::RunAfterDelay(std::function<void()> part, microseconds waited) {
  const microseconds wait = std::clamp(part_delay_() - waited, microseconds(0), kLongestWait);
  if (wait.count() == 0) {
    asio::post(context_, [this, part = std::move(part)] {
      part();
      after_each_();
    });
    return;
  }
  const auto timer = std::make_shared<asio::steady_timer>(context_, wait);
  timer->async_wait(
      [this, timer, part = std::move(part), waited = waited + wait](const error_code& error) {
        if (!error) RunAfterDelay(part, waited);
      });
}

}  // namespace redouble::inline v0_1::sim
