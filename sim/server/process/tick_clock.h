// TickClock: microseconds from the processor's time stamp counter, at a quarter of the cost of a
// system call.
//
// A server measures how long each command takes; for small commands in a pipeline, reading the
// system clock takes a seventh of the time. Redis reads the counter as well if it is built for
// that.
//
//   TickClock clock;
//   clock.Calibrate(SteadyMicros(), ReadTicks());   // periodically
//   if (clock.calibrated()) now_us = clock.MicrosAt(ReadTicks());
//
// The clock runs at the rate measured since the first calibration, and each calibration corrects it
// to the reference clock. It never goes back.
//
// Thread-safety: one thread. Source: Redis 7.0 monotonic.c.
#ifndef REDOUBLE_SIM_SERVER_PROCESS_TICK_CLOCK_H_
#define REDOUBLE_SIM_SERVER_PROCESS_TICK_CLOCK_H_

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace redouble::inline v0_1::sim {

// The operating system's monotonic clock.
inline int64_t SteadyMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Returns the time stamp counter; 0 on processors that are not supported.
inline uint64_t ReadTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

// Returns true if the counter has a constant rate that is the same for all processors: the
// operating system uses it as its own clock source.
bool TicksAreSteady();

class TickClock {
 public:
  // Reports the reference time at a count. Neither may be less than in the previous call.
  void Calibrate(int64_t now_us, uint64_t ticks) {
    if (!started_) {
      started_ = true;
      first_us_ = now_us;
      first_ticks_ = ticks;
      return;
    }
    // The interval is long enough for the cost of reading the clocks to be negligible.
    if (now_us - first_us_ < kShortestMicros || ticks == first_ticks_) return;
    const int64_t anchor_us = calibrated() ? std::max(now_us, MicrosAt(ticks)) : now_us;
    micros_per_tick_ =
        static_cast<double>(now_us - first_us_) / static_cast<double>(ticks - first_ticks_);
    anchor_us_ = anchor_us;
    anchor_ticks_ = ticks;
  }

  // False until two calibrations were far enough apart.
  bool calibrated() const { return micros_per_tick_ > 0; }
  // Requires calibrated() and a count that is not before the last calibration's.
  int64_t MicrosAt(uint64_t ticks) const {
    return anchor_us_ +
           static_cast<int64_t>(static_cast<double>(ticks - anchor_ticks_) * micros_per_tick_);
  }

 private:
  static constexpr int64_t kShortestMicros = 50'000;

  bool started_ = false;
  int64_t first_us_ = 0;
  uint64_t first_ticks_ = 0;
  double micros_per_tick_ = 0;
  int64_t anchor_us_ = 0;
  uint64_t anchor_ticks_ = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_TICK_CLOCK_H_
