#include "redouble/sim/world/servers/server_links.h"

#include <cassert>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/resp/request_parser.h"

namespace redouble::inline v0_1::sim {
namespace {

std::string AddressOf(std::string_view host, std::string_view port) {
  return absl::StrCat(base::ToAbsl(host), ":", base::ToAbsl(port));
}

}  // namespace

// Runs what is written as commands of a session of the target, and keeps the replies.
class ServerLinks::Link final : public memory::MigrationConnection {
 public:
  explicit Link(WorldServer& target) : session_(target.engine().Connect()) {}

  absl::Status Write(std::string_view bytes, int64_t) override {
    store::ForEachCommand(bytes,
                          [this](const std::vector<std::string_view>& words) { Run(words); });
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> ReadLine(int64_t) override {
    if (lines_.empty()) return absl::DeadlineExceededError("the target has sent nothing");
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    return line;
  }

 private:
  // SELECT, AUTH and RESTORE reply with a status or an error.
  void Run(std::span<const std::string_view> words) {
    const store::Command command = store::Command::Named(words[0], words.subspan(1));
    const absl::StatusOr<store::Reply> reply = base::Run(session_->Execute(command));
    assert(reply.ok());
    lines_.push_back(absl::StrCat(reply->is_error() ? "-" : "+", reply->text()));
  }

  const std::unique_ptr<memory::Session> session_;
  std::deque<std::string> lines_;
};

ServerLinks::ServerLinks(FindServer find) : find_(std::move(find)) {}

ServerLinks::~ServerLinks() = default;

absl::StatusOr<memory::MigrationConnection*> ServerLinks::Connect(std::string_view host,
                                                                  std::string_view port, int64_t) {
  const std::string address = AddressOf(host, port);
  const auto open = links_.find(address);
  if (open != links_.end()) return open->second.get();
  WorldServer* const target = find_(host, port);
  if (target == nullptr) {
    return absl::UnavailableError(absl::StrCat("no server listens at ", address));
  }
  return links_.emplace(address, std::make_unique<Link>(*target)).first->second.get();
}

void ServerLinks::Forget(std::string_view host, std::string_view port) {
  links_.erase(AddressOf(host, port));
}

}  // namespace redouble::inline v0_1::sim
