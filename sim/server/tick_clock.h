// TickClock: microseconds from the processor's counter of ticks, which costs a quarter of asking
// the system.
//
// Why it exists: a server measures how long each command takes; with small commands in a pipeline,
// the question costs a seventh of the answer. Redis reads the counter too, where it is built so.
//
//   TickClock clock;
//   clock.Calibrate(SteadyMicros(), ReadTicks());   // now and then
//   if (clock.calibrated()) now_us = clock.MicrosAt(ReadTicks());
//
// Its time goes on from the first calibration's, at the rate that it has seen since then, and is
// brought up to the calibrating clock's again with each; it never goes back.
//
// Thread-safety: one thread.
// Source: Redis 7.0 monotonic.c.
#ifndef REDOUBLE_SIM_SERVER_TICK_CLOCK_H_
#define REDOUBLE_SIM_SERVER_TICK_CLOCK_H_

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <algorithm>
#include <cstdint>

namespace redouble::sim {

// The processor's counter; 0 where there is none that this knows.
inline uint64_t ReadTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

// The counter's rate never changes and is the same for all processors: the system itself takes its
// time from it.
bool TicksAreSteady();

class TickClock {
 public:
  // Tells what time it is at a count. Neither may be less than it was the last time.
  void Calibrate(int64_t now_us, uint64_t ticks) {
    if (!started_) {
      started_ = true;
      first_us_ = now_us;
      first_ticks_ = ticks;
      return;
    }
    // Over so long that the time of asking does not count.
    if (now_us - first_us_ < kShortestMicros || ticks == first_ticks_) return;
    const int64_t anchor_us = calibrated() ? std::max(now_us, MicrosAt(ticks)) : now_us;
    micros_per_tick_ =
        static_cast<double>(now_us - first_us_) / static_cast<double>(ticks - first_ticks_);
    anchor_us_ = anchor_us;
    anchor_ticks_ = ticks;
  }

  // False until two calibrations have lain far enough apart.
  bool calibrated() const { return micros_per_tick_ > 0; }
  // Only when calibrated(), for a count that is not before the last calibration's.
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

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_TICK_CLOCK_H_
