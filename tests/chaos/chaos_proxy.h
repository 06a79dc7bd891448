// ChaosProxy: a TCP proxy in front of a server's Unix socket that treats its connections badly.
//
//   ChaosProxy proxy(context, server.unix_socket(), seed);
//   proxy.set_mood(ChaosProxy::Mood::kCut);
//
// It runs in the test's own event loop, one thread, and draws from its seed.
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

#include "core/base/rng.h"

namespace redouble::tests {

class ChaosProxy {
 public:
  enum class Mood : uint8_t {
    kGentle,     // Passes everything on.
    kSplit,      // In pieces of a few bytes.
    kDelay,      // Each piece up to some 20 ms later.
    kStall,      // Nothing at all, until the mood is another.
    kCut,        // Passes half of what it has read, and closes both sides.
    kHalfClose,  // Closes the direction to one side, and goes on with the other.
  };
  static constexpr size_t kMoods = 6;
  static constexpr std::array<std::string_view, kMoods> kMoodNames = {
      "gentle", "split", "delayed", "stalled", "cut", "half-closed"};

  ChaosProxy(boost::asio::io_context& context, std::string unix_socket, uint64_t seed);

  std::string uri() const;
  void set_mood(Mood mood) { mood_ = mood; }
  // How many pieces were treated so, by mood.
  const std::array<uint64_t, kMoods>& treated() const { return treated_; }
  // Accepts nobody any more and closes what there is.
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
  // `pair` keeps both sockets.
  template <typename From, typename To>
  boost::asio::awaitable<void> Pump(std::shared_ptr<Pair> pair, From& from, To& to);
  // False: the direction ends.
  template <typename To>
  boost::asio::awaitable<bool> Pass(Pair& pair, To& to, std::string_view bytes);
  boost::asio::awaitable<void> Sleep(int64_t duration_us);

  boost::asio::io_context& context_;
  const std::string unix_socket_;
  base::Rng rng_;
  Mood mood_ = Mood::kGentle;
  bool closed_ = false;
  std::array<uint64_t, kMoods> treated_ = {};
  boost::asio::ip::tcp::acceptor acceptor_;
  std::vector<std::weak_ptr<Pair>> pairs_;
};

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_CHAOS_CHAOS_PROXY_H_
