// LatencyMonitor: the latency samples of LATENCY, for each kind of event.
//
//   monitor.Add("command", now_s, 12);
//   monitor.Find("command")->worst_ms;     // 12
//
// It keeps the worst sample of each second, for the last 160 seconds that have one.
//
// Thread-safety: one thread.
// Source: Redis 7.0 LATENCY.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_LATENCY_MONITOR_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_LATENCY_MONITOR_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::memory {

class LatencyMonitor {
 public:
  struct Sample {
    int64_t at_s;
    int64_t latency_ms;
  };
  struct Event {
    std::deque<Sample> samples;  // Oldest first.
    int64_t worst_ms = 0;        // Since the start or the reset.
  };
  using Events = std::map<std::string, Event, std::less<>>;

  void Add(std::string_view event, int64_t at_s, int64_t latency_ms);
  // By name.
  const Events& events() const { return events_; }
  // Returns null if there are no samples of that event.
  const Event* Find(std::string_view event) const;
  // Returns false if there was no such event.
  bool Reset(std::string_view event);
  // Returns the number of events that were removed.
  size_t ResetAll();

 private:
  Events events_;
};

// The graph of LATENCY GRAPH: one column for each sample, four rows high, with its age below.
std::string DrawLatencies(std::string_view name, const LatencyMonitor::Event& event, int64_t now_s);

// The report of LATENCY DOCTOR.
struct DoctorSettings {
  int64_t threshold_ms = 0;
  int64_t slowlog_log_slower_than_us = 0;
  // The words of the report depend on the version.
  store::Version version = store::Version::kRedis70;
};
std::string DiagnoseLatencies(const LatencyMonitor& monitor, const DoctorSettings& settings,
                              int64_t now_s);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_LATENCY_MONITOR_H_
