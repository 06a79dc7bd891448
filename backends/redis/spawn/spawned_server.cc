#include "redouble/backends/redis/spawn/spawned_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/posix/sockets.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::redis {
namespace {

constexpr size_t kLogTailBytes = 2000;
constexpr absl::Duration kPollInterval = absl::Milliseconds(1);

// Waits are bounded by real, monotonic time; no result depends on it.
class Deadline {
 public:
  explicit Deadline(absl::Duration patience)
      : end_(std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(patience)) {}

  absl::Duration Left() const {
    return std::max(absl::ZeroDuration(),
                    absl::FromChrono(end_ - std::chrono::steady_clock::now()));
  }
  bool HasPassed() const { return Left() == absl::ZeroDuration(); }

 private:
  const std::chrono::steady_clock::time_point end_;
};

// Quotes a value for redis.conf; every byte is preserved.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '"' || byte == '\\') {
      absl::StrAppend(&quoted, "\\", std::string(1, byte));
    } else if (code < 0x20 || code >= 0x7f) {
      absl::StrAppend(&quoted, "\\x", absl::Hex(code, absl::kZeroPad2));
    } else {
      quoted.push_back(byte);
    }
  }
  return quoted + "\"";
}

std::string PercentEncoded(const std::string& text) {
  std::string encoded;
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (absl::ascii_isalnum(code) || absl::StrContains("-._~", std::string(1, byte))) {
      encoded.push_back(byte);
    } else {
      absl::StrAppend(&encoded, "%",
                      absl::AsciiStrToUpper(absl::StrCat(absl::Hex(code, absl::kZeroPad2))));
    }
  }
  return encoded;
}

absl::Status CheckOptions(const SpawnedServerOptions& options) {
  if (options.password.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError("a password of Redis cannot hold a zero byte");
  }
  for (const std::string& line : options.config) {
    if (line.find_first_of(std::string("\n\r\0", 3)) != std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("a line of configuration cannot hold a line break or a zero byte: ",
                       absl::CHexEscape(line)));
    }
  }
  return absl::OkStatus();
}

// The first line of the reply to PING; nullopt if there is no reply in time.
std::string AnswerToPing(const std::string& socket_path, const Deadline& deadline) {
  const int file = base::OpenSocket(AF_UNIX, SOCK_STREAM);
  if (file < 0) return "";
  absl::Cleanup closer = [file] { close(file); };
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof(address.sun_path) - 1);
  if (connect(file, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return "";
  if (send(file, "PING\r\n", 6, base::kNoSignal) != 6) return "";
  std::string answer;
  while (!absl::EndsWith(answer, "\n")) {
    pollfd wait = {file, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(absl::ToInt64Milliseconds(deadline.Left()))) != 1)
      return "";
    char byte;
    if (recv(file, &byte, 1, 0) != 1) return "";
    answer.push_back(byte);
  }
  return answer;
}

// A server that requires a password is ready; a server that loads its data is not.
bool IsReady(const std::string& answer_to_ping) {
  return absl::StartsWith(answer_to_ping, "+PONG") || absl::StartsWith(answer_to_ping, "-NOAUTH");
}

}  // namespace

absl::StatusOr<std::unique_ptr<SpawnedServer>> SpawnedServer::Start(
    const SpawnedServerOptions& options) {
  REDOUBLE_RETURN_IF_ERROR(CheckOptions(options));
  REDOUBLE_ASSIGN_OR_RETURN(std::string executable, FindExecutable(options.executable));
  REDOUBLE_ASSIGN_OR_RETURN(PrivateFolder folder, PrivateFolder::Create("redouble-redis-"));
  std::unique_ptr<SpawnedServer> server(
      new SpawnedServer(options, std::move(executable), std::move(folder)));
  if (options.held_time.has_value()) {
    REDOUBLE_ASSIGN_OR_RETURN(auto clock, HeldClock::Create(server->folder(), *options.held_time));
    server->clock_ = std::move(clock);
  }
  server->port_ = options.port;
  if (options.listen_on_loopback && options.port == nullptr) {
    REDOUBLE_ASSIGN_OR_RETURN(auto port, LoopbackPort::Reserve());
    server->port_ = std::move(port);
  }
  REDOUBLE_RETURN_IF_ERROR(server->WriteConfiguration());
  REDOUBLE_RETURN_IF_ERROR(server->Launch());
  return server;
}

SpawnedServer::SpawnedServer(SpawnedServerOptions options, std::string executable,
                             PrivateFolder folder)
    : options_(std::move(options)),
      executable_(std::move(executable)),
      folder_(std::move(folder)) {}

SpawnedServer::~SpawnedServer() { Kill(); }

// A file instead of arguments: a password must not appear in the list of processes.
absl::Status SpawnedServer::WriteConfiguration() const {
  std::string text =
      absl::StrCat("bind 127.0.0.1\n", PortLines(), "unixsocket ", Quoted(unix_socket()),
                   "\nunixsocketperm 700\ndir ", Quoted(folder()),
                   "\nsave \"\"\nappendonly no\ndaemonize no\nsupervised no\nset-proc-title no\n"
                   // Settle depends on the fastest timer and the most thorough active expiry of
                   // Redis.
                   "hz 500\ndynamic-hz no\nactive-expire-effort 10\n");
  if (!options_.password.empty()) {
    absl::StrAppend(&text, "requirepass ", Quoted(options_.password), "\n");
  }
  for (const std::string& line : options_.config) absl::StrAppend(&text, line, "\n");
  return WriteFile(folder_.PathOf("redis.conf"), text);
}

