// Connection: performs on a socket what an ExecMachine asks for.
//
// Internal to the clients. It writes without waiting while the system takes the bytes, and waits
// only when the socket is full; it always reads. What a reply sets off, and what is submitted
// before the event loop's turn ends, leaves in one write.
//
// Ownership: pending operations keep the connection alive, so that a waiter resumed by a reply may
// destroy the client. Close() ends them.
//
// Thread-safety: everything runs on the socket's executor, one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CONNECTION_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CONNECTION_H_

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/redis/fsm/exec_machine.h"
#include "backends/redis/net/counters.h"
#include "core/store/store.h"

namespace redouble::redis {

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  // A connected socket. Call Start() once a shared_ptr owns the connection.
  Connection(Socket socket, ExecOptions options);

  void Start();

  // As store::Store::Submit.
  void Submit(store::Request& request);

  // Closes the socket; requests under way fail with `reason`, later ones as not sent.
  void Close(std::string_view reason);

  bool connected() const { return !machine_.lost(); }
  const Counters& counters() const { return counters_; }

 private:
  void EndTurn();
  void Perform(ExecAction action);
  bool Write(ExecAction& action);
  void WaitUntilWritable(std::string_view rest);
  void Read();
  void OnRead(const boost::system::error_code& error, size_t size);
  void SetTimer(int64_t wake_at_us);
  void OnTimer();
  void CloseSocket();

  Socket socket_;
  boost::asio::steady_timer timer_;
  ExecMachine machine_;
  std::vector<char> read_buffer_;
  // Inside an event, or with its end already posted: the turn's end needs no posting.
  bool turn_will_end_ = false;
  Counters counters_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CONNECTION_H_
