// Sockets and pipes that a program started later does not inherit, on every POSIX system.
//
// Linux has calls that open a descriptor and mark it at once. Where they are missing, two calls do
// it; a thread that starts a program between them lets that program inherit the descriptor.
//
//   const int socket = base::OpenSocket(AF_INET, SOCK_STREAM);
//   send(socket, bytes.data(), bytes.size(), base::kNoSignal);
//
// With REDOUBLE_PLAIN_POSIX defined, Linux takes the way of the other systems; a test does that.
//
// Thread-safety: as the calls of the system. All return -1, with errno, if the system refuses.
#ifndef REDOUBLE_CORE_BASE_POSIX_SOCKETS_H_
#define REDOUBLE_CORE_BASE_POSIX_SOCKETS_H_

#include <sys/socket.h>

namespace redouble::inline v0_1::base {

// The flag for send(), so that a closed connection is an error and no signal. Sockets of this
// header give no signal where there is no such flag.
#ifdef MSG_NOSIGNAL
inline constexpr int kNoSignal = MSG_NOSIGNAL;
#else
inline constexpr int kNoSignal = 0;
#endif

int OpenSocket(int domain, int type, int protocol = 0);

// Calls that would wait fail with EAGAIN.
int MakeNonBlocking(int descriptor);

// Returns the next connection, which does not block.
int AcceptNonBlocking(int listener);

// ends[0] is for reading, ends[1] for writing.
int OpenPipe(int ends[2]);

// The kernel asks whether the peer of a TCP connection is there: after `idle_seconds` without
// bytes, then each `interval_seconds`, and gives up after `probes`. Does what the system can of it.
struct KeepAlive {
  int idle_seconds;
  int interval_seconds;
  int probes;
};
void SetKeepAlive(int socket, const KeepAlive& keep_alive);

// Bytes that are not acknowledged for so long end a TCP connection. Does nothing on systems that
// have no such limit.
void SetUnacknowledgedLimit(int socket, int limit_ms);

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_POSIX_SOCKETS_H_
