// Replication: the replicas of a server and the master that it follows: REPLICAOF, PSYNC, WAIT,
// FAILOVER, ROLE and INFO.
//
// An engine without a host has no replicas and follows no master.
//
//   if (Replication* replication = host->replication()) figures = replication->figures();
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 replication.c.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_REPLICATION_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_REPLICATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/server/save_progress.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

class SessionCore;

struct ReplicaFigures {
  enum class State : uint8_t {
    kWaitsForFile,  // The file of keys is to be written, or is being written.
    kTakesFile,
    kOnline,
  };

  std::string address;  // Without the port.
  int port = 0;         // Where the replica listens.
  State state = State::kWaitsForFile;
  int64_t offset = 0;  // What it has acknowledged.
  int64_t lag_s = 0;   // Since its last acknowledgement.

  bool is_online() const { return state == State::kOnline; }
};
// As INFO has it: "wait_bgsave", "send_bulk", "online".
std::string_view TextOf(ReplicaFigures::State state);

// The master that a server follows.
struct MasterFigures {
  enum class Link : uint8_t { kConnect, kConnecting, kHandshake, kSync, kConnected };

  std::string host;
  int port = 0;
  Link link = Link::kConnect;
  int64_t read_offset = 1;  // Bytes of the stream that have arrived.
  int64_t offset = 1;       // Those that have been executed.
  int64_t silent_s = -1;    // Since the last byte; -1: not connected.
  int64_t down_s = -1;      // Since the link was lost; -1: there was none yet.
  int64_t file_bytes = 0;   // Link::kSync: the size of the file of keys; 0: not known.
  int64_t file_read_bytes = 0;
};

enum class FailoverState : uint8_t { kNone, kWaitsForReplica, kInProgress };

struct ReplicationFigures {
  std::string id = std::string(40, '0');  // Of the stream of effects.
  int64_t offset = 0;                     // Bytes of the stream so far.
  // The id that the stream had before the server took over from a master, and the first offset that
  // the stream of that name does not have; -1: there was none.
  std::string former_id = std::string(40, '0');
  int64_t former_end = -1;
  std::optional<MasterFigures> master = {};
  FailoverState failover = FailoverState::kNone;
  // The bytes of the stream that are kept for replicas that come back.
  bool has_backlog = false;
  int64_t backlog_offset = 0;  // Of the first byte.
  int64_t backlog_length = 0;
  std::vector<ReplicaFigures> replicas = {};
  bool is_saving = false;
  SaveProgress progress = {};
};

// FAILOVER: the replica that takes over; without a host, the first one that has the whole stream.
struct FailoverOptions {
  std::string host = {};
  int port = 0;
  std::optional<int64_t> timeout_ms = {};
  bool is_forced = false;  // After the timeout it takes over without the rest of the stream.
};

// The commands that change who follows whom: REPLICAOF, FAILOVER, PSYNC and REPLCONF.
class ReplicationControl {
 public:
  virtual ~ReplicationControl() = default;

  // REPLICAOF: the server becomes a replica, after which its engine obeys the master. Clients that
  // are blocked get an error.
  virtual void Follow(std::string_view host, int port) = 0;
  // REPLICAOF NO ONE: the server becomes a master and keeps its keys. Does nothing if it is one.
  virtual void FollowNobody() = 0;
  // FAILOVER: lets a replica take over as soon as it has the whole stream, and follows it then.
  // Until then writes wait. Requires a master without a failover under way, and replicas.
  virtual void BeginFailover(const FailoverOptions& options) = 0;
  virtual void AbortFailover() = 0;
  // DEBUG CHANGE-REPL-ID: the stream goes on under a new id, which no replica has.
  virtual void ChangeId() = 0;
  // An option of REPLCONF with a valid value, for example listening-port.
  virtual void Describe(const SessionCore& session, std::string_view option,
                        std::string_view value) = 0;
  // PSYNC: the session becomes a replica, which has the stream `id` up to `offset`. It gets its
  // answer, all keys as an RDB file or the rest of the stream, and then every effect, and there is
  // no reply, unless an error is returned. SYNC has no id and no answer.
  virtual store::Reply Synchronize(SessionCore& session, std::string_view id,
                                   std::string_view offset) = 0;
  // REPLCONF ACK of a replica.
  virtual void Acknowledge(const SessionCore& session, int64_t offset) = 0;
};

class Replication {
 public:
  // What is at the other end of a session.
  enum class Peer : uint8_t { kClient, kReplica, kMaster };

  virtual ~Replication() = default;

  virtual ReplicationFigures figures() const = 0;
  virtual Peer PeerOf(const SessionCore& session) const = 0;
  // Null: the host decides who follows whom, and refuses the commands that would.
  virtual ReplicationControl* control() { return nullptr; }
  // True if the server follows a master, and the link to it is down.
  virtual bool link_is_down() const = 0;
  // How many replicas have been heard of within min-replicas-max-lag.
  virtual int64_t good_replicas() const = 0;
  // Whether keys are being written for replicas.
  virtual bool is_saving() const { return false; }
  // All keys have been removed: replicas that are being sent the former ones begin again.
  virtual void NoteFlush() {}
  // The offset of the stream after the session's last command.
  virtual int64_t OffsetOf(const SessionCore& session) const = 0;
  // How many replicas have acknowledged this offset.
  virtual int64_t Acknowledged(int64_t offset) const = 0;
  // A session has blocked in WAIT: EngineCore::EndWait gives it the number of replicas as soon as
  // `replicas` of them have acknowledged `offset` (replication/replica_waits.h). Asks the replicas
  // for their offsets.
  virtual void Wait(SessionCore& session, int64_t replicas, int64_t offset) = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_REPLICATION_H_
