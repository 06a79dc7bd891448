// LoopbackPort: a TCP port of 127.0.0.1 that is free, and stays reserved for a server of ours.
//
// "Bind to port 0, close, and hope" lets another process take the port in between. On Linux two
// sockets that both ask for SO_REUSEADDR may share an address as long as one at most listens: the
// reservation holds the port bound without listening, Redis binds it as well and listens, and the
// kernel offers the port to nobody else, not even while the server is restarted.
//
// Thread-safety: const calls may be concurrent.
//
//     auto port = LoopbackPort::Reserve();
//     if (!port.ok()) return port.status();
//     config += absl::StrCat("port ", (*port)->number(), "\n");

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_LOOPBACK_PORT_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_LOOPBACK_PORT_H_

#include <memory>

#include "absl/status/statusor.h"

namespace redouble::redis {

class LoopbackPort {
 public:
  // Reserves a port that the kernel chooses.
  // Errors: the errno of socket or bind as a status.
  static absl::StatusOr<std::unique_ptr<LoopbackPort>> Reserve();

  // Gives the port back.
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

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_LOOPBACK_PORT_H_
