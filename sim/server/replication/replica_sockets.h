// ReplicaSockets: the connections of a server's replicas, and its turns, as replication uses them.
//
//   sockets.SendToReplica(session_id, bytes);
//   sockets.WhenSent(session_id, [&] { SendNext(); });
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_REPLICATION_REPLICA_SOCKETS_H_
#define REDOUBLE_SIM_SERVER_REPLICATION_REPLICA_SOCKETS_H_

#include <cstdint>
#include <functional>
#include <string_view>

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
  // The same for a part of a long job, which passes on its next part: that one is called after
  // commands that have arrived, and after rdb-key-save-delay.
  virtual void InBackground(std::function<void()> task) = 0;
  // The same with key-load-delay, for work that changes the keys as a master's commands do.
  virtual void LoadInBackground(std::function<void()> task) = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICATION_REPLICA_SOCKETS_H_
