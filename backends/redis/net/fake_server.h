// FakeServer: the other end of a connection, played by a test in the same thread.
//
// It takes one connection on a loopback port, answers its first bytes with a greeting, and
// otherwise does what the test tells it: nothing, mostly, which is how a server stalls.
//
//   FakeServer server(context);                   // Greets as the handshake expects.
//   Run(context, Client::Connect(..., *Options::Parse(server.uri())));
//   server.Send("$1\r\nx\r\n");
#ifndef REDOUBLE_BACKENDS_REDIS_NET_FAKE_SERVER_H_
#define REDOUBLE_BACKENDS_REDIS_NET_FAKE_SERVER_H_

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <string_view>

namespace redouble::redis {

class FakeServer {
 public:
  explicit FakeServer(boost::asio::io_context& context, std::string greeting = "*0\r\n+PONG\r\n");

  std::string uri() const;

  // What came after the bytes that were greeted.
  const std::string& received() const { return received_; }

  void Send(std::string_view bytes);
  // Reads no more, from the next bytes on.
  void StopReading() { reading_ = false; }
  // Closes the connection; with what came unread, that resets it.
  void Disconnect();

 private:
  void Accept();
  void Read();
  void OnRead(size_t size);

  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::ip::tcp::socket socket_;
  std::string greeting_;
  bool greeted_ = false;
  bool reading_ = true;
  std::array<char, 64 * 1024> buffer_;
  std::string received_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_FAKE_SERVER_H_
