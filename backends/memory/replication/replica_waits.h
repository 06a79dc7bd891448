// ReplicaWaits: the clients that WAIT has blocked, and what each of them waits for.
//
//   waits.Add(session, /*replicas=*/2, offset);   // Replication::Wait
//   waits.Serve(engine.core(), [&](int64_t offset) { return Acknowledged(offset); });
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 WAIT.
#ifndef REDOUBLE_BACKENDS_MEMORY_REPLICATION_REPLICA_WAITS_H_
#define REDOUBLE_BACKENDS_MEMORY_REPLICATION_REPLICA_WAITS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_core.h"

namespace redouble::inline v0_1::memory {

class ReplicaWaits {
 public:
  // The session waits until `replicas` of them have acknowledged `offset`.
  void Add(const SessionCore& session, int64_t replicas, int64_t offset);

  // Ends the waits of those whose replicas have acknowledged, and tells the others what their reply
  // would be at their timeout. `acknowledged` returns how many replicas have acknowledged an
  // offset. The replies are sent by EngineCore::DeliverPending.
  void Serve(EngineCore& core, absl::FunctionRef<int64_t(int64_t offset)> acknowledged);

 private:
  struct Waiter {
    int64_t session_id;
    int64_t replicas;
    int64_t offset;
  };

  std::vector<Waiter> waiters_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_REPLICATION_REPLICA_WAITS_H_
