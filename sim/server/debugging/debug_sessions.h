// DebugSessions: the debugging sessions of the server's clients, on their sockets.
//
// A synchronous session runs in the server, which waits for the client meanwhile. A session apart
// runs in a forked process, as in Redis: it has a copy of the keys, writes to nothing but the
// socket of its client, and ends with _exit when the reply has been sent. The server closes its own
// side of that connection.
//
//   DebugSessions sessions({.socket_of = ..., .leave = ..., .descriptors = ..., .log = ...});
//   sessions.ExitIfEnded(client);  // Before anything of a client is sent.
//   sessions.Reap();               // Now and then.
//
// Thread-safety: one thread, and the process must not have others.
// Source: Redis 7.0 SCRIPT DEBUG.
#ifndef REDOUBLE_SIM_SERVER_DEBUGGING_DEBUG_SESSIONS_H_
#define REDOUBLE_SIM_SERVER_DEBUGGING_DEBUG_SESSIONS_H_

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/scripting/debugger/debug_host.h"
#include "redouble/sim/server/debugging/socket_channel.h"

namespace redouble::inline v0_1::sim {

class DebugSessions final : public memory::DebugHost {
 public:
  // What the sessions ask of the server.
  struct Place {
    // The socket of a session; negative if it has none.
    std::function<int(const memory::SessionCore& session)> socket_of;
    // Closes the connection of a session without another reply.
    std::function<void(const memory::SessionCore& session)> leave;
    // The sockets of all clients, and those on which the server listens.
    std::function<std::vector<int>()> descriptors;
    // Writes a warning to the log.
    std::function<void(std::string_view)> log;
  };

  explicit DebugSessions(Place place) : place_(std::move(place)) {}
  // Ends the processes of sessions that have not ended.
  ~DebugSessions() override;
  DebugSessions(const DebugSessions&) = delete;
  DebugSessions& operator=(const DebugSessions&) = delete;

  // Does nothing in the server. In the process of a session that has ended: sends what is left to
  // the client and ends the process. `Client` is sim::Client; it is a template parameter because
  // this folder must not include headers of the folder that contains it.
  template <typename Client>
  void ExitIfEnded(Client& client) {
    // The client closes when it has the last reply.
    if (!has_ended_ || !client.closing()) return;
    while (!client.broken() && client.output_bytes() > 0) {
      const std::string_view bytes = client.unsent();
      channel_->Write(bytes);
      client.Sent(bytes.size());
    }
    Exit();
  }
  // Forgets the processes that have ended.
  void Reap();

  // DebugHost
  absl::StatusOr<memory::DebugChannel*> Begin(const memory::SessionCore& session,
                                              bool apart) override;
  void End(const memory::SessionCore& session) override;

 private:
  // In the forked process: gives up what belongs to the server.
  void BecomeChild(int socket);
  [[noreturn]] void Exit();

  const Place place_;
  std::vector<pid_t> children_;
  bool is_child_ = false;
  bool has_ended_ = false;
  std::optional<SocketChannel> channel_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_DEBUGGING_DEBUG_SESSIONS_H_
