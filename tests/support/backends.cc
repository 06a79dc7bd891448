#include "tests/support/backends.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/raw_connection.h"

namespace redouble::tests {
namespace {

using store::Reply;
using store::Request;

// Answers every request before Submit returns, over one connection.
class RawStore final : public store::Store {
 public:
  explicit RawStore(std::unique_ptr<RawConnection> connection)
      : connection_(std::move(connection)) {}

  void Submit(Request& request) override { request.Complete(Answer(request)); }

 private:
  absl::StatusOr<Reply> Answer(const Request& request) {
    if (request.kind() == Request::Kind::kCommand) {
      return connection_->Call(request.commands().front());
    }
    const bool transaction = request.kind() == Request::Kind::kTransaction;
    if (transaction) connection_->Append({"MULTI"});
    for (const store::Command& command : request.commands()) connection_->Append(command);
    if (transaction) connection_->Append({"EXEC"});
    if (absl::Status status = connection_->Flush(); !status.ok()) return status;

    std::vector<Reply> replies;
    const size_t count = request.commands().size() + (transaction ? 2 : 0);
    for (size_t i = 0; i < count; ++i) {
      absl::StatusOr<Reply> reply = connection_->Receive();
      if (!reply.ok()) return reply.status();
      replies.push_back(*std::move(reply));
    }
    if (transaction) return std::move(replies.back());
    return Reply::Array(std::move(replies));
  }

  std::unique_ptr<RawConnection> connection_;
};

void DieUnless(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "the live backend failed: %s\n", status.ToString().c_str());
  std::abort();
}

}  // namespace

absl::Status MemoryBackend::Start(absl::Time start) {
  clock_ = std::make_unique<base::VirtualClock>(start);
  engine_ = std::make_unique<memory::Engine>(*clock_);
  return absl::OkStatus();
}

std::unique_ptr<store::Store> MemoryBackend::Connect() { return engine_->Connect(); }

absl::Time MemoryBackend::Now() const { return clock_->Now(); }

void MemoryBackend::AdvanceTo(absl::Time time) { clock_->AdvanceTo(time); }

absl::Status LiveBackend::Start(absl::Time start) {
  redis::SpawnedServerOptions options;
  options.held_time = start;
  absl::StatusOr<std::unique_ptr<redis::SpawnedServer>> server =
      redis::SpawnedServer::Start(options);
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return absl::OkStatus();
}

std::unique_ptr<store::Store> LiveBackend::Connect() {
  absl::StatusOr<std::unique_ptr<RawConnection>> connection =
      RawConnection::ConnectUnix(server_->unix_socket());
  DieUnless(connection.status());
  return std::make_unique<RawStore>(*std::move(connection));
}

absl::Time LiveBackend::Now() const { return *server_->held_time(); }

void LiveBackend::AdvanceTo(absl::Time time) {
  if (time <= Now()) return;
  DieUnless(server_->SetTime(time));
  DieUnless(server_->Settle());
}

}  // namespace redouble::tests
