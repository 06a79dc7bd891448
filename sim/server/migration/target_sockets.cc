#include "redouble/sim/server/migration/target_sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "absl/status/status.h"
#include "redouble/core/base/posix/sockets.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr size_t kPartBytes = 64 * 1024;
constexpr size_t kMaxLineBytes = 1023;
constexpr int64_t kMicrosPerMilli = 1000;
// A longer timeout is this one: what is added to the present time must not overflow.
constexpr int64_t kMaxTimeoutMs = int64_t{1} << 31;
constexpr int64_t kMaxPollMs = 1'000'000;

absl::Status Broken(int error) { return absl::UnavailableError(std::strerror(error)); }

// The end of a wait.
class Deadline {
 public:
  Deadline(const std::function<int64_t()>& now_us, int64_t timeout_ms)
      : now_us_(now_us),
        deadline_us_(now_us() + std::min(timeout_ms, kMaxTimeoutMs) * kMicrosPerMilli) {}

  // Waits until the socket can be read or written (`events`), or is broken.
  absl::Status Await(int socket, short events) const {
    while (true) {
      // What is ready is served also if this process has slept past the deadline.
      const int64_t left_us = std::max<int64_t>(deadline_us_ - now_us_(), 0);
      const int64_t left_ms = (left_us + kMicrosPerMilli - 1) / kMicrosPerMilli;
      pollfd descriptor = {.fd = socket, .events = events, .revents = 0};
      const int ready = poll(&descriptor, 1, static_cast<int>(std::min(left_ms, kMaxPollMs)));
      if (ready > 0) return absl::OkStatus();
      if (ready < 0 && errno != EINTR) return Broken(errno);
      if (left_us == 0) return absl::DeadlineExceededError("timeout");
    }
  }

 private:
  const std::function<int64_t()>& now_us_;
  const int64_t deadline_us_;
};

// Returns a connected socket. If the last address refuses the connection, the socket is returned
// all the same: Redis notices that when it writes.
absl::StatusOr<int> ConnectTo(const addrinfo& address, const Deadline& deadline) {
  const int socket = base::OpenSocket(address.ai_family, address.ai_socktype, address.ai_protocol);
  if (socket < 0) return Broken(errno);
  absl::Status status;
  if (base::MakeNonBlocking(socket) < 0) status = Broken(errno);
  if (status.ok() && connect(socket, address.ai_addr, address.ai_addrlen) < 0) {
    status = errno == EINPROGRESS ? deadline.Await(socket, POLLOUT) : Broken(errno);
    int error = 0;
    socklen_t size = sizeof(error);
    const bool is_last = address.ai_next == nullptr;
    if (status.ok() && !is_last) getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) status = Broken(error);
  }
  if (status.ok()) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return socket;
  }
  close(socket);
  return status;
}

// Resolving takes as long as it takes, as in Redis.
absl::StatusOr<int> ConnectTo(const std::string& host, const std::string& port,
                              const std::function<int64_t()>& now_us, int64_t timeout_ms) {
  // Redis reads the digits that the word begins with.
  const auto number = static_cast<int>(std::strtol(port.c_str(), nullptr, 10));
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(number).c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  const Deadline deadline(now_us, timeout_ms);
  absl::StatusOr<int> socket = absl::UnavailableError("no address");
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    socket = ConnectTo(*address, deadline);
    if (socket.ok() || absl::IsDeadlineExceeded(socket.status())) break;
  }
  return socket;
}

}  // namespace

class TargetSockets::Socket final : public memory::MigrationConnection {
 public:
  // Takes the descriptor.
  Socket(int socket, const std::function<int64_t()>& now_us) : socket_(socket), now_us_(now_us) {}
  ~Socket() override { close(socket_); }

