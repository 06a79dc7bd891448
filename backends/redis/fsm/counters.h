// Counters: the activity of a client so far, for metrics.
//
//   const Counters& counters = client->counters();
//   Export("redis_requests_total", counters.requests);
//   Export("redis_latency_p99_us", counters.latency.QuantileMicros(0.99));
//
// net/metrics_text.h writes them as Prometheus reads them.
//
// Counting costs a few additions per request and one reading of the clock per turn of the event
// loop, and does not allocate. All values only grow, except in_flight.
//
// For a client of several servers the values are sums over its connections; a request that was sent
// in parts counts once for each part.
//
// Thread-safety: read them on the client's executor; copy them to use them elsewhere.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_COUNTERS_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_COUNTERS_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace redouble::inline v0_1::redis {

// A histogram of latencies with four buckets per power of two. A quantile is at most 25% above the
// true value. Latencies are whole microseconds, rounded down. Uses 2 KiB and does not allocate.
class LatencyHistogram {
 public:
  // A negative latency counts as 0.
  void Record(int64_t latency_us) {
    const auto latency = static_cast<uint64_t>(std::max<int64_t>(latency_us, 0));
    ++buckets_[IndexOf(latency)];
    ++count_;
    sum_us_ += latency;
  }

  // Adds all latencies recorded by `other`.
  void Add(const LatencyHistogram& other) {
    count_ += other.count_;
    sum_us_ += other.sum_us_;
    for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  }

  uint64_t count() const { return count_; }
  uint64_t sum_us() const { return sum_us_; }
  // The number of latencies below 2^exponent microseconds. O(buckets).
  uint64_t CountBelow(int exponent) const {
    uint64_t seen = 0;
    for (size_t i = 0; i < buckets_.size() && UpperBound(i) < (int64_t{1} << exponent); ++i) {
      seen += buckets_[i];
    }
    return seen;
  }

  // Returns an upper bound of the given quantile (0 to 1) of the recorded latencies; 0 if nothing
  // was recorded. O(buckets).
  int64_t QuantileMicros(double quantile) const {
    const double wanted = quantile * static_cast<double>(count_);
    uint64_t seen = 0;
    for (size_t i = 0; i < buckets_.size() && count_ > 0; ++i) {
      seen += buckets_[i];
      if (buckets_[i] > 0 && static_cast<double>(seen) >= wanted) return UpperBound(i);
    }
    return 0;
  }

 private:
  // 0 to 3 have a bucket each. Above that, the highest bit and the two bits after it select the
  // bucket.
  static size_t IndexOf(uint64_t value) {
    if (value < 4) return value;
    const size_t width = static_cast<size_t>(std::bit_width(value));
    return 4 * (width - 2) + ((value >> (width - 3)) & 3);
  }
  static int64_t UpperBound(size_t index) {
    if (index < 4) return static_cast<int64_t>(index);
    const size_t shift = index / 4 - 1;
    return static_cast<int64_t>(((4 + index % 4 + 1) << shift) - 1);
  }

  uint64_t count_ = 0;
  uint64_t sum_us_ = 0;
  std::array<uint64_t, 252> buckets_ = {};
};

struct Counters {
  uint64_t requests = 0;         // Submitted requests: commands and batches.
  uint64_t commands = 0;         // Commands in these requests.
  uint64_t in_flight = 0;        // Requests that have no result yet.
  uint64_t answered = 0;         // Requests that Redis answered, error replies included.
  uint64_t read_only = 0;        // READONLY errors: the server is a replica.
  uint64_t not_sent = 0;         // Requests that failed before their first byte was written.
  uint64_t outcome_unknown = 0;  // Requests that failed after that.
  uint64_t timeouts = 0;         // Failed requests whose time limit was exceeded.
  uint64_t retries = 0;          // Requests kept for the next connection (Options::retry).
  uint64_t abandoned = 0;        // Requests whose waiter was destroyed.

  uint64_t writes = 0;  // System calls that wrote bytes.
  uint64_t reads = 0;   // System calls that read bytes.
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;

  uint64_t connects = 0;          // Established connections, the first included.
  uint64_t connect_failures = 0;  // Failed attempts.
  uint64_t losses = 0;            // Lost connections.
  uint64_t pings = 0;             // Health checks.
  // AUTH commands with new credentials on open connections (credential_source.h).
  uint64_t reauthentications = 0;
  uint64_t tls_resumptions = 0;  // Connections that resumed an earlier TLS session.

  uint64_t pushes = 0;          // Messages and confirmations of subscriptions; pushes of RESP3.
  uint64_t pushes_dropped = 0;  // Pushes that were dropped because the queue was full.

  // With Options::cache_bytes.
  uint64_t cache_hits = 0;    // Requests that were answered from the cache.
  uint64_t cache_misses = 0;  // Requests that could have been.
  uint64_t cache_invalidations =
      0;                         // Keys that the server has invalidated; all of them count as 1.
  uint64_t cache_evictions = 0;  // Replies that were dropped because the cache was full.

  // From the end of the turn in which a request was submitted to its last reply.
  LatencyHistogram latency;

  // Adds the values of another client.
  void Add(const Counters& other);
};

// A member of a struct of counters.
template <typename T>
struct Figure {
  uint64_t T::*value;
  std::string_view name;  // The name of the member.
  bool only_grows = true;
};

// All figures of Counters besides the histogram, in the order of their declaration.
inline constexpr Figure<Counters> kCounterFigures[] = {
    {&Counters::requests, "requests"},
    {&Counters::commands, "commands"},
    {&Counters::in_flight, "in_flight", /*only_grows=*/false},
    {&Counters::answered, "answered"},
    {&Counters::read_only, "read_only"},
    {&Counters::not_sent, "not_sent"},
    {&Counters::outcome_unknown, "outcome_unknown"},
    {&Counters::timeouts, "timeouts"},
    {&Counters::retries, "retries"},
    {&Counters::abandoned, "abandoned"},
    {&Counters::writes, "writes"},
    {&Counters::reads, "reads"},
    {&Counters::bytes_written, "bytes_written"},
    {&Counters::bytes_read, "bytes_read"},
    {&Counters::connects, "connects"},
    {&Counters::connect_failures, "connect_failures"},
    {&Counters::losses, "losses"},
    {&Counters::pings, "pings"},
    {&Counters::reauthentications, "reauthentications"},
    {&Counters::tls_resumptions, "tls_resumptions"},
    {&Counters::pushes, "pushes"},
    {&Counters::pushes_dropped, "pushes_dropped"},
    {&Counters::cache_hits, "cache_hits"},
    {&Counters::cache_misses, "cache_misses"},
    {&Counters::cache_invalidations, "cache_invalidations"},
    {&Counters::cache_evictions, "cache_evictions"},
};
static_assert(sizeof(Counters) ==
                  std::size(kCounterFigures) * sizeof(uint64_t) + sizeof(LatencyHistogram),
              "kCounterFigures has every figure");

// Sums figure by figure.
inline void Counters::Add(const Counters& other) {
  for (const Figure<Counters>& figure : kCounterFigures) this->*figure.value += other.*figure.value;
  latency.Add(other.latency);
}

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_COUNTERS_H_
