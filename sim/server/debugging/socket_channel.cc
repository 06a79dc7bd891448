#include "redouble/sim/server/debugging/socket_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "redouble/core/base/posix/sockets.h"
#include "redouble/sim/server/process/tick_clock.h"

namespace redouble::inline v0_1::sim {
namespace {

// How often signals are looked at.
constexpr int kSignalPeriodMs = 100;
// As long as Redis waits for a client that does not read.
constexpr int kWriteTimeoutMs = 5000;

// Returns false if the socket is not ready for `events` in that time.
bool WaitFor(int socket, short events, int timeout_ms) {
  pollfd waited = {.fd = socket, .events = events, .revents = 0};
  return poll(&waited, 1, timeout_ms) > 0;
}

}  // namespace

size_t SocketChannel::Read(std::span<char> buffer) {
  while (true) {
    if (interrupts_ != nullptr && interrupts_->arrived()) return 0;
    if (!WaitFor(socket_, POLLIN, kSignalPeriodMs)) continue;
    const ssize_t size = recv(socket_, buffer.data(), buffer.size(), 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    return static_cast<size_t>(std::max<ssize_t>(size, 0));
  }
}

void SocketChannel::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = send(socket_, bytes.data(), bytes.size(), base::kNoSignal);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN && WaitFor(socket_, POLLOUT, kWriteTimeoutMs)) continue;
    if (size < 0) return;
    bytes.remove_prefix(static_cast<size_t>(size));
  }
}

int64_t SocketChannel::MonotonicMicros() { return SteadyMicros(); }

}  // namespace redouble::inline v0_1::sim
