// EngineTime: moves a served engine's clock along with the system clock, and wakes the server for
// the clock's next timer.
//
//   EngineTime time(context, engine, clock, [&] { time.Advance(); SendReplies(); time.Arm(); });
//   time.Advance();   // Before commands.
//   time.Arm();       // After them.
//
// Thread-safety: one thread, the one that runs the context.
#ifndef REDOUBLE_SIM_SERVER_ENGINE_TIME_H_
#define REDOUBLE_SIM_SERVER_ENGINE_TIME_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "boost/asio/io_context.hpp"
#include "boost/asio/steady_timer.hpp"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/time/system_clock.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::sim {

class EngineTime {
 public:
  // `on_timer` is called when the clock's next timer is due. `clock` is the engine's. All others
  // must outlive the object.
  EngineTime(boost::asio::io_context& context, memory::Engine& engine, base::VirtualClock& clock,
             std::function<void()> on_timer);

  // Runs the timers that are due. If the system clock was set back, keys keep their deadlines.
  void Advance();
  // Waits for the next timer.
  void Arm();

 private:
  memory::Engine& engine_;
  base::VirtualClock& clock_;
  const std::function<void()> on_timer_;
  base::SystemClock system_clock_;
  boost::asio::steady_timer timer_;
  std::optional<int64_t> armed_us_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_ENGINE_TIME_H_
