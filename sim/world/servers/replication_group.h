// ReplicationGroup: a master of a world and its replicas.
//
// The effects of the master's commands are a stream (backends/memory/propagation/effect.h). A
// replica applies it one unit at a time, whenever the world says so: what one command, or one
// transaction, changed. Until then its readers see older data. WAIT on the master ends when enough
// replicas have applied what its client wrote. A replica can become the master (Promote). Writes
// that it has not applied are lost, and the other servers follow it.
//
//   ReplicationGroup group(master);
//   group.Add(replica);
//   ...                                     // Commands run on the master.
//   while (group.Lag(replica) > 0) group.Apply(replica);
//   group.Promote(replica);
//
// A replica acknowledges what it has applied at once. Servers do not change roles by commands:
// REPLICAOF, FAILOVER, PSYNC and SYNC get an error.
//
// Thread-safety: one thread. No function may be called from within a command of a server.
// Source: Redis 7.0 replication: https://redis.io/docs/management/replication/.
#ifndef REDOUBLE_SIM_WORLD_SERVERS_REPLICATION_GROUP_H_
#define REDOUBLE_SIM_WORLD_SERVERS_REPLICATION_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/propagation/effect.h"
#include "redouble/backends/memory/propagation/effect_writer.h"
#include "redouble/backends/memory/replication/replica_waits.h"
#include "redouble/sim/world/servers/world_server.h"

namespace redouble::inline v0_1::sim {

class ReplicationGroup final : private memory::EffectSink {
 public:
  // All servers of the group must outlive it.
  explicit ReplicationGroup(WorldServer& master);
  ~ReplicationGroup();
  ReplicationGroup(const ReplicationGroup&) = delete;
  ReplicationGroup& operator=(const ReplicationGroup&) = delete;

  // Adds a replica, which gets all keys of the master at once.
  void Add(WorldServer& replica);

  // Calls `listener` when the stream gets a further unit. Replaces the previous one.
  void SetListener(std::function<void()> listener) { listener_ = std::move(listener); }

  WorldServer& master();
  bool Has(const WorldServer& server) const { return Find(server) != nullptr; }
  // How many units of the stream the server has not applied: 0 unless it is a replica of the group.
  size_t Lag(const WorldServer& server) const;
  // Lets the replica apply the next unit. Its lag must not be 0.
  void Apply(const WorldServer& replica);
  // Makes the replica the master. The units that it has not applied are lost. A server that had
  // applied one of them, as the former master had, gets all keys of the new one.
  void Promote(const WorldServer& replica);

  // For WAIT, which waits for the writes before it. The first function is called with the session
  // whose request runs, and with nullopt after it; the second one when a request has ended. Both
  // are for sessions of the master.
  void SetRunning(std::optional<int64_t> session_id) { running_ = session_id; }
  void NoteOffset(int64_t session_id) { session_offsets_[session_id] = EndOffset(); }

 private:
  class Member;
  // A part of the stream that replicas apply as one.
  struct Unit {
    std::string bytes;  // Commands in the protocol.
    int64_t end;        // The offset of the stream after it, in bytes.
  };

  void OnEffects(std::span<const memory::Effect> effects, bool is_atomic) override;
  Member* Find(const WorldServer& server) const;
  int64_t EndOffset() const { return units_.empty() ? begin_ : units_.back().end; }
  // The first unit that ends after the offset.
  std::deque<Unit>::const_iterator UnitAfter(int64_t offset) const;
  void Lead(Member& member);
  void CopyKeys(Member& to);
  void ForgetApplied();
  int64_t Acknowledged(int64_t offset) const;

  std::function<void()> listener_;
  std::vector<std::unique_ptr<Member>> members_;  // In the order of adding.
  Member* master_ = nullptr;
  memory::EffectWriter writer_{memory::EffectTargets::kReplicas};
  std::deque<Unit> units_;  // Those that a replica has not applied.
  int64_t begin_ = 0;       // The offset of the stream before them.
  memory::ReplicaWaits waits_;
  std::optional<int64_t> running_;              // The session whose request runs.
  std::map<int64_t, int64_t> session_offsets_;  // Of the master, by session id.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_SERVERS_REPLICATION_GROUP_H_
