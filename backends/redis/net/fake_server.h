// FakeServer: a server that a test plays itself, on the same event loop.
//
// It accepts one connection on a loopback port and answers its first bytes with a greeting. After
// that it only does what the test says; a server that does nothing is a stalled server.
//
//   FakeServer server(context);                   // Answers the handshake.
//   Run(context, Client::Connect(..., *Options::Parse(server.uri())));
//   server.Send("$1\r\nx\r\n");
//
// Thread-safety: one thread at a time, the one that runs the context.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_FAKE_SERVER_H_
#define REDOUBLE_BACKENDS_REDIS_NET_FAKE_SERVER_H_

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::redis {

class FakeServer {
 public:
  explicit FakeServer(boost::asio::io_context& context, std::string greeting = "*0\r\n+PONG\r\n");

  std::string uri() const;

  // The bytes received after the handshake.
  const std::string& received() const { return received_; }

  void Send(std::string_view bytes);
  // Stops reading, from the next bytes on.
  void StopReading() { reading_ = false; }
  // Closes the connection. Unread bytes turn this into a reset.
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

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_FAKE_SERVER_H_
