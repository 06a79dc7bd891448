#include "redouble/core/base/posix/sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>

// SOCK_CLOEXEC came to Linux and the BSDs together with accept4 and pipe2.
#if defined(SOCK_CLOEXEC) && defined(SOCK_NONBLOCK) && !defined(REDOUBLE_PLAIN_POSIX)
#define REDOUBLE_MARKS_AT_ONCE 1
#else
#define REDOUBLE_MARKS_AT_ONCE 0
#endif

namespace redouble::inline v0_1::base {
namespace {

void SetOption(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof(value));
}

#if !REDOUBLE_MARKS_AT_ONCE

// Closes the descriptor of a call that succeeded if it cannot be marked.
int Marked(int descriptor) {
  if (descriptor < 0 || fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0) return descriptor;
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

int WithoutSignal(int socket) {
#ifdef SO_NOSIGPIPE
  if (socket >= 0) SetOption(socket, SOL_SOCKET, SO_NOSIGPIPE, 1);
#endif
  return socket;
}

#endif

}  // namespace

int MakeNonBlocking(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

#if REDOUBLE_MARKS_AT_ONCE

int OpenSocket(int domain, int type, int protocol) {
  return socket(domain, type | SOCK_CLOEXEC, protocol);
}

int AcceptNonBlocking(int listener) {
  return accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int OpenPipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

#else

int OpenSocket(int domain, int type, int protocol) {
  return WithoutSignal(Marked(socket(domain, type, protocol)));
}

int AcceptNonBlocking(int listener) {
  const int accepted = WithoutSignal(Marked(accept(listener, nullptr, nullptr)));
  if (accepted < 0 || MakeNonBlocking(accepted) == 0) return accepted;
  const int error = errno;
  close(accepted);
  errno = error;
  return -1;
}

int OpenPipe(int ends[2]) {
  if (pipe(ends) != 0) return -1;
  if (Marked(ends[0]) < 0) {
    close(ends[1]);
    return -1;
  }
  if (Marked(ends[1]) < 0) {
    close(ends[0]);
    return -1;
  }
  return 0;
}

#endif

void SetKeepAlive(int socket, const KeepAlive& keep_alive) {
  SetOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
#if defined(TCP_KEEPIDLE)
  SetOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, keep_alive.idle_seconds);
#elif defined(TCP_KEEPALIVE)
  SetOption(socket, IPPROTO_TCP, TCP_KEEPALIVE, keep_alive.idle_seconds);
#endif
#ifdef TCP_KEEPINTVL
  SetOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, keep_alive.interval_seconds);
#endif
#ifdef TCP_KEEPCNT
  SetOption(socket, IPPROTO_TCP, TCP_KEEPCNT, keep_alive.probes);
#endif
}

void SetUnacknowledgedLimit([[maybe_unused]] int socket, [[maybe_unused]] int limit_ms) {
#ifdef TCP_USER_TIMEOUT
  SetOption(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, limit_ms);
#endif
}

}  // namespace redouble::inline v0_1::base
