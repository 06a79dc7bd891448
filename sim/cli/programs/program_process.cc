#include "redouble/sim/cli/programs/program_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/posix/sockets.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/time/system_clock.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kHost[] = "127.0.0.1";
// How often Next() looks whether the program has ended.
constexpr absl::Duration kExitPoll = absl::Milliseconds(2);

// Returns a listening socket of a port that the kernel chooses, and the port.
absl::StatusOr<std::pair<int, int>> Listen() {
  const int listener = base::OpenSocket(AF_INET, SOCK_STREAM);
  if (listener < 0) return absl::ErrnoToStatus(errno, "cannot open a socket");
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, kHost, &address.sin_addr);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (base::MakeNonBlocking(listener) != 0 || bind(listener, generic, size) != 0 ||
      listen(listener, SOMAXCONN) != 0 || getsockname(listener, generic, &size) != 0) {
    const absl::Status failed = absl::ErrnoToStatus(errno, "cannot listen on 127.0.0.1");
    close(listener);
    return failed;
  }
  return std::pair(listener, static_cast<int>(ntohs(address.sin_port)));
}

redis::ChildProcessOptions ProcessOptions(const ProgramOptions& options, std::string executable,
                                          int port, std::string output_path) {
  redis::ChildProcessOptions process;
  process.executable = std::move(executable);
  process.arguments.assign(options.command.begin() + 1, options.command.end());
  process.environment = {{"REDIS_URL", absl::StrCat("redis://", kHost, ":", port)},
                         {"REDIS_HOST", kHost},
                         {"REDIS_PORT", absl::StrCat(port)},
                         // Python's sets and dictionaries of texts have the same order in each run.
                         {"PYTHONHASHSEED", "0"}};
  process.environment.insert(process.environment.end(), options.environment.begin(),
                             options.environment.end());
  process.output_path = std::move(output_path);
  process.leads_group = true;
  return process;
}

}  // namespace

struct ProgramProcess::Connection {
  explicit Connection(int file) : socket(file) {}
  ~Connection() { close(socket); }

  // Reads all bytes that have arrived.
  void Read() {
    std::array<char, 16 * 1024> bytes;
    while (true) {
      const ssize_t count = recv(socket, bytes.data(), bytes.size(), 0);
      if (count > 0) {
        received.append(bytes.data(), static_cast<size_t>(count));
      } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
        ended = true;
        return;
      } else if (errno == EAGAIN) {
        return;
      }
    }
  }

  void Write() {
    const ssize_t count = send(socket, unsent.data(), unsent.size(), base::kNoSignal);
    if (count > 0) unsent.erase(0, static_cast<size_t>(count));
    if (count < 0 && errno != EINTR && errno != EAGAIN) unsent.clear();  // It has no reader.
  }

  const int socket;
  store::RequestParser parser = {};
  std::string received = {};
  std::string unsent = {};
  bool ended = false;  // The program has closed its side.
};

absl::StatusOr<std::unique_ptr<ProgramProcess>> ProgramProcess::Start(
    const ProgramOptions& options) {
  REDOUBLE_ASSIGN_OR_RETURN(std::string executable, redis::FindExecutable(options.command.front()));
  REDOUBLE_ASSIGN_OR_RETURN(redis::PrivateFolder folder,
                            redis::PrivateFolder::Create("redouble-program-"));
  REDOUBLE_ASSIGN_OR_RETURN(const auto listener, Listen());
  const redis::ChildProcessOptions process =
      ProcessOptions(options, std::move(executable), listener.second, folder.PathOf("output"));
  std::unique_ptr<ProgramProcess> program(
      new ProgramProcess(std::move(folder), listener.first, options.patience));
  REDOUBLE_ASSIGN_OR_RETURN(program->process_, redis::ChildProcess::Start(process));
  return program;
}

ProgramProcess::ProgramProcess(redis::PrivateFolder folder, int listener, absl::Duration patience)
    : folder_(std::move(folder)), listener_(listener), patience_(patience) {}

ProgramProcess::~ProgramProcess() { close(listener_); }

absl::StatusOr<ProgramEvent> ProgramProcess::Next() {
  const base::SystemClock clock;
  const absl::Time deadline = clock.Now() + patience_;
  bool has_exited = false;
  while (true) {
    REDOUBLE_ASSIGN_OR_RETURN(std::optional<ProgramEvent> event, TakeEvent());
    if (event) return *std::move(event);
    if (has_exited) return ProgramEvent{.kind = ProgramEvent::kExited};
    if (clock.Now() >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("the program has neither sent a command nor ended for ",
                       absl::FormatDuration(patience_)));
    }
    // What the program sent before it ended has arrived by now, and is read once more.
    has_exited = process_->WaitForExit(absl::ZeroDuration());
    MoveBytes(has_exited ? absl::ZeroDuration() : kExitPoll);
  }
}

absl::StatusOr<std::optional<ProgramEvent>> ProgramProcess::TakeEvent() {
  for (auto& [number, connection] : connections_) {
    std::string& received = connection->received;
    using Progress = store::RequestParser::Progress;
    while (!received.empty()) {
      const Progress progress = connection->parser.Parse(received, {});
      if (progress == Progress::kIncomplete) break;
      if (progress == Progress::kError) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the program does not speak the Redis protocol: ", connection->parser.error()));
      }
      const auto& words = connection->parser.words();
      ProgramEvent event{ProgramEvent::kCommand, number, {words.begin(), words.end()}};
      received.erase(0, connection->parser.consumed());
      if (!event.words.empty()) return event;
    }
    if (connection->ended) {
      ProgramEvent event{.kind = ProgramEvent::kClosed, .connection = number};
      Close(number);
      return event;
    }
  }
  return std::nullopt;
}

void ProgramProcess::MoveBytes(absl::Duration timeout) {
  std::vector<pollfd> sockets = {{listener_, POLLIN, 0}};
  std::vector<Connection*> connections;
  for (const auto& [number, connection] : connections_) {
    const int events =
        (connection->ended ? 0 : POLLIN) | (connection->unsent.empty() ? 0 : POLLOUT);
    sockets.push_back({connection->socket, static_cast<short>(events), 0});
    connections.push_back(connection.get());
  }
  const auto timeout_ms = static_cast<int>(absl::ToInt64Milliseconds(timeout));
  if (poll(sockets.data(), sockets.size(), timeout_ms) <= 0) return;
  for (size_t i = 0; i < connections.size(); ++i) {
    const short ready = sockets[i + 1].revents;
    if ((ready & POLLOUT) != 0) connections[i]->Write();
    if ((ready & (POLLIN | POLLHUP | POLLERR)) != 0 && !connections[i]->ended) {
      connections[i]->Read();
    }
  }
  if (sockets[0].revents != 0) Accept();
}

void ProgramProcess::Accept() {
  while (true) {
    const int socket = base::AcceptNonBlocking(listener_);
    if (socket < 0) return;
    constexpr int kOn = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof(kOn));
    const auto added =
        connections_.emplace(next_connection_++, std::make_unique<Connection>(socket)).first;
    added->second->Read();
  }
}

void ProgramProcess::Send(int connection, std::string_view bytes) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  found->second->unsent += bytes;
  found->second->Write();
}

void ProgramProcess::Close(int connection) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  // The rest of a short reply, such as that of QUIT, fits into the socket's buffer.
  if (!found->second->unsent.empty()) found->second->Write();
  connections_.erase(found);
}

std::string ProgramProcess::Output() const {
  return redis::ReadFile(folder_.PathOf("output")).value_or("");
}

}  // namespace redouble::inline v0_1::sim
