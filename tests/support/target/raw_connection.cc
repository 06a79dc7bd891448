#include "redouble/tests/support/target/raw_connection.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/resp/command_writer.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

constexpr size_t kReadBlock = 64 * 1024;

absl::StatusOr<int> Connect(const sockaddr* address, socklen_t size, const std::string& name) {
  const int file = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return absl::ErrnoToStatus(errno, "cannot make a socket");
  absl::Cleanup closer = [file] { close(file); };
  if (connect(file, address, size) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot connect to ", name));
  }
  if (fcntl(file, F_SETFL, O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a socket non-blocking");
  }
  std::move(closer).Cancel();
  return file;
}

absl::Status Closed() { return absl::UnavailableError("the server has closed the connection"); }

// Waits for one of `events`; returns false if none occurs before `end`.
bool WaitFor(int socket, short events, std::chrono::steady_clock::time_point end) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wait = {socket, events, 0};
    const int count = poll(&wait, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (count > 0) return true;
    if (count == 0 || errno != EINTR) return false;
  }
}

std::chrono::steady_clock::time_point After(absl::Duration timeout) {
  return std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(timeout);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RawConnection>> RawConnection::ConnectUnix(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat("too long for a Unix socket: ", path));
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  REDOUBLE_ASSIGN_OR_RETURN(
      int file, Connect(reinterpret_cast<const sockaddr*>(&address), sizeof(address), path));
  return std::unique_ptr<RawConnection>(new RawConnection(file));
}

absl::StatusOr<std::unique_ptr<RawConnection>> RawConnection::ConnectLoopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  REDOUBLE_ASSIGN_OR_RETURN(int file, Connect(reinterpret_cast<const sockaddr*>(&address),
                                              sizeof(address), absl::StrCat("127.0.0.1:", port)));
  const int yes = 1;
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return std::unique_ptr<RawConnection>(new RawConnection(file));
}

RawConnection::RawConnection(int socket) : socket_(socket) {}

RawConnection::~RawConnection() { close(socket_); }

void RawConnection::Append(const Arguments& command) {
  const std::vector<std::string_view> arguments(command.begin() + 1, command.end());
  Append(store::Command::Named(command.front(), arguments));
}

void RawConnection::Append(const store::Command& command) {
  store::AppendCommand(command, unsent_);
}

absl::Status RawConnection::Flush(absl::Duration timeout) {
  size_t written = 0;
  absl::Cleanup drop_written = [this, &written] { unsent_.erase(0, written); };
  const auto give_up = After(timeout);
  while (written < unsent_.size()) {
    REDOUBLE_RETURN_IF_ERROR(end_);
    const ssize_t count =
        send(socket_, unsent_.data() + written, unsent_.size() - written, MSG_NOSIGNAL);
    if (count >= 0) {
      written += static_cast<size_t>(count);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Closed();
    if (!WaitFor(socket_, POLLIN | POLLOUT, give_up)) {
      return absl::DeadlineExceededError("the server does not read what is sent");
    }
    ReadWhatIsThere();
  }
  return absl::OkStatus();
}

absl::Status RawConnection::Send(const Arguments& command) {
  Append(command);
  return Flush();
}

absl::Status RawConnection::Send(const store::Command& command) {
  Append(command);
  return Flush();
}

void RawConnection::ReadWhatIsThere() {
  char block[kReadBlock];
  while (end_.ok()) {
    const ssize_t count = recv(socket_, block, sizeof(block), 0);
    if (count > 0 && resp3_) {
      resp3_->Feed(std::string_view(block, static_cast<size_t>(count)));
    } else if (count > 0) {
      reader_.Feed(std::string_view(block, static_cast<size_t>(count)));
    } else if (count < 0 && errno == EAGAIN) {
      break;
    } else if (count == 0 || errno != EINTR) {
      end_ = Closed();
    }
  }
}

absl::StatusOr<std::optional<Reply>> RawConnection::TryReceive() {
  if (resp3_) {
    std::optional<Reply> reply = resp3_->Next();
    if (!reply) {
      ReadWhatIsThere();
      reply = resp3_->Next();
    }
    if (!reply && !end_.ok()) return end_;
    return reply;
  }
  using Outcome = store::ReplyReader::Outcome;
  Reply reply;
  Outcome outcome = reader_.Next(reply);
  if (outcome == Outcome::kNeedMore) {
    ReadWhatIsThere();
    outcome = reader_.Next(reply);
  }
  if (outcome == Outcome::kReply) return reply;
  if (outcome == Outcome::kFailed) return reader_.status();
  REDOUBLE_RETURN_IF_ERROR(end_);
  return std::nullopt;
}

absl::StatusOr<Reply> RawConnection::Receive(absl::Duration timeout) {
  const auto give_up = After(timeout);
  for (;;) {
    REDOUBLE_ASSIGN_OR_RETURN(std::optional<Reply> reply, TryReceive());
    if (reply.has_value()) return *std::move(reply);
    if (!WaitFor(socket_, POLLIN, give_up)) {
      return absl::DeadlineExceededError(
          absl::StrCat("no reply within ", absl::FormatDuration(timeout)));
    }
  }
}

absl::StatusOr<Reply> RawConnection::Call(const Arguments& command) {
  REDOUBLE_RETURN_IF_ERROR(Send(command));
  return Receive();
}

absl::StatusOr<Reply> RawConnection::Call(const store::Command& command) {
  REDOUBLE_RETURN_IF_ERROR(Send(command));
  return Receive();
}

absl::StatusOr<std::vector<Reply>> RawConnection::CallAll(const std::vector<Arguments>& commands) {
  for (const Arguments& command : commands) Append(command);
  REDOUBLE_RETURN_IF_ERROR(Flush());
  std::vector<Reply> replies;
  replies.reserve(commands.size());
  while (replies.size() < commands.size()) {
    REDOUBLE_ASSIGN_OR_RETURN(Reply reply, Receive());
    replies.push_back(std::move(reply));
  }
  return replies;
}

absl::Status RawConnection::Synchronize() {
  constexpr int kTurns = 3;
  for (int turn = 0; turn < kTurns; ++turn) {
    // An error reply, such as NOAUTH, also proves that the turn is over.
    REDOUBLE_RETURN_IF_ERROR(Call({"PING"}).status());
  }
  return absl::OkStatus();
}

std::string Ask(RawConnection& connection, const RawConnection::Arguments& command) {
  const absl::StatusOr<Reply> reply = connection.Call(command);
  return reply.ok() ? reply->DebugString() : reply.status().ToString();
}

}  // namespace redouble::inline v0_1::tests
