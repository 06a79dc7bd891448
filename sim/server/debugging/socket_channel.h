// SocketChannel: a debugger's client at the other end of a socket. Blocks.
//
//   SocketChannel channel(socket, /*heeds_signals=*/true);
//   channel.Write("*1\r\n+<endsession>\r\n");
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_DEBUGGING_SOCKET_CHANNEL_H_
#define REDOUBLE_SIM_SERVER_DEBUGGING_SOCKET_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "redouble/backends/memory/scripting/debugger/debug_host.h"
#include "redouble/sim/server/process/interrupts.h"

namespace redouble::inline v0_1::sim {

class SocketChannel final : public memory::DebugChannel {
 public:
  // The socket does not block and stays open. `heeds_signals`: SIGTERM and SIGINT end the wait for
  // the client, as if it had left.
  SocketChannel(int socket, bool heeds_signals)
      : socket_(socket), interrupts_(heeds_signals ? std::make_unique<Interrupts>() : nullptr) {}

  size_t Read(std::span<char> buffer) override;
  void Write(std::string_view bytes) override;
  int64_t MonotonicMicros() override;

 private:
  const int socket_;
  const std::unique_ptr<Interrupts> interrupts_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_DEBUGGING_SOCKET_CHANNEL_H_
