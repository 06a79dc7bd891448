// Replicas: sends a served engine's keys and its stream of effects to replicas, as redis-server
// does: PSYNC and SYNC, REPLCONF and WAIT.
//
// A replica gets all keys as an RDB file, then the stream. One that comes back with an offset which
// the stream still has gets the rest only. As in files of keys (rdb_key_file.h), the keys are
// written to a temporary file in parts, which is then sent in parts, in later turns of the event
// loop.
//
// A master's stream is the effects of its commands. A server that follows a master itself passes on
// that master's stream, byte by byte, and none of its own effects.
//
//   Replicas replicas(engine, stream, log, sockets, followed_db);
//   replicas.Upkeep();                      // Ten times a second.
//   replicas.Forget(session);               // Its connection is closed.
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 replication.c.
#ifndef REDOUBLE_SIM_SERVER_REPLICATION_REPLICAS_H_
#define REDOUBLE_SIM_SERVER_REPLICATION_REPLICAS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/propagation/effect.h"
#include "redouble/backends/memory/propagation/effect_writer.h"
#include "redouble/backends/memory/server/replication.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/sim/server/process/log.h"
#include "redouble/sim/server/process/temporary_file.h"
#include "redouble/sim/server/replication/replication_stream.h"

namespace redouble::inline v0_1::sim {

// Implemented by the server that owns the sockets.
class ReplicaSockets {
 public:
  virtual ~ReplicaSockets() = default;
  // Sends bytes that are no reply. Does nothing if the session has no socket any more.
  virtual void SendToReplica(int64_t session_id, std::string_view bytes) = 0;
  // From now on the session's output buffer has the limits of a replica.
  virtual void LimitReplica(int64_t session_id) = 0;
  virtual void BreakReplica(int64_t session_id) = 0;
  // The offset of the stream after the session's last command; 0 if it has no socket.
  virtual int64_t OffsetOf(int64_t session_id) const = 0;
  // Calls `task` in a later turn, when all bytes for the session have been sent; never if the
  // session has no socket any more.
  virtual void WhenSent(int64_t session_id, std::function<void()> task) = 0;
  // Calls `task` in a later turn, after the reply of the present command.
  virtual void Later(std::function<void()> task) = 0;
  // The same, but after commands that have arrived.
  virtual void InBackground(std::function<void()> task) = 0;
};

class Replicas final : private memory::EffectSink {
 public:
  // The database that the master's stream has selected, if the server follows a master.
  using FollowedDatabase = std::function<std::optional<int>()>;

  // All but the last must outlive the object.
  Replicas(memory::Engine& engine, ReplicationStream& stream, const Log& log,
           ReplicaSockets& sockets, FollowedDatabase followed_db);
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;
  ~Replicas();

  // Sends PING each repl-ping-replica-period, and breaks connections that for repl-timeout have
  // been silent or, while the keys are sent, have read nothing.
  void Upkeep();
  // The session's connection is closed.
  void Forget(const memory::SessionCore& session);

  // As the functions of memory::Replication.
  void Describe(const memory::SessionCore& session, std::string_view option,
                std::string_view value);
  store::Reply Synchronize(memory::SessionCore& session, std::string_view id, int64_t offset);
  void Acknowledge(const memory::SessionCore& session, int64_t offset);
  int64_t Acknowledged(int64_t offset) const;
  void Wait(memory::SessionCore& session, int64_t replicas, int64_t offset);
  int64_t good_replicas() const;

  // Whether the session has asked for the stream.
  bool Has(const memory::SessionCore& session) const;
  // Adds the figures of the replicas and of the synchronizations.
  void Describe(memory::ReplicationFigures& figures) const;
  // Adds bytes to the stream, and sends them.
  void Feed(std::string_view bytes);
  // Asks the replicas for their offsets.
  void AskForOffsets();
  // Keeps the stream from here on, and takes up the effects of commands.
  void Begin();
  // Closes the connections of all replicas. They come back and learn the stream's new name.
  void BreakAll();
  // The next effect names its database again.
  void ForgetDatabase() { writer_.ForgetDatabase(); }

 private:
  struct Replica {
    std::string address;     // ip-address, or that of the socket.
    int port = 0;            // listening-port
    bool follows = false;    // Since SYNC or PSYNC.
    bool is_online = false;  // It has been sent what it lacked.
    std::string held;        // The effects since it follows, until it is online.
    int64_t offset = 0;
    int64_t heard_at_s = 0;
    int64_t comforted_at_s = 0;  // The last sign of life while its file is written.
  };
  // What a replica gets first.
  struct KeysFile {
    KeysFile(memory::Engine& engine, memory::RdbSaveOptions options,
             std::unique_ptr<TemporaryFile> to)
        : keys(memory::BeginSavingRdb(engine, std::move(options))), file(std::move(to)) {}

    const std::unique_ptr<memory::KeysSave> keys;
    const std::shared_ptr<TemporaryFile> file;
  };
  struct Waiter {
    int64_t session_id;
    int64_t replicas;
    int64_t offset;
  };

  void OnEffects(std::span<const memory::Effect> effects, bool is_atomic) override;
  // Begins a file of all keys as they are now, as a replica receives them. Errors: those of the
  // file system.
  absl::StatusOr<std::shared_ptr<KeysFile>> BeginFile();
  // Writes the next part of the file; sends it when it is whole.
  void ContinueFile(int64_t session_id, const std::shared_ptr<KeysFile>& file);
  // Sends the next part of the file; after it, what was held back.
  void SendFile(int64_t session_id, const std::shared_ptr<TemporaryFile>& file);
  void BreakSilent();
  // Forgets the stream when there has been no replica for repl-backlog-ttl.
  void EndIdleStream();
  // Sends what the replica lacks, then what was held back.
  void BringOnline(int64_t session_id, const std::string& bytes);
  void ServeWaiters();
  std::string Parameter(std::string_view name) const;
  int64_t Number(std::string_view name) const;
  int64_t NowSeconds() const;
  void WriteLog(std::string_view text) const;

  memory::Engine& engine_;
  ReplicationStream& stream_;
  const Log& log_;
  ReplicaSockets& sockets_;
  const FollowedDatabase followed_db_;
  bool takes_effects_ = false;
  memory::EffectWriter writer_{memory::EffectTargets::kReplicas};
  std::map<int64_t, Replica> replicas_;  // By session id; also those that do not follow yet.
  std::vector<Waiter> waiters_;
  int64_t pinged_at_s_ = 0;
  int64_t alone_since_s_ = 0;          // Since when there is no replica.
  memory::ReplicationFigures counts_;  // Of synchronizations.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICATION_REPLICAS_H_
