// Listener: accepts client connections on a TCP port or a Unix socket.
//
// The server polls descriptor() together with the sockets of its clients, and calls Accept() when
// it is readable. Each accepted connection is handed over as a plain descriptor.
//
//   REDOUBLE_ASSIGN_OR_RETURN(std::unique_ptr<Listener> listener,
//                             Listener::OnTcp(context, "127.0.0.1", 6379));
//   listener->Accept([](Accepted accepted) { Serve(accepted.socket); });
//
// Thread-safety: that of the io_context.
#ifndef REDOUBLE_SIM_SERVER_LISTENING_LISTENER_H_
#define REDOUBLE_SIM_SERVER_LISTENING_LISTENER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "boost/asio/io_context.hpp"

namespace redouble::inline v0_1::sim {

// An accepted connection.
struct Accepted {
  int socket;                 // Non-blocking; the receiver closes it.
  std::string address;        // "127.0.0.1:50312"; for a Unix socket, its path and ":0".
  std::string local_address;  // The server's address.
  bool is_local;              // The client is on this machine.
};

class Listener {
 public:
  using Handler = std::function<void(Accepted accepted)>;

  virtual ~Listener() = default;

  // Binds and listens on a port of `address`. Errors: InvalidArgument if the address cannot be
  // parsed; otherwise the operating system's error.
  static absl::StatusOr<std::unique_ptr<Listener>> OnTcp(boost::asio::io_context& context,
                                                         const std::string& address, int port);
  // Binds and listens on a Unix socket. Replaces a socket that a dead server left, and removes its
  // own when it is destroyed. Errors: the operating system's.
  static absl::StatusOr<std::unique_ptr<Listener>> OnUnixSocket(boost::asio::io_context& context,
                                                                const std::string& path);

  // Accepts all pending connections and passes each to `handler`. Never blocks.
  virtual void Accept(const Handler& handler) = 0;
  virtual void Close() = 0;
  // "127.0.0.1:6379", "unix:/run/redouble.sock"
  virtual std::string name() const = 0;
  // The port; 0 for a Unix socket.
  virtual int port() const = 0;
  // The listening socket, which is readable while connections are pending.
  virtual int descriptor() = 0;
};

using Listeners = std::vector<std::unique_ptr<Listener>>;

// Listens on one port of all addresses of `bind`, as redis.conf has them: separated by spaces, "*"
// for all of a family, and "-::1" for one that may be missing. Port 0 is any free port. Errors:
// those of Listener::OnTcp, and InvalidArgument if there is no address.
absl::StatusOr<Listeners> ListenOnTcp(boost::asio::io_context& context, const std::string& bind,
                                      int port);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_LISTENING_LISTENER_H_
