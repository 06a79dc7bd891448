#include "redouble/sim/server/listening/listener.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/local/stream_protocol.hpp"
#include "redouble/core/base/posix/sockets.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;
using Local = asio::local::stream_protocol;

constexpr int kBacklog = 4096;

// Translates the address that means all addresses of a family in redis.conf.
std::string WithoutAsterisk(const std::string& address) {
  if (address == "*") return "0.0.0.0";
  return address == "::*" ? "::" : address;
}

int OpenSpare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

// Detects within minutes that a client's machine is unreachable, as Redis does by default. Source:
// Redis 7.0, tcp-keepalive.
constexpr base::KeepAlive kKeepAlive = {.idle_seconds = 300, .interval_seconds = 100, .probes = 3};

std::string NameOf(const Tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? absl::StrCat("[", address, "]:", endpoint.port())
                                    : absl::StrCat(address, ":", endpoint.port());
}

// An acceptor for either protocol; subclasses name the client's address.
template <typename Protocol>
class AcceptingListener : public Listener {
 public:
  explicit AcceptingListener(asio::io_context& context) : acceptor_(context) {}
  ~AcceptingListener() override {
    if (spare_ >= 0) close(spare_);
  }

  error_code Open(const typename Protocol::endpoint& endpoint) {
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(kBacklog, error);
    if (!error) acceptor_.non_blocking(true, error);
    return error;
  }

  void Accept(const Handler& handler) override {
    while (true) {
      error_code error;
      typename Protocol::socket socket = acceptor_.accept(error);
      if (error == asio::error::no_descriptors) {
        if (!Refuse()) return;
        continue;
      }
      if (error) return;
      HandOver(socket, handler);
    }
  }

  void Close() override {
    error_code ignored;
    acceptor_.close(ignored);
  }

  int descriptor() override { return acceptor_.native_handle(); }

 protected:
  virtual Accepted Describe(typename Protocol::socket& socket) = 0;

  typename Protocol::acceptor acceptor_;

 private:
  // Without descriptors the connection would stay pending, and wake the event loop again and again.
  // The spare descriptor is given up to accept and close it. Returns false if that fails.
  bool Refuse() {
    if (spare_ < 0) return false;
    close(spare_);
    error_code error;
    { const typename Protocol::socket refused = acceptor_.accept(error); }
    spare_ = OpenSpare();
    return !error;
  }

  void HandOver(typename Protocol::socket& socket, const Handler& handler) {
    error_code error;
    socket.non_blocking(true, error);
    Accepted accepted = Describe(socket);
    accepted.socket = socket.release(error);
    if (!error) handler(std::move(accepted));
  }

  int spare_ = OpenSpare();
};

class TcpListener final : public AcceptingListener<Tcp> {
 public:
  using AcceptingListener::AcceptingListener;

  std::string name() const override {
    error_code ignored;
    return NameOf(acceptor_.local_endpoint(ignored));
  }
  int port() const override {
    error_code ignored;
    return acceptor_.local_endpoint(ignored).port();
  }

 private:
  Accepted Describe(Tcp::socket& socket) override {
    error_code ignored;
    socket.set_option(Tcp::no_delay(true), ignored);
    base::SetKeepAlive(socket.native_handle(), kKeepAlive);
    const Tcp::endpoint remote = socket.remote_endpoint(ignored);
    return {-1, NameOf(remote), NameOf(socket.local_endpoint(ignored)),
            remote.address().is_loopback()};
  }
};

class LocalListener final : public AcceptingListener<Local> {
 public:
  LocalListener(asio::io_context& context, std::string path)
      : AcceptingListener(context), path_(std::move(path)) {}
  ~LocalListener() override { unlink(path_.c_str()); }

  std::string name() const override { return "unix:" + path_; }
  int port() const override { return 0; }

 private:
  Accepted Describe(Local::socket&) override { return {-1, path_ + ":0", path_ + ":0", true}; }

  const std::string path_;
};

absl::Status CannotListen(const std::string& where, const error_code& error) {
  return absl::UnavailableError(absl::StrCat("cannot listen on ", where, ": ", error.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::OnTcp(asio::io_context& context,
                                                          const std::string& address, int port) {
  error_code error;
  const asio::ip::address ip = asio::ip::make_address(address, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat("no IP address: ", address));
  const Tcp::endpoint endpoint(ip, static_cast<asio::ip::port_type>(port));
  auto listener = std::make_unique<TcpListener>(context);
  if (error = listener->Open(endpoint); error) return CannotListen(NameOf(endpoint), error);
  return listener;
}

absl::StatusOr<std::unique_ptr<Listener>> Listener::OnUnixSocket(asio::io_context& context,
                                                                 const std::string& path) {
  constexpr size_t kLongestPath = 107;
  if (path.size() > kLongestPath) {
    return absl::InvalidArgumentError(absl::StrCat("longer than a Unix socket may be: ", path));
  }
  unlink(path.c_str());
  auto listener = std::make_unique<LocalListener>(context, path);
  if (const error_code error = listener->Open(Local::endpoint(path)); error) {
    return CannotListen("unix:" + path, error);
  }
  return listener;
}

// Source: Redis 7.0 server.c, listenToPort.
absl::StatusOr<Listeners> ListenOnTcp(asio::io_context& context, const std::string& bind,
                                      int port) {
  Listeners opened;
  const std::vector<std::string> addresses = absl::StrSplit(bind, ' ', absl::SkipEmpty());
  for (const std::string& text : addresses) {
    const bool is_optional = text.starts_with('-');
    const std::string address = is_optional ? text.substr(1) : text;
    absl::StatusOr<std::unique_ptr<Listener>> listener =
        Listener::OnTcp(context, WithoutAsterisk(address), port);
    if (!listener.ok() && is_optional && absl::IsUnavailable(listener.status())) continue;
    REDOUBLE_RETURN_IF_ERROR(listener.status());
    port = (*listener)->port();
    opened.push_back(*std::move(listener));
  }
  if (!opened.empty()) return opened;
  return absl::InvalidArgumentError(absl::StrCat("no address to listen on: bind \"", bind, "\""));
}

}  // namespace redouble::inline v0_1::sim
