// ReplicationNode: the replication of one server: its replicas, the master that it follows, and
// FAILOVER between them.
//
//   ReplicationNode node(engine, log, sockets, master_socket, new_id, on_loaded);
//   node.FollowAtStart();       // The master that `replicaof` names, if there is one.
//   node.Upkeep();              // Ten times a second.
//   node.EverySecond();
//   node.Forget(session);       // Its connection is closed.
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 replication.c.
#ifndef REDOUBLE_SIM_SERVER_REPLICATION_NODE_H_
#define REDOUBLE_SIM_SERVER_REPLICATION_NODE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/server/replication.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/sim/server/process/log.h"
#include "redouble/sim/server/replication/follower.h"
#include "redouble/sim/server/replication/master_socket.h"
#include "redouble/sim/server/replication/replicas.h"
#include "redouble/sim/server/replication/replication_stream.h"

namespace redouble::inline v0_1::sim {

class ReplicationNode final : public memory::Replication, public memory::ReplicationControl {
 public:
  // `new_id` makes names of streams. `on_loaded` is called when a master's keys have replaced the
  // engine's. The others must outlive the object.
  ReplicationNode(memory::Engine& engine, const Log& log, ReplicaSockets& sockets,
                  MasterSocket& master_socket, std::function<std::string()> new_id,
                  std::function<void()> on_loaded);
  ReplicationNode(const ReplicationNode&) = delete;
  ReplicationNode& operator=(const ReplicationNode&) = delete;

  // The stream as a file of keys has it, for Resume; nullopt if no other server knows it.
  std::optional<memory::RdbSaveOptions::Stream> StreamToSave() const;
  // The keys are those of this moment of a stream, on which the server goes on, if `will_follow`,
  // as the replica that it was. Otherwise its own stream begins there.
  void Resume(const memory::RdbSaveOptions::Stream& stream, bool will_follow);
  // Follows the master that the parameter `replicaof` names.
  void FollowAtStart();
  void Upkeep();
  void EverySecond() { follower_.EverySecond(); }
  // The session's connection is closed.
  void Forget(const memory::SessionCore& session) { replicas_.Forget(session); }
  // Another client closed the session.
  void OnDisconnect(const memory::SessionCore& session);
  int64_t offset() const { return stream_.offset(); }
  // Whether all replicas have acknowledged the whole stream. True if there are none.
  bool replicas_have_all() const { return replicas_.have_all(); }
  void AskForOffsets() { replicas_.AskForOffsets(); }
  void NoteSignOfLife(const memory::SessionCore& session) { replicas_.NoteSignOfLife(session); }
  // A replica's command has got a reply, which it must not get.
  void RefuseReply(const memory::SessionCore& session, store::CommandId id,
                   const store::Reply& reply) {
    replicas_.RefuseReply(session, id, reply);
  }
  // The address of the master, if the session executes its commands.
  std::optional<std::string> MasterAddress(const memory::SessionCore& session) const;

  memory::ReplicationFigures figures() const override;
  ReplicationControl* control() override { return this; }
  Peer PeerOf(const memory::SessionCore& session) const override;
  void Follow(std::string_view host, int port) override;
  void FollowNobody() override;
  bool link_is_down() const override { return follower_.follows() && !follower_.is_connected(); }
  int64_t good_replicas() const override { return replicas_.good_replicas(); }
  void BeginFailover(const memory::FailoverOptions& options) override;
  void AbortFailover() override;
  void ChangeId() override;
  bool is_saving() const override { return replicas_.writes_keys(); }
  void NoteFlush() override { replicas_.NoteFlush(); }
  void Describe(const memory::SessionCore& session, std::string_view option,
                std::string_view value) override {
    replicas_.Describe(session, option, value);
  }
  store::Reply Synchronize(memory::SessionCore& session, std::string_view id,
                           std::string_view offset) override {
    return replicas_.Synchronize(session, id, offset);
  }
  void Acknowledge(const memory::SessionCore& session, int64_t offset) override {
    replicas_.Acknowledge(session, offset);
  }
  int64_t OffsetOf(const memory::SessionCore& session) const override {
    return sockets_.OffsetOf(session.id());
  }
  int64_t Acknowledged(int64_t offset) const override { return replicas_.Acknowledged(offset); }
  void Wait(memory::SessionCore& session, int64_t replicas, int64_t offset) override {
    replicas_.Wait(session, replicas, offset);
  }

 private:
  struct Failover {
    memory::FailoverOptions options;
    std::optional<int64_t> deadline_ms;
    bool in_progress = false;
  };

  // What REPLICAOF does to the clients and to CONFIG.
  void BecomeReplica(const std::string& host, int port);
  void KeepParameter(std::string value);
  void CheckFailover();
  // The replica that may take over now: one that has the whole stream.
  std::optional<memory::ReplicaFigures> ReadyReplica() const;
  void HandOver(const std::string& host, int port);
  // The server goes on as a master.
  void CancelFailover(std::string_view reason);
  void EndFailover();
  void WriteLog(LogLevel level, std::string_view text) const;

  memory::Engine& engine_;
  const Log& log_;
  ReplicaSockets& sockets_;
  ReplicationStream stream_;
  Replicas replicas_;
  Follower follower_;
  std::optional<Failover> failover_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICATION_NODE_H_
