// Connector: performs on sockets the actions of a ConnectMachine.
//
// Internal to the clients. The result is a connected and authenticated transport, or the status of
// the failed attempt.
//
//   auto connector = std::make_shared<Connector>(executor, options);
//   connector->Start([connector] {
//     if (connector->status().ok()) Use(connector->TakeTransport());
//   });
//
// Thread-safety: everything runs on the executor, one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CONNECTOR_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CONNECTOR_H_

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "redouble/backends/redis/fsm/connect_machine.h"
#include "redouble/backends/redis/net/connect_race.h"
#include "redouble/backends/redis/net/transport.h"
#include "redouble/backends/redis/options.h"

namespace redouble::inline v0_1::redis {

class Connector final : public std::enable_shared_from_this<Connector> {
 public:
  // `options` must be valid, and must outlive the call of `done` or Cancel().
  Connector(boost::asio::any_io_executor executor, const Options& options);

  // Calls `done` once, later, on the executor.
  void Start(std::function<void()> done);
  // Gives up. `done` will not be called.
  void Cancel();

  // After `done`: OK with a transport to take, or why the attempt failed (see ConnectMachine).
  const absl::Status& status() const { return machine_.status(); }
  std::unique_ptr<Transport> TakeTransport() { return std::move(transport_); }
  const ConnectMachine& machine() const { return machine_; }

 private:
  // The handler of an operation: reports its result to the machine, unless the connector was
  // stopped.
  auto WhenDone();
  void Report(const ConnectEvent& event);
  void Perform(ConnectAction action);
  void Resolve();
  void Connect();
  void SetSocketOptions();
  void Encrypt();
  void OnHandshake(const boost::system::error_code& error);
  void Write(std::string_view bytes);
  void Read();
  void Stop();

  const Options& options_;
  ConnectMachine machine_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::steady_timer timer_;
  std::unique_ptr<Transport> transport_;
  std::vector<ConnectRace::Endpoint> endpoints_;
  std::shared_ptr<ConnectRace> race_;  // While addresses are tried.
  std::array<char, 1024> read_buffer_;
  std::string_view write_rest_;
  std::function<void()> done_;
  bool stopped_ = false;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CONNECTOR_H_
