// ReplicaExit: when a client leaves a server that has become a read-only replica.
//
// After a failover the name of a server may lead to another one, while open connections stay at the
// old one, which answers READONLY to commands that write. New connections follow the name.
//
//   ReplicaExit exit(ReplicaExit::IntervalUs(options));
//   if (IsReadOnly(reply) && exit.Take(now_us)) CloseConnections();
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_REPLICA_EXIT_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_REPLICA_EXIT_H_

#include <cstdint>

#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::redis {

// Whether it is the reply of a replica to a command that writes.
bool IsReadOnly(const store::Reply& reply);

class ReplicaExit {
 public:
  explicit ReplicaExit(int64_t interval_us) : interval_us_(interval_us) {}

  // Options::backoff_cap for a server with a name; kNeverUs for an IP address and a Unix socket,
  // which lead nowhere else.
  static int64_t IntervalUs(const Options& options);

  // Returns whether to leave the server now: at most once in the interval, so that a client of a
  // replica on purpose keeps working, and never if it is kNeverUs.
  bool Take(int64_t now_us);

 private:
  const int64_t interval_us_;
  int64_t next_us_ = 0;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_REPLICA_EXIT_H_
