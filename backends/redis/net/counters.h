// What a connection has done so far.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_COUNTERS_H_
#define REDOUBLE_BACKENDS_REDIS_NET_COUNTERS_H_

#include <cstdint>

namespace redouble::redis {

struct Counters {
  uint64_t requests = 0;  // Submitted: commands and batches.
  uint64_t writes = 0;    // System calls that wrote something.
  uint64_t reads = 0;     // System calls that read something.
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_COUNTERS_H_
