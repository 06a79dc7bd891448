// Connection: performs on sockets the actions of a ConnectionMachine and a RunMachine.
//
// Internal to the clients. It keeps one connection after another. It writes without waiting as long
// as the socket accepts bytes, and always reads. Requests caused by a reply, and requests submitted
// before the turn of the event loop ends, leave in one write.
//
//   auto connection = std::make_shared<Connection>(context, std::move(machine), run_options);
//   absl::Status status = co_await Connection::Connect(connection);
//   connection->Submit(request);
//
// Ownership: pending operations keep the connection alive, so that a waiter resumed by a reply may
// destroy the client. Close() ends them. Results of operations on an earlier socket are ignored.
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
#include "redouble/backends/redis/fsm/connection_machine.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/fsm/run_machine.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/net/connector.h"
#include "redouble/backends/redis/net/transport.h"
#include "redouble/backends/redis/observe/request_observer.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// The time of the machines: microseconds of the monotonic clock.
int64_t SteadyMicros();

// A generator with the seed of the hooks, or with a random one.
base::Rng RngOf(const ClientHooks& hooks);

// The state that all connections of one client share.
struct ClientContext {
  ClientContext(boost::asio::any_io_executor client_executor, Options client_options,
                ClientHooks client_hooks);

  void Log(const LogEvent& event) const {
    if (hooks.log) hooks.log(event);
  }

  // The options of the next attempt to connect. For a cluster, each attempt uses the next known
  // node.
  Options NextTarget();
  size_t targets() const { return options.cluster ? 1 + options.seeds.size() : 1; }

  const boost::asio::any_io_executor executor;
  const Options options;
  const ClientHooks hooks;
  const std::string address;
  const std::shared_ptr<RequestObserver> observer;  // Null without ClientHooks::command.
  base::Rng rng;
  Counters counters;
  size_t attempts = 0;
};

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  // `run` decides whether and when to reconnect. The machine counts in context->counters, if at
  // all.
  Connection(std::shared_ptr<ClientContext> context, std::unique_ptr<ConnectionMachine> machine,
             RunOptions run);

  // Starts the connection; call one of the two once. Connect() makes one attempt (for a cluster,
  // one at each node) and returns its status (see ConnectMachine); destroying the task gives up.
  // Dial() reconnects as after a loss, until it succeeds.
  static base::Task<absl::Status> Connect(std::shared_ptr<Connection> connection);
  void Dial();

  // As store::Store::Submit.
  void Submit(store::Request& request);

  // Closes the socket for good. Requests under way fail with `reason`, later ones as "not sent".
  void Close(std::string_view reason);

  // Called after each turn in which bytes were received, and when the machine has closed. Close()
  // removes the callback.
  void set_on_change(std::function<void()> on_change) { on_change_ = std::move(on_change); }

  // Called when the connection has been made, and when there will be none any more. Close() removes
  // the callback.
  void set_on_settled(std::function<void()> on_settled) { on_settled_ = std::move(on_settled); }

  bool connected() const { return machine_->connected(); }
  bool closed() const { return machine_->closed(); }
  ConnectionMachine& machine() { return *machine_; }

 private:
  using TransportHandle = std::shared_ptr<Transport>;

  Options NextTarget();
  void FollowCredentials();
  void Authenticate();
  void OnConnected(Connector& connector);
  void OnConnectorDone();
  void EndTurn();
  void Perform(ConnectionAction action);
  void Run(RunAction action);
  void Lose(std::string_view reason);
  void Resume(RunEvent event);
  void Notify(const std::function<void()>& callback);

  bool Write(ConnectionAction& action);
  bool Encrypt(ConnectionAction& action);
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
  const std::unique_ptr<ConnectionMachine> machine_;
  RunMachine run_machine_;
  TransportHandle transport_;             // Null without a connection.
  std::shared_ptr<Connector> connector_;  // Set during an attempt.
  boost::asio::steady_timer command_timer_;
  boost::asio::steady_timer run_timer_;
  std::vector<char> read_buffer_;
  std::function<void()> on_change_;
  std::function<void()> on_settled_;
  uint64_t credentials_number_ = 0;  // Of the last attempt to connect or AUTH.
  bool follows_credentials_ = false;
  // True during an event, or if the turn's end is already posted.
  bool turn_will_end_ = false;
  bool encrypting_ = false;
  // For TLS: `plain_` is being encrypted and sent, `rest_` follows. A closed transport may still
  // read `plain_`, so it is not cleared with the transport.
  std::string plain_;
  std::string_view rest_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CONNECTION_H_
