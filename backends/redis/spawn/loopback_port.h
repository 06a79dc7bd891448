// LoopbackPort: a free TCP port of 127.0.0.1 that stays reserved for a spawned server.
//
// Binding to port 0 and closing the socket lets another process take the port. On Linux two sockets
// with SO_REUSEADDR may share an address as long as at most one of them listens. The reservation
// keeps the port bound without listening; Redis binds it as well and listens. The kernel assigns
// the port to no other socket, also while the server is restarted.
//
//     auto port = LoopbackPort::Reserve();
//     if (!port.ok()) return port.status();
//     config += absl::StrCat("port ", (*port)->number(), "\n");
//
// Thread-safety: const calls may be concurrent.

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_LOOPBACK_PORT_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_LOOPBACK_PORT_H_

#include <memory>

#include "absl/status/statusor.h"

namespace redouble::inline v0_1::redis {

class LoopbackPort {
 public:
  // Reserves a port that the kernel selects.
  // Errors: the errno of socket or bind as a status.
  static absl::StatusOr<std::unique_ptr<LoopbackPort>> Reserve();

  // Releases the port.
  ~LoopbackPort();

  LoopbackPort(const LoopbackPort&) = delete;
  LoopbackPort& operator=(const LoopbackPort&) = delete;

  // The port, 1 to 65535.
  int number() const { return number_; }

 private:
  LoopbackPort(int socket, int number) : socket_(socket), number_(number) {}

  const int socket_;
  const int number_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_LOOPBACK_PORT_H_
