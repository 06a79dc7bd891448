// Transport: a socket, with or without TLS.
//
// Internal to the clients. The owner writes directly to a plain socket as long as the operating
// system accepts bytes; TLS needs an asynchronous operation for each write.
//
//   Transport transport(executor);
//   boost::asio::async_connect(transport.socket(), endpoints, ...);
//   if (tls.enabled) transport.Encrypt(tls, host);  // Then AsyncShakeHands.
//   transport.AsyncReadSome(buffer, handler);
//
// Thread-safety: everything runs on the executor of the socket, one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_TRANSPORT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_TRANSPORT_H_

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "redouble/backends/redis/options.h"

namespace redouble::inline v0_1::redis {

class Transport {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  explicit Transport(const boost::asio::any_io_executor& executor) : socket_(executor) {}
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // The socket itself, to connect and close it, and for plain writes.
  Socket& socket() { return tls_ ? tls_->next_layer() : socket_; }
  bool encrypted() const { return tls_.has_value(); }

  // Adds TLS to the connected socket; AsyncShakeHands must follow. Files that were replaced are
  // read again: the next connection uses a renewed certificate. The handshake resumes an earlier
  // session with the server at `host` and `port` if there is one (tls/tls_sessions.h). Errors:
  // InvalidArgument, with the file or name that OpenSSL refuses.
  absl::Status Encrypt(const TlsOptions& options, const std::string& host, uint16_t port);

  // Why the certificate of the peer was refused; empty if it was accepted.
  std::string VerifyError() const;

  // After the handshake: whether it resumed an earlier session with the server.
  bool resumed() const;

  template <typename Handler>
  void AsyncShakeHands(Handler handler) {
    tls_->async_handshake(boost::asio::ssl::stream_base::client, std::move(handler));
  }

  template <typename Buffer, typename Handler>
  void AsyncReadSome(const Buffer& buffer, Handler handler) {
    if (tls_) {
      tls_->async_read_some(buffer, std::move(handler));
    } else {
      socket_.async_read_some(buffer, std::move(handler));
    }
  }

  template <typename Buffer, typename Handler>
  void AsyncWriteSome(const Buffer& buffer, Handler handler) {
    if (tls_) {
      tls_->async_write_some(buffer, std::move(handler));
    } else {
      socket_.async_write_some(buffer, std::move(handler));
    }
  }

  // Closes the socket; pending operations end with an error.
  void Close() {
    boost::system::error_code ignored;
    socket().close(ignored);
  }

 private:
  Socket socket_;
  // OpenSSL counts references to the TLS context: the stream keeps it alive.
  std::optional<boost::asio::ssl::stream<Socket>> tls_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_TRANSPORT_H_
