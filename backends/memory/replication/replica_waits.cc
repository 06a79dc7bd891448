#include "redouble/backends/memory/replication/replica_waits.h"

#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

using store::Reply;

void ReplicaWaits::Add(const SessionCore& session, int64_t replicas, int64_t offset) {
  std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.session_id == session.id(); });
  waiters_.push_back({.session_id = session.id(), .replicas = replicas, .offset = offset});
}

void ReplicaWaits::Serve(EngineCore& core, absl::FunctionRef<int64_t(int64_t)> acknowledged) {
  const auto is_done = [&](const Waiter& waiter) {
    const auto& sessions = core.administration().sessions();
    const auto found = sessions.find(waiter.session_id);
    // It has timed out, and may be blocked by another command.
    if (found == sessions.end() || !found->second->blocked()) return true;
    SessionCore& session = *found->second;
    if (!session.blocked_operation().keys.empty()) return true;
    const int64_t count = acknowledged(waiter.offset);
    if (count < waiter.replicas) {
      session.SetTimedOutReply(Reply::Integer(count));
      return false;
    }
    core.EndWait(session, Reply::Integer(count), Administration::WaitEnd::kServed,
                 core.administration().Now());
    return true;
  };
  std::erase_if(waiters_, is_done);
}

}  // namespace redouble::inline v0_1::memory
