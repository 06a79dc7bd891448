// ConnectRace: connects to the first of several addresses that answers.
//
// Internal to Connector. A name may have several addresses, of which some do not answer. The
// attempts are staggered: the next address is tried when the last attempt has failed, or has not
// succeeded within a delay, while the earlier attempts continue. IPv6 and IPv4 addresses alternate;
// within each family the resolver's order is kept. An address that never answers costs the delay
// and not the whole connect timeout.
//
//   auto race = std::make_shared<ConnectRace>(executor, endpoints, ConnectRace::kDelay);
//   race->Start([](const error_code& error, Transport::Socket socket) { ... });
//
// Thread-safety: everything runs on the executor, one thread or strand at a time.
// Source: RFC 8305, sections 4 and 5.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CONNECT_RACE_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CONNECT_RACE_H_

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <vector>

namespace redouble::inline v0_1::redis {

class ConnectRace final : public std::enable_shared_from_this<ConnectRace> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Endpoint = boost::asio::generic::stream_protocol::endpoint;
  using Done = std::function<void(const boost::system::error_code& error, Socket socket)>;

  // The "Connection Attempt Delay" of the RFC.
  static constexpr std::chrono::milliseconds kDelay{250};

  // `endpoints` is not empty.
  ConnectRace(boost::asio::any_io_executor executor, std::vector<Endpoint> endpoints,
              std::chrono::milliseconds delay);

  // Calls `done` once, later: with a connected socket, or with the error of the last attempt that
  // failed.
  void Start(Done done);
  // Gives up. `done` will not be called.
  void Cancel();

 private:
  void TryNext();
  void OnAttempt(std::list<Socket>::iterator attempt, const boost::system::error_code& error);
  void Finish(const boost::system::error_code& error, Socket socket);

  const boost::asio::any_io_executor executor_;
  const std::vector<Endpoint> endpoints_;
  const std::chrono::milliseconds delay_;
  size_t tried_ = 0;
  std::list<Socket> attempts_;  // Under way.
  boost::asio::steady_timer timer_;
  Done done_;  // Null: finished.
};

// Returns the endpoints with alternating address families, starting with the family of the first.
std::vector<ConnectRace::Endpoint> WithFamiliesInTurn(
    const std::vector<ConnectRace::Endpoint>& endpoints);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CONNECT_RACE_H_