std::string SpawnedServer::PortLines() const {
  if (!options_.tls) return absl::StrCat("port ", port(), "\n");
  const SpawnedTls& tls = *options_.tls;
  return absl::StrCat("port 0\ntls-port ", port(), "\ntls-cert-file ", Quoted(tls.certificate_file),
                      "\ntls-key-file ", Quoted(tls.key_file), "\ntls-ca-cert-file ",
                      Quoted(tls.ca_file), "\ntls-auth-clients ",
                      tls.demands_client_certificate ? "yes" : "no", "\n");
}

absl::Status SpawnedServer::Launch() {
  ChildProcessOptions child;
  child.executable = executable_;
  child.arguments = {folder_.PathOf("redis.conf")};
  if (options_.sentinel) child.arguments.push_back("--sentinel");
  child.output_path = folder_.PathOf("redis.log");
  if (clock_ != nullptr) child.environment = clock_->Environment();
  absl::StatusOr<std::unique_ptr<ChildProcess>> process = ChildProcess::Start(child);
  if (!process.ok()) return absl::UnavailableError(std::string(process.status().message()));
  process_ = *std::move(process);
  absl::Status status = WaitUntilReady();
  if (!status.ok()) Kill();
  return status;
}

absl::Status SpawnedServer::WaitUntilReady() {
  const Deadline deadline(options_.patience);
  while (!IsReady(AnswerToPing(unix_socket(), deadline))) {
    // WaitForExit is the pause between two attempts, so a refused configuration is reported at
    // once.
    if (process_->WaitForExit(kPollInterval)) {
      return absl::FailedPreconditionError(absl::StrCat(executable_, " ", process_->DescribeExit(),
                                                        " instead of serving; its log ends:\n",
                                                        LogTail()));
    }
    if (deadline.HasPassed()) {
      return absl::DeadlineExceededError(absl::StrCat(executable_, " does not answer PING after ",
                                                      absl::FormatDuration(options_.patience),
                                                      "; its log ends:\n", LogTail()));
    }
  }
  if (clock_ != nullptr && !clock_->IsFollowedBy(process_->pid())) {
    return absl::FailedPreconditionError(
        absl::StrCat(executable_, " does not follow the held clock; its log ends:\n", LogTail()));
  }
  return absl::OkStatus();
}

bool SpawnedServer::IsRunning() const {
  return process_ != nullptr && !process_->WaitForExit(absl::ZeroDuration());
}

int SpawnedServer::port() const { return port_ == nullptr ? 0 : port_->number(); }

std::string SpawnedServer::Credentials() const {
  if (options_.password.empty()) return "";
  return absl::StrCat(":", PercentEncoded(options_.password), "@");
}

std::string SpawnedServer::uri() const {
  return absl::StrCat("unix://", Credentials(), unix_socket());
}

std::string SpawnedServer::loopback_uri() const {
  if (port_ == nullptr) return "";
  return absl::StrCat(options_.tls ? "rediss://" : "redis://", Credentials(), "127.0.0.1:", port());
}

pid_t SpawnedServer::pid() const { return IsRunning() ? process_->pid() : 0; }

std::string SpawnedServer::log() const {
  return ReadFile(folder_.PathOf("redis.log")).value_or("");
}

std::string SpawnedServer::LogTail() const {
  const std::string text = log();
  if (text.size() <= kLogTailBytes) return text;
  return absl::StrCat("...", text.substr(text.size() - kLogTailBytes));
}

absl::Status SpawnedServer::SetTime(absl::Time now) {
  if (clock_ == nullptr) return absl::FailedPreconditionError("this server's clock is not held");
  return clock_->SetTime(now);
}

absl::Status SpawnedServer::AdvanceTime(absl::Duration step) {
  if (clock_ == nullptr) return absl::FailedPreconditionError("this server's clock is not held");
  return clock_->AdvanceTime(step);
}

std::optional<absl::Time> SpawnedServer::held_time() const {
  if (clock_ == nullptr) return std::nullopt;
  return clock_->Now();
}

absl::Status SpawnedServer::Settle() {
  if (clock_ == nullptr) return absl::FailedPreconditionError("this server's clock is not held");
  if (!IsRunning()) return absl::UnavailableError("the server does not run");
  const Deadline deadline(options_.patience);
  const int64_t enough = clock_->idle_turns() + 3;
  while (clock_->idle_turns() < enough) {
    if (process_->WaitForExit(kPollInterval)) {
      return absl::UnavailableError(
          absl::StrCat("the server ", process_->DescribeExit(), "; its log ends:\n", LogTail()));
    }
    if (deadline.HasPassed()) {
      return absl::DeadlineExceededError(absl::StrCat("the server has not been idle for ",
                                                      absl::FormatDuration(options_.patience)));
    }
  }
  return absl::OkStatus();
}

bool SpawnedServer::WaitForExit(absl::Duration timeout) const {
  return process_ == nullptr || process_->WaitForExit(timeout);
}

void SpawnedServer::Kill() { process_.reset(); }

absl::Status SpawnedServer::Terminate() {
  if (process_ == nullptr) return absl::OkStatus();
  process_->Signal(SIGTERM);
  const bool gone = process_->WaitForExit(options_.patience);
  Kill();
  if (gone) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat("the server did not shut down within ",
                                                  absl::FormatDuration(options_.patience),
                                                  " and was killed; its log ends:\n", LogTail()));
}

absl::Status SpawnedServer::Restart() {
  REDOUBLE_RETURN_IF_ERROR(Terminate());
  return Launch();
}

}  // namespace redouble::inline v0_1::redis
