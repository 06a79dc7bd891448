#include "redouble/backends/redis/net/connector.h"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/posix/sockets.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::redis {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr int kKeepAliveProbes = 3;

// A keep_alive beyond this many seconds counts as this many: the option of TCP is in milliseconds.
constexpr int64_t kMaxIdleSeconds = 1'000'000;

}  // namespace

Connector::Connector(asio::any_io_executor executor, const Options& options)
    : options_(options),
      machine_(options_),
      resolver_(executor),
      timer_(executor),
      transport_(std::make_unique<Transport>(executor)) {}

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
  if (transport_ != nullptr) transport_->Close();
}

void Connector::Stop() {
  stopped_ = true;
  done_ = nullptr;
  timer_.cancel();
  resolver_.cancel();
  if (race_ != nullptr) race_->Cancel();
  race_ = nullptr;
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
    case ConnectAction::Kind::kEncrypt:
      return Encrypt();
    case ConnectAction::Kind::kWrite:
      return Write(action.bytes);
    case ConnectAction::Kind::kRead:
      return Read();
    case ConnectAction::Kind::kFinish:
      break;
  }
  const std::function<void()> done = std::move(done_);
  Stop();
  if (!machine_.status().ok()) transport_->Close();
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
  if (endpoints_.empty()) return Report(ConnectEvent::Failed("its name has no address"));
  race_ = std::make_shared<ConnectRace>(timer_.get_executor(), endpoints_, ConnectRace::kDelay);
  race_->Start([self = shared_from_this()](const error_code& error, ConnectRace::Socket socket) {
    self->race_ = nullptr;
    self->transport_->socket() = std::move(socket);
    if (!error) self->SetSocketOptions();
    self->WhenDone()(error);
  });
}

// A refused option is not an error.
void Connector::SetSocketOptions() {
  if (!std::holds_alternative<TcpAddress>(options_.address)) return;
  error_code ignored;
  Transport::Socket& socket = transport_->socket();
  // Each write contains all commands of a turn: waiting for more bytes would only delay it.
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  if (options_.keep_alive == absl::InfiniteDuration()) return;
  const int idle_seconds = static_cast<int>(
      std::clamp<int64_t>(absl::ToInt64Seconds(options_.keep_alive), 1, kMaxIdleSeconds));
  base::SetKeepAlive(socket.native_handle(), {.idle_seconds = idle_seconds,
                                              .interval_seconds = std::max(1, idle_seconds / 3),
                                              .probes = kKeepAliveProbes});
  // Keep-alive probes are not sent while bytes are unacknowledged: those have a time limit of their
  // own, the time in which an idle dead connection would be noticed.
  base::SetUnacknowledgedLimit(socket.native_handle(), 2 * idle_seconds * 1000);
}

void Connector::Encrypt() {
  const auto& tcp = std::get<TcpAddress>(options_.address);
  const absl::Status status = transport_->Encrypt(options_.tls, tcp.host, tcp.port);
  if (!status.ok()) return Report(ConnectEvent::Failed(base::ToStd(status.message())));
  transport_->AsyncShakeHands([self = shared_from_this()](const error_code& error) {
    if (!self->stopped_) self->OnHandshake(error);
  });
}

void Connector::OnHandshake(const error_code& error) {
  if (!error) return Report(ConnectEvent::Done());
  std::string reason = error.message();
  const std::string refused = transport_->VerifyError();
  if (!refused.empty()) absl::StrAppend(&reason, ": ", refused);
  Report(ConnectEvent::Failed(reason));
}

void Connector::Write(std::string_view bytes) {
  write_rest_ = bytes;
  transport_->AsyncWriteSome(asio::buffer(bytes.data(), bytes.size()),
                             [self = shared_from_this()](const error_code& error, size_t size) {
                               if (self->stopped_) return;
                               if (error || size == self->write_rest_.size()) {
                                 return self->WhenDone()(error);
                               }
                               self->Write(self->write_rest_.substr(size));
                             });
}

void Connector::Read() {
  transport_->AsyncReadSome(asio::buffer(read_buffer_), [self = shared_from_this()](
                                                            const error_code& error, size_t size) {
    if (self->stopped_) return;
    if (error == asio::error::eof) {
      return self->Report(ConnectEvent::Failed("the server closed the connection"));
    }
    if (error) return self->Report(ConnectEvent::Failed(error.message()));
    self->Report(ConnectEvent::Received(std::string_view(self->read_buffer_.data(), size)));
  });
}

}  // namespace redouble::inline v0_1::redis
