// AsioMasterSocket: a MasterSocket over TCP.
//
//   AsioMasterSocket socket(context, [&](const std::function<void()>& task) {
//     AdvanceClock();
//     task();          // A listener's function.
//     SendReplies();
//   });
//
// Thread-safety: one thread, the one that runs the context.
#ifndef REDOUBLE_SIM_SERVER_REPLICATION_ASIO_MASTER_SOCKET_H_
#define REDOUBLE_SIM_SERVER_REPLICATION_ASIO_MASTER_SOCKET_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "boost/asio/io_context.hpp"
#include "redouble/sim/server/replication/master_socket.h"

namespace redouble::inline v0_1::sim {

class AsioMasterSocket final : public MasterSocket {
 public:
  // `turn` calls its argument, within what the program does around the work for a socket.
  AsioMasterSocket(boost::asio::io_context& context,
                   std::function<void(const std::function<void()>& task)> turn);
  ~AsioMasterSocket() override;

  void Listen(Listener& listener) override { listener_ = &listener; }
  void Open(const std::string& host, int port) override;
  void Send(std::string_view bytes) override;
  void Close() override;
  std::string address() const override;

 private:
  // One connection, which outlives its pending operations.
  struct Connection;
  using ConnectionPointer = std::shared_ptr<Connection>;

  void Connect(const ConnectionPointer& connection);
  void Read(const ConnectionPointer& connection);
  void Write(const ConnectionPointer& connection);
  // Closes the connection, and tells the listener why.
  void Lose(const ConnectionPointer& connection, const std::string& reason);

  boost::asio::io_context& context_;
  const std::function<void(const std::function<void()>& task)> turn_;
  Listener* listener_ = nullptr;
  ConnectionPointer connection_;  // The present one; others are being closed.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICATION_ASIO_MASTER_SOCKET_H_
