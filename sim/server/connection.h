// Connection: a client of the server together with its socket.
//
//   Connection connection(engine, owner, accepted);
//   connection.Figures().address;  // "127.0.0.1:50000"
//
// The server reads from the socket and writes to it; the client is without I/O (client.h).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_CONNECTION_H_
#define REDOUBLE_SIM_SERVER_CONNECTION_H_

#include <functional>
#include <utility>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/server/host.h"
#include "redouble/sim/server/client.h"
#include "redouble/sim/server/listening/listener.h"

namespace redouble::inline v0_1::sim {

struct Connection {
  // `engine` and `owner` must outlive the connection.
  Connection(memory::Engine& engine, ClientOwner& owner, Accepted from)
      : accepted(std::move(from)), client(engine, owner) {}

  // What CLIENT LIST shows.
  memory::ConnectionFigures Figures() {
    memory::ConnectionFigures figures;
    figures.address = accepted.address;
    figures.local_address = accepted.local_address;
    figures.descriptor = accepted.socket;
    figures.query_bytes = client.input_bytes();
    figures.query_free_bytes = client.input_room_bytes();
    figures.argument_bytes = client.argument_bytes();
    figures.output_bytes = client.output_bytes();
    figures.reply_room_bytes = client.reply_room().bytes();
    figures.reply_peak_bytes = client.reply_room().peak_bytes();
    figures.waits_to_write = waits_to_write;
    return figures;
  }

  Accepted accepted;
  Client client;
  bool waits_to_write = false;
  std::function<void()> when_sent;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_CONNECTION_H_
