// Replication: the replicas of a server: WAIT, ROLE and INFO.
//
// An engine without a host has no replicas.
//
//   if (Replication* replication = host->replication()) figures = replication->figures();
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 replication.c.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_REPLICATION_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_REPLICATION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/store/reply.h"

namespace redouble::memory {

class SessionCore;

struct ReplicaFigures {
  std::string address;  // Without the port.
  int port = 0;         // Where the replica listens.
  bool is_online = false;
  int64_t offset = 0;  // What it has acknowledged.
  int64_t lag_s = 0;   // Since its last acknowledgement.
};

struct ReplicationFigures {
  std::string id = std::string(40, '0');  // Of the stream of effects.
  int64_t offset = 0;                     // Bytes of the stream so far.
  // The bytes of the stream that are kept for replicas that come back.
  bool has_backlog = false;
  int64_t backlog_offset = 0;  // Of the first byte.
  int64_t backlog_length = 0;
  std::vector<ReplicaFigures> replicas = {};
  // Synchronizations: full, partial, and partial ones that were refused.
  int64_t full_syncs = 0;
  int64_t partial_syncs = 0;
  int64_t refused_partial_syncs = 0;
};

class Replication {
 public:
  virtual ~Replication() = default;

  virtual ReplicationFigures figures() const = 0;
  // REPLCONF listening-port, ip-address or capa, with a valid value.
  virtual void Describe(const SessionCore& session, std::string_view option,
                        std::string_view value) = 0;
  // PSYNC: the session becomes a replica, which has the stream `id` up to `offset`. Returns the
  // reply, after which it receives all keys as an RDB file or the rest of the stream, and then
  // every effect. SYNC has no id and no reply.
  virtual store::Reply Synchronize(SessionCore& session, std::string_view id, int64_t offset) = 0;
  // REPLCONF ACK of a replica.
  virtual void Acknowledge(const SessionCore& session, int64_t offset) = 0;
  // How many replicas have acknowledged this offset.
  virtual int64_t Acknowledged(int64_t offset) const = 0;
  // A session has blocked in WAIT: EngineCore::EndWait gives it the number of replicas as soon as
  // `replicas` of them have acknowledged `offset`. Asks the replicas for their offsets.
  virtual void Wait(SessionCore& session, int64_t replicas, int64_t offset) = 0;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_REPLICATION_H_
