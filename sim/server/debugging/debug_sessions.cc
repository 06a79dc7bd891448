#include "redouble/sim/server/debugging/debug_sessions.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "absl/status/status.h"

namespace redouble::inline v0_1::sim {

using memory::DebugChannel;
using memory::SessionCore;

DebugSessions::~DebugSessions() {
  for (const pid_t child : children_) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

absl::StatusOr<DebugChannel*> DebugSessions::Begin(const SessionCore& session, bool apart) {
  const int socket = place_.socket_of(session);
  if (socket < 0) return absl::UnavailableError(std::strerror(ENOTCONN));
  if (apart) {
    const pid_t child = fork();
    if (child < 0) return absl::UnavailableError(std::strerror(errno));
    if (child > 0) {
      children_.push_back(child);
      place_.leave(session);
      return nullptr;
    }
    BecomeChild(socket);
  }
  place_.log(apart ? "Redis forked for debugging eval"
                   : "Redis synchronous debugging eval session started");
  channel_.emplace(socket, /*heeds_signals=*/!apart);
  return &*channel_;
}

// The descriptors are closed without the event loop: it shares its registrations with the server's.
void DebugSessions::BecomeChild(int socket) {
  is_child_ = true;
  children_.clear();
  for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, SIG_IGN);
  for (const int descriptor : place_.descriptors()) {
    if (descriptor != socket) close(descriptor);
  }
}

void DebugSessions::End(const SessionCore&) {
  has_ended_ = is_child_;
  if (!is_child_) {
    place_.log("Redis synchronous debugging eval session ended");
    channel_.reset();
  }
}

void DebugSessions::Exit() {
  place_.log("Lua debugging session child exiting");
  _exit(0);
}

void DebugSessions::Reap() {
  std::erase_if(children_, [](pid_t child) { return waitpid(child, nullptr, WNOHANG) != 0; });
}

}  // namespace redouble::inline v0_1::sim
