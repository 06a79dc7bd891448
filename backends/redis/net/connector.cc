#include "backends/redis/net/connector.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <utility>
#include <variant>

#include "absl/time/time.h"

namespace redouble::redis {

namespace asio = boost::asio;
using boost::system::error_code;

Connector::Connector(asio::any_io_executor executor, const Options& options)
    : options_(options),
      machine_(options_),
      resolver_(executor),
      timer_(executor),
      socket_(executor) {}

void Connector::Start(std::function<void()> done) {
  done_ = std::move(done);
  if (options_.connect_timeout != absl::InfiniteDuration()) {
    timer_.expires_after(absl::ToChronoMicroseconds(options_.connect_timeout));
    timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (!error && !self->stopped_) self->Report(ConnectEvent::Timer());
    });
  }
  // Posted, so that `done` is never called from within Start.
  asio::post(timer_.get_executor(), [self = shared_from_this()] {
    if (!self->stopped_) self->Report(ConnectEvent::Started());
  });
}

void Connector::Cancel() {
  Stop();
  error_code ignored;
  socket_.close(ignored);
}

void Connector::Stop() {
  stopped_ = true;
  done_ = nullptr;
  timer_.cancel();
  resolver_.cancel();
}

auto Connector::WhenDone() {
  return [self = shared_from_this()](const error_code& error, const auto&...) {
    if (self->stopped_) return;
    self->Report(error ? ConnectEvent::Failed(error.message()) : ConnectEvent::Done());
  };
}

void Connector::Report(const ConnectEvent& event) { Perform(machine_.Resume(event)); }

void Connector::Perform(ConnectAction action) {
  switch (action.kind) {
    case ConnectAction::Kind::kResolve:
      return Resolve();
    case ConnectAction::Kind::kConnect:
      return Connect();
    case ConnectAction::Kind::kWrite:
      return Write(action.bytes);
    case ConnectAction::Kind::kRead:
      return Read();
    case ConnectAction::Kind::kFinish:
      break;
  }
  const std::function<void()> done = std::move(done_);
  Stop();
  if (!machine_.status().ok()) {
    error_code ignored;
    socket_.close(ignored);
  }
  done();
}

void Connector::Resolve() {
  const auto& tcp = std::get<TcpAddress>(options_.address);
  error_code not_numeric;
  const auto address = asio::ip::make_address(tcp.host, not_numeric);
  if (!not_numeric) {
    endpoints_.emplace_back(asio::ip::tcp::endpoint(address, tcp.port));
    return Report(ConnectEvent::Done());
  }
  resolver_.async_resolve(
      tcp.host, std::to_string(tcp.port),
      [self = shared_from_this()](const error_code& error, const auto& results) {
        for (const auto& result : results) self->endpoints_.emplace_back(result.endpoint());
        self->WhenDone()(error);
      });
}

void Connector::Connect() {
  if (const auto* local = std::get_if<UnixAddress>(&options_.address)) {
    endpoints_.emplace_back(asio::local::stream_protocol::endpoint(local->path));
  }
  asio::async_connect(socket_, endpoints_, WhenDone());
}

void Connector::Write(std::string_view bytes) {
  // Each write is a whole turn's worth of commands: waiting for more would only delay it.
  if (std::holds_alternative<TcpAddress>(options_.address)) {
    error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  }
  asio::async_write(socket_, asio::buffer(bytes.data(), bytes.size()), WhenDone());
}

void Connector::Read() {
  socket_.async_read_some(asio::buffer(read_buffer_), [self = shared_from_this()](
                                                          const error_code& error, size_t size) {
    if (self->stopped_) return;
    if (error == asio::error::eof) {
      return self->Report(ConnectEvent::Failed("the server closed the connection"));
    }
    if (error) return self->Report(ConnectEvent::Failed(error.message()));
    self->Report(ConnectEvent::Received(std::string_view(self->read_buffer_.data(), size)));
  });
}

}  // namespace redouble::redis
