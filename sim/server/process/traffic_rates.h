// TrafficRates: the rates of INFO: commands and bytes in the last second.
//
//   TrafficRates rates;
//   rates.Update(now_us, statistics, figures);   // Several times a second.
//
// Thread-safety: one thread.
// Source: Redis 7.0 INFO, "instantaneous_ops_per_sec".
#ifndef REDOUBLE_SIM_SERVER_PROCESS_TRAFFIC_RATES_H_
#define REDOUBLE_SIM_SERVER_PROCESS_TRAFFIC_RATES_H_

#include <algorithm>
#include <cstdint>

#include "redouble/backends/memory/server/host.h"
#include "redouble/backends/memory/server/statistics.h"

namespace redouble::inline v0_1::sim {

class TrafficRates {
 public:
  // Sets the rates of `figures` once a second, from the counters.
  void Update(int64_t now_us, const memory::Statistics& statistics,
              memory::ProcessFigures& figures) {
    const double seconds = static_cast<double>(now_us - at_us_) / 1e6;
    if (seconds < 1) return;
    const auto rate = [&](int64_t from, int64_t to) {
      return static_cast<double>(std::max<int64_t>(to - from, 0)) / seconds;
    };
    const memory::Traffic& traffic = statistics.traffic();
    figures.operations_per_second = rate(calls_, statistics.calls());
    figures.input_kilobytes_per_second = rate(input_bytes_, traffic.input_bytes) / 1024;
    figures.output_kilobytes_per_second = rate(output_bytes_, traffic.output_bytes) / 1024;
    at_us_ = now_us;
    calls_ = statistics.calls();
    input_bytes_ = traffic.input_bytes;
    output_bytes_ = traffic.output_bytes;
  }

 private:
  // The counters at the start of the last second.
  int64_t at_us_ = 0;
  int64_t calls_ = 0;
  int64_t input_bytes_ = 0;
  int64_t output_bytes_ = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_TRAFFIC_RATES_H_
