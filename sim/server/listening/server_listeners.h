// ServerListeners: all addresses at which one server listens: a TCP port, at each address of
// `bind`, and a Unix socket.
//
//   ServerListeners listeners(context, poller);
//   REDOUBLE_RETURN_IF_ERROR(listeners.Open(options, /*any_port=*/false));
//   listeners.Watch();
//   listeners.Accept([](Accepted accepted) { Serve(accepted.socket); });
//
// Thread-safety: that of the io_context.
#ifndef REDOUBLE_SIM_SERVER_LISTENING_SERVER_LISTENERS_H_
#define REDOUBLE_SIM_SERVER_LISTENING_SERVER_LISTENERS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "boost/asio/io_context.hpp"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/sim/server/listening/listener.h"
#include "redouble/sim/server/process/poller.h"

namespace redouble::inline v0_1::sim {

class ServerListeners {
 public:
  // Both must outlive the object.
  ServerListeners(boost::asio::io_context& context, Poller& poller)
      : context_(context), poller_(poller) {}

  // Opens the sockets; `any_port`: at any free TCP port. Connections wait until Accept. Errors:
  // InvalidArgument if there is no address; those of Listener.
  absl::Status Open(const memory::ServerOptions& server, bool any_port);
  // Opens and watches the TCP sockets of `server` instead of those of `before`. After an error
  // those are open again, if that is possible.
  absl::Status ReopenTcp(const memory::ServerOptions& server, const memory::ServerOptions& before);
  // From here on the poller has events, without an owner, when there are new connections.
  void Watch();
  void Close();
  // Accepts all pending connections.
  void Accept(const Listener::Handler& handler);

  // "127.0.0.1:6379 and unix:/run/redouble.sock"
  std::string names() const;
  // The TCP port; 0 for none.
  int port() const { return tcp_.empty() ? 0 : tcp_[0]->port(); }
  std::vector<int> descriptors() const;

 private:
  void Watch(const Listeners& listeners);
  void Close(Listeners& listeners);

  boost::asio::io_context& context_;
  Poller& poller_;
  Listeners tcp_;
  Listeners unix_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_LISTENING_SERVER_LISTENERS_H_
