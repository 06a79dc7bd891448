// PoolCounters: what a SyncPool has done since it was made, and its connections now. They show
// whether the pool is large enough: calls that wait, and calls that wait in vain.
//
//   metrics.Add({{"client", "sessions"}}, pool->counters());  // net/metrics_text.h
//
// Thread-safety: plain values.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_POOL_COUNTERS_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_POOL_COUNTERS_H_

#include <cstdint>

namespace redouble::inline v0_1::redis {

struct PoolCounters {
  uint64_t borrows = 0;        // Calls and leases that got a connection.
  uint64_t waits = 0;          // Those that had to wait for one.
  uint64_t timeouts = 0;       // Those that waited in vain.
  uint64_t opened = 0;         // Connections.
  uint64_t open_failures = 0;  // Failed attempts to open one.
  uint64_t dead = 0;           // Connections that were found dead before their use.
  uint64_t expired = 0;        // Connections that were closed for their age or idle time.
  // Connections that were closed because their user left a state in them, or the server is left.
  uint64_t discarded = 0;
  uint64_t borrowed = 0;  // Connections in use now.
  uint64_t idle = 0;      // Idle connections now.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_POOL_COUNTERS_H_
