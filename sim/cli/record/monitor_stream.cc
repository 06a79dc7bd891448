#include "redouble/sim/cli/record/monitor_stream.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/posix/sockets.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::sim {
namespace {

// How long the server may take to answer AUTH and MONITOR.
constexpr absl::Duration kPatience = absl::Seconds(5);

absl::Status CannotConnect(const std::string& where, const char* why) {
  return absl::UnavailableError(absl::StrCat("cannot connect to ", where, ": ", why));
}

absl::StatusOr<int> ConnectTo(const redis::UnixAddress& address) {
  sockaddr_un target = {};
  target.sun_family = AF_UNIX;
  if (address.path.size() >= sizeof(target.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat("too long a path: ", address.path));
  }
  std::copy(address.path.begin(), address.path.end(), target.sun_path);
  const int file = base::OpenSocket(AF_UNIX, SOCK_STREAM);
  if (file >= 0 && connect(file, reinterpret_cast<sockaddr*>(&target), sizeof(target)) == 0) {
    return file;
  }
  const absl::Status status = CannotConnect(address.path, std::strerror(errno));
  if (file >= 0) close(file);
  return status;
}

absl::StatusOr<int> ConnectTo(const redis::TcpAddress& address) {
  const std::string where = absl::StrCat(address.host, ":", address.port);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (code != 0) return CannotConnect(where, gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  int error = ECONNREFUSED;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int file = base::OpenSocket(one->ai_family, one->ai_socktype, one->ai_protocol);
    if (file >= 0 && connect(file, one->ai_addr, one->ai_addrlen) == 0) return file;
    error = errno;
    if (file >= 0) close(file);
  }
  return CannotConnect(where, std::strerror(error));
}

}  // namespace

absl::StatusOr<MonitorStream> MonitorStream::Open(const redis::Options& options) {
  if (options.tls.enabled || options.cluster || !options.sentinel_master.empty()) {
    return absl::UnimplementedError("recording takes one server, without TLS: redis:// or unix://");
  }
  REDOUBLE_ASSIGN_OR_RETURN(
      const int socket,
      std::visit([](const auto& address) { return ConnectTo(address); }, options.address));
  MonitorStream stream(socket);
  if (options.password) {
    const std::string user =
        options.user.empty() ? "" : absl::StrCat(store::QuoteBytes(options.user), " ");
    REDOUBLE_RETURN_IF_ERROR(
        stream.Expect(absl::StrCat("AUTH ", user, store::QuoteBytes(*options.password), "\r\n")));
  }
  REDOUBLE_RETURN_IF_ERROR(stream.Expect("MONITOR\r\n"));
  return stream;
}

MonitorStream::MonitorStream(MonitorStream&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), buffer_(std::move(other.buffer_)) {}

MonitorStream::~MonitorStream() {
  if (socket_ >= 0) close(socket_);
}

absl::Status MonitorStream::Expect(const std::string& request) {
  if (send(socket_, request.data(), request.size(), base::kNoSignal) !=
      static_cast<ssize_t>(request.size())) {
    return absl::UnavailableError("the server closed the connection");
  }
  const std::optional<std::string> line = Next(kPatience);
  if (!line || line->empty()) return absl::UnavailableError("the server does not answer");
  if (line->starts_with('+')) return absl::OkStatus();
  return absl::PermissionDeniedError(line->substr(1));
}

std::optional<std::string> MonitorStream::Next(absl::Duration patience) {
  while (true) {
    const size_t end = buffer_.find("\r\n");
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 2);
      return line;
    }
    pollfd wait = {socket_, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(absl::ToInt64Milliseconds(patience))) != 1) return "";
    std::array<char, 64 * 1024> chunk;
    const ssize_t size = recv(socket_, chunk.data(), chunk.size(), 0);
    if (size <= 0) return std::nullopt;
    buffer_.append(chunk.data(), static_cast<size_t>(size));
  }
}

}  // namespace redouble::inline v0_1::sim
