// ChaosProxy: a TCP proxy in front of a server's Unix socket that disturbs its connections.
//
//   ChaosProxy proxy(context, server.unix_socket(), seed);
//   proxy.set_mode(ChaosProxy::Mode::kCut);
//
// The faults are drawn from the seed.
//
// Thread-safety: one thread, the one that runs `context`.
#ifndef REDOUBLE_TESTS_CHAOS_CHAOS_PROXY_H_
#define REDOUBLE_TESTS_CHAOS_CHAOS_PROXY_H_

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::tests {

class ChaosProxy {
 public:
  enum class Mode : uint8_t {
    kForward,    // Forwards everything.
    kSplit,      // Forwards pieces of a few bytes.
    kDelay,      // Delays each piece by up to about 20 ms.
    kStall,      // Forwards nothing until the mode changes.
    kCut,        // Forwards half of what it has read, and closes both sides.
    kHalfClose,  // Closes the direction to one side, and continues with the other.
  };
  static constexpr size_t kModes = 6;
  static constexpr std::array<std::string_view, kModes> kModeNames = {
      "forwarded", "split", "delayed", "stalled", "cut", "half-closed"};

  ChaosProxy(boost::asio::io_context& context, std::string unix_socket, uint64_t seed);

  std::string uri() const;
  void set_mode(Mode mode) { mode_ = mode; }
  // The number of pieces handled in each mode.
  const std::array<uint64_t, kModes>& handled() const { return handled_; }
  // Stops accepting, and closes all connections.
  void Close();

 private:
  struct Pair {
    explicit Pair(boost::asio::io_context& context) : client(context), server(context) {}
    void Close();
    boost::asio::ip::tcp::socket client;
    boost::asio::local::stream_protocol::socket server;
  };

  boost::asio::awaitable<void> Accept();
  boost::asio::awaitable<void> Serve(std::shared_ptr<Pair> pair);
  // `pair` keeps both sockets alive.
  template <typename From, typename To>
  boost::asio::awaitable<void> Pump(std::shared_ptr<Pair> pair, From& from, To& to);
  // Returns false if this direction ends.
  template <typename To>
  boost::asio::awaitable<bool> Pass(Pair& pair, To& to, std::string_view bytes);
  boost::asio::awaitable<void> Sleep(int64_t duration_us);

  boost::asio::io_context& context_;
  const std::string unix_socket_;
  base::Rng rng_;
  Mode mode_ = Mode::kForward;
  bool closed_ = false;
  std::array<uint64_t, kModes> handled_ = {};
  boost::asio::ip::tcp::acceptor acceptor_;
  std::vector<std::weak_ptr<Pair>> pairs_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_CHAOS_CHAOS_PROXY_H_