  absl::Status Write(std::string_view bytes, int64_t timeout_ms) override {
    while (!bytes.empty()) {
      REDOUBLE_RETURN_IF_ERROR(WritePart(bytes.substr(0, kPartBytes), timeout_ms));
      bytes.remove_prefix(std::min(bytes.size(), kPartBytes));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> ReadLine(int64_t timeout_ms) override {
    while (true) {
      const size_t end = received_.find('\n');
      // Redis takes a line without any byte before its end for the end of the connection.
      if (end == 0) return absl::UnavailableError("empty line");
      if (end != std::string::npos && end <= kMaxLineBytes) return TakeLine(end);
      if (received_.size() >= kMaxLineBytes) return Take(kMaxLineBytes);
      REDOUBLE_RETURN_IF_ERROR(Receive(timeout_ms));
    }
  }

  int64_t used_us = 0;  // When a MIGRATE took it.

 private:
  absl::Status WritePart(std::string_view bytes, int64_t timeout_ms) const {
    const Deadline deadline(now_us_, timeout_ms);
    while (!bytes.empty()) {
      const ssize_t size = send(socket_, bytes.data(), bytes.size(), base::kNoSignal);
      if (size >= 0) {
        bytes.remove_prefix(static_cast<size_t>(size));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        REDOUBLE_RETURN_IF_ERROR(deadline.Await(socket_, POLLOUT));
      } else if (errno != EINTR) {
        return Broken(errno);
      }
    }
    return absl::OkStatus();
  }

  // Appends what has arrived, at least one byte.
  absl::Status Receive(int64_t timeout_ms) {
    const Deadline deadline(now_us_, timeout_ms);
    std::array<char, kMaxLineBytes> bytes;
    while (true) {
      const ssize_t size = recv(socket_, bytes.data(), bytes.size(), 0);
      if (size == 0) return absl::UnavailableError("closed by the target");
      if (size > 0) {
        received_.append(bytes.data(), static_cast<size_t>(size));
        return absl::OkStatus();
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        REDOUBLE_RETURN_IF_ERROR(deadline.Await(socket_, POLLIN));
      } else if (errno != EINTR) {
        return Broken(errno);
      }
    }
  }

  std::string Take(size_t size) {
    std::string taken = received_.substr(0, size);
    received_.erase(0, size);
    return taken;
  }

  std::string TakeLine(size_t end) {
    std::string line = Take(end + 1);
    line.pop_back();
    if (line.ends_with('\r')) line.pop_back();
    return line;
  }

  const int socket_;
  const std::function<int64_t()>& now_us_;
  std::string received_;  // And not yet read.
};

TargetSockets::TargetSockets(std::function<int64_t()> now_us) : now_us_(std::move(now_us)) {}

TargetSockets::~TargetSockets() = default;

absl::StatusOr<memory::MigrationConnection*> TargetSockets::Connect(std::string_view host,
                                                                    std::string_view port,
                                                                    int64_t timeout_ms) {
  const std::pair name{std::string(host), std::string(port)};
  auto found = sockets_.find(name);
  if (found == sockets_.end()) {
    if (sockets_.size() == kMost) {
      sockets_.erase(std::min_element(sockets_.begin(), sockets_.end(),
                                      [](const auto& left, const auto& right) {
                                        return left.second->used_us < right.second->used_us;
                                      }));
    }
    REDOUBLE_ASSIGN_OR_RETURN(const int socket,
                              ConnectTo(name.first, name.second, now_us_, timeout_ms));
    found = sockets_.emplace(name, std::make_unique<Socket>(socket, now_us_)).first;
  }
  found->second->used_us = now_us_();
  return found->second.get();
}

void TargetSockets::Forget(std::string_view host, std::string_view port) {
  sockets_.erase({std::string(host), std::string(port)});
}

void TargetSockets::CloseUnused() {
  const int64_t now_us = now_us_();
  std::erase_if(sockets_, [now_us](const auto& socket) {
    return now_us - socket.second->used_us > kUnusedMicros;
  });
}

}  // namespace redouble::inline v0_1::sim
