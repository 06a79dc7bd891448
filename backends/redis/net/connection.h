// Connection: performs on sockets what a LineMachine and a RunMachine ask for, one connection after
// another.
//
// Internal to the clients. It writes without waiting while the system takes the bytes, and waits
// only when the socket is full; it always reads. What a reply sets off, and what is submitted
// before the event loop's turn ends, leaves in one write.
//
// Ownership: pending operations keep the connection alive, so that a waiter resumed by a reply may
// destroy the client. Close() ends them. What an operation of an earlier socket reports is ignored.
//
// Thread-safety: everything runs on one executor, one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CONNECTION_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CONNECTION_H_

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "backends/redis/fsm/counters.h"
#include "backends/redis/fsm/line_machine.h"
#include "backends/redis/fsm/run_machine.h"
#include "backends/redis/net/client_hooks.h"
#include "backends/redis/net/connector.h"
#include "backends/redis/net/transport.h"
#include "backends/redis/options.h"
#include "core/base/rng.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::redis {

// What all connections of one client have in common.
struct ClientContext {
  ClientContext(boost::asio::any_io_executor client_executor, Options client_options,
                ClientHooks client_hooks);

  void Log(const LogEvent& event) const {
    if (hooks.log) hooks.log(event);
  }

  // The options of the next attempt to connect: of a cluster, to each of its known nodes in turn.
  Options NextTarget();
  size_t targets() const { return options.cluster ? 1 + options.seeds.size() : 1; }

  const boost::asio::any_io_executor executor;
  const Options options;
  const ClientHooks hooks;
  const std::string address;
  base::Rng rng;
  Counters counters;
  size_t attempts = 0;
};

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  // `run` says whether and when to reconnect. The machine counts in context->counters, if anywhere.
  Connection(std::shared_ptr<ClientContext> context, std::unique_ptr<LineMachine> machine,
             RunOptions run);

  // Start it, once: the first gives up when the first attempt (of a cluster, the first at each
  // node) fails, with its status (see ConnectMachine), and when it is destroyed; the second goes on
  // as after a loss.
  static base::Task<absl::Status> Connect(std::shared_ptr<Connection> connection);
  void Dial();

  // As store::Store::Submit.
  void Submit(store::Request& request);

  // Closes the socket for good; requests under way fail with `reason`, later ones as not sent.
  void Close(std::string_view reason);

  // Called after each turn in which something came from the server, and when the machine has
  // closed. Close() forgets it.
  void set_on_change(std::function<void()> on_change) { on_change_ = std::move(on_change); }

  bool connected() const { return machine_->connected(); }
  bool closed() const { return machine_->closed(); }
  LineMachine& machine() { return *machine_; }

 private:
  using TransportHandle = std::shared_ptr<Transport>;

  void StandBy(Connector& connector);
  void OnConnectorDone();
  void EndTurn();
  void Perform(LineAction action);
  void Run(RunAction action);
  void Lose(std::string_view reason);
  void GoOn(RunEvent event);
  void TellChange();

  bool Write(LineAction& action);
  bool Encrypt(LineAction& action);
  void SendEncrypted(size_t sent);
  void WaitUntilWritable(std::string_view rest);
  void CountWritten(size_t size);
  void Read();
  void OnRead(const TransportHandle& transport, const boost::system::error_code& error,
              size_t size);
  void SetCommandTimer(int64_t wake_at_us);
  void OnCommandTimer();
  void SetRunTimer(int64_t wake_at_us);
  void CloseTransport();

  const std::shared_ptr<ClientContext> context_;
  const std::unique_ptr<LineMachine> machine_;
  RunMachine run_machine_;
  TransportHandle transport_;             // Null while there is no connection.
  std::shared_ptr<Connector> connector_;  // Set during an attempt.
  boost::asio::steady_timer command_timer_;
  boost::asio::steady_timer run_timer_;
  std::vector<char> read_buffer_;
  std::function<void()> on_change_;
  // Inside an event, or with its end already posted: the turn's end needs no posting.
  bool turn_will_end_ = false;
  bool encrypting_ = false;
  // While TLS is busy: what it was given, which must stay while it is sent, and what follows. The
  // first is kept for the transport's last operation, too, so it is not cleared with it.
  std::string plain_;
  std::string_view rest_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CONNECTION_H_
