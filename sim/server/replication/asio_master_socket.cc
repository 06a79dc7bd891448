#include "redouble/sim/server/replication/asio_master_socket.h"

#include <array>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/buffer.hpp"
#include "boost/asio/connect.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/write.hpp"

namespace redouble::inline v0_1::sim {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kReadBytes = 64 * 1024;

}  // namespace

struct AsioMasterSocket::Connection {
  explicit Connection(asio::io_context& context) : resolver(context), socket(context) {}

  tcp::resolver resolver;
  tcp::socket socket;
  std::array<char, kReadBytes> read_buffer = {};
  std::string written;  // Being sent.
  std::string unsent;
};

AsioMasterSocket::AsioMasterSocket(asio::io_context& context,
                                   std::function<void(const std::function<void()>& task)> turn)
    : context_(context), turn_(std::move(turn)) {}

AsioMasterSocket::~AsioMasterSocket() { Close(); }

void AsioMasterSocket::Open(const std::string& host, int port) {
  Close();
  connection_ = std::make_shared<Connection>(context_);
  const ConnectionPointer connection = connection_;
  connection->resolver.async_resolve(
      host, std::to_string(port),
      [this, connection](const error_code& error, const tcp::resolver::results_type& results) {
        // A closed connection has no owner: the object may be gone.
        if (error == asio::error::operation_aborted) return;
        if (connection != connection_) return;
        if (error) return Lose(connection, error.message());
        asio::async_connect(connection->socket, results,
                            [this, connection](const error_code& failure, const tcp::endpoint&) {
                              if (failure == asio::error::operation_aborted) return;
                              if (connection != connection_) return;
                              if (failure) return Lose(connection, failure.message());
                              Connect(connection);
                            });
      });
}

void AsioMasterSocket::Connect(const ConnectionPointer& connection) {
  error_code ignored;
  connection->socket.set_option(tcp::no_delay(true), ignored);
  Read(connection);
  turn_([this] { listener_->OnOpen(); });
}

void AsioMasterSocket::Read(const ConnectionPointer& connection) {
  connection->socket.async_read_some(
      asio::buffer(connection->read_buffer),
      [this, connection](const error_code& error, size_t size) {
        if (error == asio::error::operation_aborted || connection != connection_) return;
        if (error) return Lose(connection, error.message());
        turn_([&] { listener_->OnBytes(std::string_view(connection->read_buffer.data(), size)); });
        if (connection == connection_) Read(connection);
      });
}

void AsioMasterSocket::Send(std::string_view bytes) {
  if (connection_ == nullptr) return;
  connection_->unsent.append(bytes);
  if (connection_->written.empty()) Write(connection_);
}

void AsioMasterSocket::Write(const ConnectionPointer& connection) {
  connection->written = std::exchange(connection->unsent, {});
  asio::async_write(connection->socket, asio::buffer(connection->written),
                    [this, connection](const error_code& error, size_t) {
                      if (error || connection != connection_) return;  // Reading fails as well.
                      connection->written.clear();
                      if (!connection->unsent.empty()) Write(connection);
                    });
}

void AsioMasterSocket::Close() {
  if (connection_ == nullptr) return;
  error_code ignored;
  connection_->resolver.cancel();
  connection_->socket.close(ignored);
  connection_.reset();
}

void AsioMasterSocket::Lose(const ConnectionPointer& connection, const std::string& reason) {
  if (connection != connection_) return;
  Close();
  turn_([&] { listener_->OnClosed(reason); });
}

std::string AsioMasterSocket::address() const {
  if (connection_ == nullptr) return "";
  error_code error;
  const tcp::endpoint endpoint = connection_->socket.remote_endpoint(error);
  return error ? "" : absl::StrCat(endpoint.address().to_string(), ":", endpoint.port());
}

}  // namespace redouble::inline v0_1::sim
