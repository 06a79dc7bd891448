#include "redouble/backends/redis/spawn/loopback_port.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "redouble/core/base/posix/sockets.h"

namespace redouble::inline v0_1::redis {

absl::StatusOr<std::unique_ptr<LoopbackPort>> LoopbackPort::Reserve() {
  const int file = base::OpenSocket(AF_INET, SOCK_STREAM);
  if (file < 0) return absl::ErrnoToStatus(errno, "cannot make a TCP socket");
  absl::Cleanup closer = [file] { close(file); };
  const int yes = 1;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* generic_address = reinterpret_cast<sockaddr*>(&address);
  if (setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      bind(file, generic_address, length) != 0 ||
      getsockname(file, generic_address, &length) != 0) {
    return absl::ErrnoToStatus(errno, "cannot reserve a port of 127.0.0.1");
  }
  std::move(closer).Cancel();
  return std::unique_ptr<LoopbackPort>(new LoopbackPort(file, ntohs(address.sin_port)));
}

LoopbackPort::~LoopbackPort() { close(socket_); }

}  // namespace redouble::inline v0_1::redis
