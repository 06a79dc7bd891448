// Listener: where clients come in, TCP or a Unix socket, each as a descriptor of its own.
//
// Thread-safety: that of the io_context.
#ifndef REDOUBLE_SIM_SERVER_LISTENER_H_
#define REDOUBLE_SIM_SERVER_LISTENER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "boost/asio/io_context.hpp"

namespace redouble::sim {

// A client that has come in.
struct Accepted {
  int socket;                 // Non-blocking; the taker closes it.
  std::string address;        // "127.0.0.1:50312"; of a Unix socket its path and ":0".
  std::string local_address;  // Of this side.
  bool is_local;              // From this machine.
};

class Listener {
 public:
  using Take = std::function<void(Accepted accepted)>;

  virtual ~Listener() = default;

  // Binds and listens on a port of `address`.
  // Errors: InvalidArgument for an address that is none, the kernel's otherwise.
  static absl::StatusOr<std::unique_ptr<Listener>> OnTcp(boost::asio::io_context& context,
                                                         const std::string& address, int port);
  // Binds and listens on a Unix socket, in place of one that a dead server left; removes it in the
  // end. Errors: the kernel's.
  static absl::StatusOr<std::unique_ptr<Listener>> OnUnixSocket(boost::asio::io_context& context,
                                                                const std::string& path);

  // Gives every client that waits to `take`; never waits itself.
  virtual void LetIn(const Take& take) = 0;
  virtual void Close() = 0;
  // "127.0.0.1:6379", "unix:/run/redouble.sock"
  virtual std::string name() const = 0;
  // 0 for a Unix socket.
  virtual int port() const = 0;
  // The socket, which is readable while somebody waits to be let in.
  virtual int descriptor() = 0;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_LISTENER_H_
