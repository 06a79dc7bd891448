// CommandLatencies: a histogram of latencies and the errors of each command, from a CommandHook.
//
//   redis::CommandLatencies latencies;
//   hooks.command = latencies.hook();
//   ...
//   for (const auto& [name, figures] : latencies.Snapshot()) {
//     Print(name, figures.latency.count(), figures.latency.QuantileMicros(0.99));
//   }
//
// net/metrics_text.h writes a snapshot as Prometheus reads it. A pipeline or transaction is one
// entry, under the name of RequestName. The latency is measured from the submission of the request
// to its end, waits, redirections and retries included.
//
// Uses 2 KiB for each name. After `max_names` names, requests with other names are counted as
// "OTHER", so that a caller who invents names costs no memory.
//
// Thread-safety: any thread; one object may serve several clients.
#ifndef REDOUBLE_BACKENDS_REDIS_OBSERVE_COMMAND_LATENCIES_H_
#define REDOUBLE_BACKENDS_REDIS_OBSERVE_COMMAND_LATENCIES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/observe/command_event.h"

namespace redouble::inline v0_1::redis {

// The figures of one name.
struct CommandFigures {
  LatencyHistogram latency;
  std::map<std::string, uint64_t> errors;  // By ErrorOf; successes are not among them.
  uint64_t redirects = 0;
};

class CommandLatencies {
 public:
  static constexpr size_t kDefaultMaxNames = 512;

  explicit CommandLatencies(size_t max_names = kDefaultMaxNames) : max_names_(max_names) {}
  CommandLatencies(const CommandLatencies&) = delete;
  CommandLatencies& operator=(const CommandLatencies&) = delete;

  // The hook for a client. This object must outlive the client.
  CommandHook hook();

  // The figures so far, by name. O(names).
  std::map<std::string, CommandFigures> Snapshot() const;

 private:
  void Record(const CommandEvent& event);

  const size_t max_names_;
  mutable std::mutex mutex_;
  std::map<std::string, CommandFigures> figures_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_OBSERVE_COMMAND_LATENCIES_H_
