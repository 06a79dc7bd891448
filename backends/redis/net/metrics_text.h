// MetricsText: the counters of clients in the text format that Prometheus reads.
//
//   redis::MetricsText metrics;
//   metrics.Add({{"client", "orders"}}, client->counters());
//   metrics.Add({{"client", "catalogue"}}, cluster->traffic());
//   metrics.Add({{"client", "catalogue"}}, cluster->counters());
//   metrics.Add({{"client", "sessions"}}, pool->counters());
//   metrics.Add({{"client", "catalogue"}}, latencies.Snapshot());  // command_latencies.h
//   http_response.body = metrics.Text();  // Content-Type: text/plain; version=0.0.4
//
//   # TYPE redouble_redis_requests_total counter
//   redouble_redis_requests_total{client="orders"} 812
//   redouble_redis_requests_total{client="catalogue"} 30
//
// The names are those of the members in counters.h, cluster_machine.h, sentinel_machine.h and
// pool_counters.h. The latency is a histogram in seconds: redouble_redis_request_duration_seconds.
// The figures of CommandLatencies have the label "command":
// redouble_redis_command_duration_seconds, redouble_redis_command_errors_total (with the label
// "error"), ..._command_redirects_total.
//
// Thread-safety: one thread at a time. Counters are read on their client's executor.
// Source: Prometheus, "Exposition formats", text format 0.0.4.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_METRICS_TEXT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_METRICS_TEXT_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/observe/command_latencies.h"

namespace redouble::inline v0_1::redis {

struct ClusterCounters;
struct PoolCounters;
struct SentinelCounters;

class MetricsText {
 public:
  // Names and values. A name has letters, digits and "_", and does not begin with a digit; this is
  // asserted. A value may have any bytes. Clients need different labels.
  using Labels = std::vector<std::pair<std::string, std::string>>;

  void Add(const Labels& labels, const Counters& counters);
  void Add(const Labels& labels, const ClusterCounters& counters);
  void Add(const Labels& labels, const SentinelCounters& counters);
  void Add(const Labels& labels, const PoolCounters& counters);
  void Add(const Labels& labels, const std::map<std::string, CommandFigures>& commands);

  // All that was added, by metric, in the order of the first Add.
  std::string Text() const;

 private:
  struct Metric {
    std::string name;
    std::string_view type;
    std::string lines;
  };

  template <typename T, size_t kSize>
  void AddFigures(std::string_view prefix, const std::string& labels,
                  const Figure<T> (&figures)[kSize], const T& counters);
  void AddHistogram(const std::string& name, const std::string& labels,
                    const LatencyHistogram& latency);
  // The lines of the metric, which is added if it is new.
  std::string& LinesOf(std::string name, std::string_view type);

  std::vector<Metric> metrics_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_METRICS_TEXT_H_
