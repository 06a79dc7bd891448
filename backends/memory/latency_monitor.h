// LatencyMonitor: what took long, by the second, for each kind of event.
//
//   monitor.Add("command", now_s, 12);
//   monitor.Find("command")->worst_ms;     // 12
//
// It keeps the worst of each second, for the last 160 seconds in which there was one.
//
// Thread-safety: one thread.
// Source: Redis 7.0 LATENCY.
#ifndef REDOUBLE_BACKENDS_MEMORY_LATENCY_MONITOR_H_
#define REDOUBLE_BACKENDS_MEMORY_LATENCY_MONITOR_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

namespace redouble::memory {

class LatencyMonitor {
 public:
  struct Sample {
    int64_t at_s;
    int64_t latency_ms;
  };
  struct Event {
    std::deque<Sample> samples;  // Oldest first.
    int64_t worst_ms = 0;        // Of all time.
  };
  using Events = std::map<std::string, Event, std::less<>>;

  void Add(std::string_view event, int64_t at_s, int64_t latency_ms);
  // By name.
  const Events& events() const { return events_; }
  // Null when nothing of that kind took long.
  const Event* Find(std::string_view event) const;
  // True when there was something to forget.
  bool Reset(std::string_view event);
  // How many kinds of events were forgotten.
  size_t ResetAll();

 private:
  Events events_;
};

// The samples as LATENCY GRAPH draws them: a column each, four rows high, with its age below.
std::string DrawLatencies(std::string_view name, const LatencyMonitor::Event& event, int64_t now_s);

// What LATENCY DOCTOR says of all events.
struct DoctorSettings {
  int64_t threshold_ms = 0;
  int64_t slowlog_log_slower_than_us = 0;
};
std::string DiagnoseLatencies(const LatencyMonitor& monitor, const DoctorSettings& settings,
                              int64_t now_s);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_LATENCY_MONITOR_H_
