#include "redouble/sim/server/engine_time.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "boost/system/error_code.hpp"
#include "redouble/sim/server/snapshot.h"

namespace redouble::inline v0_1::sim {

EngineTime::EngineTime(boost::asio::io_context& context, memory::Engine& engine,
                       base::VirtualClock& clock, std::function<void()> on_timer)
    : engine_(engine), clock_(clock), on_timer_(std::move(on_timer)), timer_(context) {}

void EngineTime::Advance() {
  const int64_t now_us = system_clock_.NowMicros();
  if (now_us > clock_.NowMicros()) {
    clock_.AdvanceToMicros(now_us);
  } else if (now_us < clock_.NowMicros()) {
    Snapshot::Take(engine_).RestoreAt(now_us, engine_);
    armed_us_.reset();
  }
}

void EngineTime::Arm() {
  const std::optional<int64_t> next_us = clock_.NextTimerMicros();
  if (!next_us || (armed_us_ && *armed_us_ <= *next_us)) return;
  armed_us_ = next_us;
  const int64_t wait_us = std::max<int64_t>(*next_us - system_clock_.NowMicros(), 0);
  timer_.expires_after(std::chrono::microseconds(wait_us));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    armed_us_.reset();
    on_timer_();
  });
}

}  // namespace redouble::inline v0_1::sim
