#include "redouble/backends/redis/net/fake_server.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::redis {

namespace asio = boost::asio;

FakeServer::FakeServer(asio::io_context& context, std::string greeting)
    : acceptor_(context, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
      socket_(context),
      greeting_(std::move(greeting)) {
  Accept();
}

std::string FakeServer::uri() const {
  return absl::StrCat("redis://127.0.0.1:", acceptor_.local_endpoint().port());
}

void FakeServer::Accept() {
  acceptor_.async_accept(socket_, [this](const boost::system::error_code& error) {
    if (!error) Read();
  });
}

void FakeServer::Read() {
  socket_.async_read_some(asio::buffer(buffer_),
                          [this](const boost::system::error_code& error, size_t size) {
                            if (!error) OnRead(size);
                          });
}

void FakeServer::OnRead(size_t size) {
  if (greeted_) {
    received_.append(buffer_.data(), size);
  } else {
    greeted_ = true;
    Send(greeting_);
  }
  if (reading_) Read();
}

void FakeServer::Send(std::string_view bytes) {
  asio::write(socket_, asio::buffer(bytes.data(), bytes.size()));
}

void FakeServer::Disconnect() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace redouble::inline v0_1::redis
