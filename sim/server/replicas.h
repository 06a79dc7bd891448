// Replicas: sends a served engine's keys and effects to replicas, as a redis-server that is a
// master does: PSYNC and SYNC, REPLCONF, WAIT, ROLE and INFO.
//
// A replica gets all keys as an RDB file, then every effect. One that comes back with an offset
// which the backlog still has gets the rest only. As in files of keys (rdb_key_file.h), the keys
// are copied at once and sent in a later turn of the event loop.
//
//   Replicas replicas(engine, run_id, log, sockets);
//   replicas.Upkeep();                      // Ten times a second.
//   replicas.Forget(session);               // Its connection is closed.
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 replication.c.
#ifndef REDOUBLE_SIM_SERVER_REPLICAS_H_
#define REDOUBLE_SIM_SERVER_REPLICAS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/propagation/effect.h"
#include "redouble/backends/memory/propagation/effect_writer.h"
#include "redouble/backends/memory/server/replication.h"
#include "redouble/sim/server/log.h"

namespace redouble::sim {

// Implemented by the server that owns the sockets.
class ReplicaSockets {
 public:
  virtual ~ReplicaSockets() = default;
  // Sends bytes that are no reply. Does nothing if the session has no socket any more.
  virtual void SendToReplica(int64_t session_id, std::string_view bytes) = 0;
  // The session's output is limited as that of a replica from now on.
  virtual void LimitReplica(int64_t session_id) = 0;
  virtual void BreakReplica(int64_t session_id) = 0;
  // Calls `task` in a later turn, after the reply of the present command.
  virtual void Later(std::function<void()> task) = 0;
};

class Replicas final : public memory::Replication, private memory::EffectSink {
 public:
  // `id` names the stream of effects. The others must outlive the object.
  Replicas(memory::Engine& engine, std::string id, const Log& log, ReplicaSockets& sockets);
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;
  ~Replicas() override;

  // Sends PING each repl-ping-replica-period, and breaks connections that have been silent for
  // repl-timeout.
  void Upkeep();
  // The session's connection is closed.
  void Forget(const memory::SessionCore& session);

  memory::ReplicationFigures figures() const override;
  int64_t Acknowledged(int64_t offset) const override;
  void Wait(memory::SessionCore& session, int64_t replicas, int64_t offset) override;
  void Describe(const memory::SessionCore& session, std::string_view option,
                std::string_view value) override;
  store::Reply Synchronize(memory::SessionCore& session, std::string_view id,
                           int64_t offset) override;
  void Acknowledge(const memory::SessionCore& session, int64_t offset) override;

 private:
  struct Replica {
    std::string address;     // ip-address, or that of the socket.
    int port = 0;            // listening-port
    bool follows = false;    // Since SYNC or PSYNC.
    bool is_online = false;  // It has been sent what it lacked.
    std::string held;        // The effects since it follows, until it is online.
    int64_t offset = 0;
    int64_t heard_at_s = 0;
  };
  struct Waiter {
    int64_t session_id;
    int64_t replicas;
    int64_t offset;
  };

  void OnEffects(std::span<const memory::Effect> effects, bool is_atomic) override;
  // Adds bytes to the stream.
  void Feed(std::string_view bytes);
  // Begins the stream with the first replica.
  void Begin();
  bool HasBacklogFrom(std::string_view id, int64_t offset) const;
  // Sends what the replica lacks, then what was held back.
  void BringOnline(int64_t session_id, const std::string& bytes);
  void ServeWaiters();
  std::string Parameter(std::string_view name) const;
  int64_t Number(std::string_view name) const;
  int64_t NowSeconds() const;
  void WriteLog(std::string_view text) const;

  memory::Engine& engine_;
  const std::string id_;
  const Log& log_;
  ReplicaSockets& sockets_;
  bool has_stream_ = false;
  memory::EffectWriter writer_{memory::EffectTargets::kReplicas};
  int64_t offset_ = 0;
  std::string backlog_;                  // The last bytes of the stream.
  size_t backlog_limit_ = 0;             // repl-backlog-size, as of the last Upkeep.
  std::map<int64_t, Replica> replicas_;  // By session id; also those that do not follow yet.
  std::vector<Waiter> waiters_;
  int64_t pinged_at_s_ = 0;
  memory::ReplicationFigures counts_;  // Of synchronizations.
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICAS_H_
