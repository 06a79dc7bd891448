// Transport: a socket, with TLS around it or without.
//
// Internal to the clients. The plain one is written to without waiting while the system takes the
// bytes; TLS has to be asked and waited for each time.
//
// Thread-safety: everything runs on the socket's executor, one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_TRANSPORT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_TRANSPORT_H_

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/system/error_code.hpp>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "backends/redis/options.h"

namespace redouble::redis {

class Transport {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  explicit Transport(const boost::asio::any_io_executor& executor) : socket_(executor) {}
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // To connect it, and to close it.
  Socket& socket() { return tls_ ? tls_->next_layer() : socket_; }
  bool encrypted() const { return tls_.has_value(); }

  // Puts TLS around the connected socket, to be shaken hands for. Files are read anew each time, so
  // that a renewed certificate is used with the next connection.
  // Errors: InvalidArgument, naming the file or name that OpenSSL refuses.
  absl::Status Encrypt(const TlsOptions& options, const std::string& host);

  // Why the peer's certificate was refused; empty when it was not.
  std::string VerifyError() const;

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

  // Pending operations end with an error.
  void Close() {
    boost::system::error_code ignored;
    socket().close(ignored);
  }

 private:
  Socket socket_;
  // The context is counted by OpenSSL: the stream keeps what it needs of it.
  std::optional<boost::asio::ssl::stream<Socket>> tls_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_TRANSPORT_H_
