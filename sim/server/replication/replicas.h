// Replicas: sends a served engine's keys and its stream of effects to replicas, as redis-server
// does: PSYNC and SYNC, REPLCONF and WAIT.
//
// A replica gets all keys as an RDB file (full_sync.h), then the stream. One that comes back with
// an offset which the stream still has gets the rest only. One file is written at a time: replicas
// that ask meanwhile share it if they can, and otherwise wait for the next one.
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

#include "absl/status/status.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/propagation/effect.h"
#include "redouble/backends/memory/propagation/effect_writer.h"
#include "redouble/backends/memory/replication/replica_waits.h"
#include "redouble/backends/memory/server/replication.h"
#include "redouble/backends/memory/server/statistics.h"
#include "redouble/sim/server/process/log.h"
#include "redouble/sim/server/replication/full_sync.h"
#include "redouble/sim/server/replication/replica_sockets.h"
#include "redouble/sim/server/replication/replication_stream.h"

namespace redouble::inline v0_1::sim {

class Replicas final : private memory::EffectSink, private FullSync::Listener {
 public:
  // The database that the master's stream has selected, if the server follows a master.
  using FollowedDatabase = std::function<std::optional<int>()>;

  // All but the last must outlive the object.
  Replicas(memory::Engine& engine, ReplicationStream& stream, const Log& log,
           ReplicaSockets& sockets, FollowedDatabase followed_db);
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;
  ~Replicas();

  // Sends PING each repl-ping-replica-period, breaks connections that for repl-timeout have been
  // silent or, while the keys are sent, have read nothing, and begins to write keys for those that
  // have waited for repl-diskless-sync-delay.
  void Upkeep();
  // The session's connection is closed.
  void Forget(const memory::SessionCore& session);

  // As the functions of memory::Replication.
  void Describe(const memory::SessionCore& session, std::string_view option,
                std::string_view value);
  store::Reply Synchronize(memory::SessionCore& session, std::string_view id,
                           std::string_view offset);
  void Acknowledge(const memory::SessionCore& session, int64_t offset);
  int64_t Acknowledged(int64_t offset) const;
  void Wait(const memory::SessionCore& session, int64_t replicas, int64_t offset);
  int64_t good_replicas() const;

  // Whether the session has asked for the stream.
  bool Has(const memory::SessionCore& session) const;
  // Whether all replicas have acknowledged the whole stream. True if there are none.
  bool have_all() const;
  // Whether keys are being written for a replica.
  bool writes_keys() const { return writing_ != nullptr; }
  // All keys have been removed: those that wait for the former ones begin again.
  void NoteFlush();
  // The replica is busy, and has sent an empty line.
  void NoteSignOfLife(const memory::SessionCore& session);
  // A replica's command has got a reply, which would spoil the stream: breaks the connection.
  void RefuseReply(const memory::SessionCore& session, store::CommandId id,
                   const store::Reply& reply);
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
  // The database that the stream has selected; 0 before it has selected one.
  int db() const { return writer_.db().value_or(0); }
  // The next effect names its database again.
  void ForgetDatabase() { writer_.ForgetDatabase(); }

 private:
  // What a replica gets first: REPLCONF rdb-filter-only.
  struct Wanted {
    bool keys = true;
    bool libraries = true;
    friend bool operator==(const Wanted&, const Wanted&) = default;
  };
  using State = memory::ReplicaFigures::State;
  struct Replica {
    std::string address;          // ip-address, or that of the socket.
    int port = 0;                 // listening-port
    bool takes_streams = false;   // capa eof
    bool takes_only_rdb = false;  // rdb-only
    Wanted wanted;
    bool follows = false;       // Since SYNC or PSYNC.
    bool acknowledges = false;  // It has used PSYNC.
    State state = State::kWaitsForFile;
    std::shared_ptr<FullSync> sync = nullptr;  // Null before it begins, and when it has ended.
    bool awaits_ack = false;                   // It gets the stream after its next acknowledgement.
    // The offset of the first byte of the stream that it needs, until it gets the stream.
    std::optional<int64_t> needs = std::nullopt;
    int64_t offset = 0;
    int64_t asked_at_s = 0;
    int64_t heard_at_s = 0;
    int64_t comforted_at_s = 0;  // The last sign of life before it gets the keys.

    bool waits_for_start() const { return follows && state == State::kWaitsForFile && !sync; }
    bool gets_stream() const { return state == State::kOnline && !awaits_ack; }
  };

  void OnEffects(std::span<const memory::Effect> effects, bool is_atomic) override;
  // FullSync::Listener
  void OnWritten(FullSync& sync) override;
  void OnFailed(FullSync& sync, const absl::Status& status) override;
  void OnRead(int64_t session_id) override;
  void OnSent(int64_t session_id) override;

  // Continues the replica's stream at `offset`. Returns false if it cannot.
  bool Continue(int64_t session_id, Replica& replica, std::string_view id, int64_t offset);
  void ExplainRefusal(const Replica& replica, std::string_view id, int64_t offset) const;
  void WaitForKeys(int64_t session_id, Replica& replica);
  // Shares the file that is being written. Returns false if that is not possible.
  bool Join(int64_t session_id, Replica& replica);
  // Begins to write keys for those that wait, if it is time.
  void StartIfDue();
  void Start();
  // Applies repl-backlog-size.
  void LimitStream() { stream_.SetLimit(static_cast<size_t>(Number("repl-backlog-size"))); }
  // The keys that follow have this offset of the stream.
  void Announce(int64_t session_id, Replica& replica, const std::shared_ptr<FullSync>& sync);
  void StopWriting();
  // Sends what the replica lacks, then what was held back.
  void BringOnline(int64_t session_id, const std::string& bytes);
  void StartStream(int64_t session_id, Replica& replica);
  // Keeps as much of the stream as the replicas need that do not get it yet.
  void HoldStream();
  // Breaks those that need more of it than their output limit allows.
  void LimitWaiting();
  void Comfort();
  void BreakSilent();
  // Forgets the stream when there has been no replica for repl-backlog-ttl.
  void EndIdleStream();
  bool waits_in_real_time() const;
  static std::string NameOf(const Replica& replica);
  std::string Parameter(std::string_view name) const;
  int64_t Number(std::string_view name) const;
  int64_t NowSeconds() const;
  memory::Synchronizations& counts();
  void WriteLog(std::string_view text, LogLevel level = LogLevel::kNotice) const;

  memory::Engine& engine_;
  ReplicationStream& stream_;
  const Log& log_;
  ReplicaSockets& sockets_;
  const FollowedDatabase followed_db_;
  bool takes_effects_ = false;
  memory::EffectWriter writer_{memory::EffectTargets::kReplicas};
  std::map<int64_t, Replica> replicas_;  // By session id; also those that do not follow yet.
  std::shared_ptr<FullSync> writing_;    // While keys are written.
  memory::ReplicaWaits waits_;
  int64_t pinged_at_s_ = 0;
  int64_t alone_since_s_ = 0;  // Since when there is no replica.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICATION_REPLICAS_H_
