// AsioClock: the wall clock of the operating system, with waits that do not block the event loop.
//
// Use it for components that take a base::Clock and run on live Redis.
//
//   redis::AsioClock clock(context.get_executor());
//   co_await clock.Sleep(absl::Seconds(1));  // Other coroutines run in the meantime.
//
// If the wall clock is set, pending sleeps follow it: they end when it shows their deadline.
//
// Thread-safety: NowMicros() from any thread; tasks on the executor, one thread or strand at a
// time, where they are resumed.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_ASIO_CLOCK_H_
#define REDOUBLE_BACKENDS_REDIS_NET_ASIO_CLOCK_H_

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <utility>

#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"

namespace redouble::inline v0_1::redis {

class AsioClock final : public base::Clock {
 public:
  explicit AsioClock(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  int64_t NowMicros() const override;
  base::Task<void> SleepUntil(absl::Time deadline) override;

 private:
  const boost::asio::any_io_executor executor_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_ASIO_CLOCK_H_
