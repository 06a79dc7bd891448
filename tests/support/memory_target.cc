#include "tests/support/memory_target.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/store/command.h"
#include "core/store/store.h"

namespace redouble::tests {

using store::Reply;

// A command on its way, with the words that it needs to stay alive.
class MemoryTarget::PendingCommand final : public store::Request {
 public:
  explicit PendingCommand(const Words& words) : PendingCommand(std::make_unique<Text>(words)) {}

  Reply TakeReply() {
    if (!result_->ok()) throw std::runtime_error(result_->status().ToString());
    return **std::move(result_);
  }
  bool answered() const { return result_.has_value(); }

 private:
  struct Text {
    explicit Text(const Words& from)
        : words(from),
          views(words.begin() + 1, words.end()),
          command(store::Command::Named(words[0], views)) {}
    const Words words;
    const std::vector<std::string_view> views;
    const store::Command command;
  };

  explicit PendingCommand(std::unique_ptr<Text> text)
      : Request(Kind::kCommand, std::span(&text->command, 1)), text_(std::move(text)) {}

  void OnComplete(absl::StatusOr<Reply>&& result) override { result_ = std::move(result); }

  std::unique_ptr<Text> text_;
  std::optional<absl::StatusOr<Reply>> result_;
};

MemoryTarget::MemoryTarget(memory::EngineOptions options) : options_(options) {
  Reset(absl::UnixEpoch());
}

MemoryTarget::~MemoryTarget() = default;

void MemoryTarget::Reset(absl::Time now) {
  connections_.clear();
  engine_.reset();
  clock_ = std::make_unique<base::VirtualClock>(now);
  engine_ = std::make_unique<memory::Engine>(*clock_, options_);
}

std::optional<absl::Time> MemoryTarget::NextDeadline() {
  const int64_t now_ms = clock_->NowMillis();
  std::optional<int64_t> earliest_ms;
  const auto consider = [&](int64_t deadline_ms) {
    if (deadline_ms >= now_ms && (!earliest_ms || deadline_ms < *earliest_ms)) {
      earliest_ms = deadline_ms;
    }
  };
  for (int index = 0; index < engine_->database_count(); ++index) {
    memory::Database& db = engine_->database(index);
    for (size_t i = 0; i < db.size(); ++i) {
      if (const std::optional<int64_t> deadline_ms = db.DeadlineOf(db.at(i))) {
        consider(*deadline_ms);
      }
    }
  }
  for (const auto& [number, connection] : connections_) {
    if (!connection.session->blocked()) continue;
    const std::optional<int64_t> deadline_ms = connection.session->blocked_operation().deadline_ms;
    if (deadline_ms) consider(*deadline_ms);
  }
  if (!earliest_ms) return std::nullopt;
  return absl::FromUnixMillis(*earliest_ms);
}

std::vector<Reply> MemoryTarget::RunAll(int connection, std::span<const Words> commands) {
  std::vector<Reply> replies;
  replies.reserve(commands.size());
  for (const Words& command : commands) {
    std::optional<Reply> reply = Run(connection, command);
    if (!reply) throw std::logic_error("blocked where it must not: " + JoinWords(command));
    replies.push_back(*std::move(reply));
  }
  return replies;
}

std::optional<Reply> MemoryTarget::Run(int number, const Words& command) {
  Connection& connection = At(number);
  const bool waits_behind = !connection.pending.empty();
  PendingCommand& pending =
      *connection.pending.emplace_back(std::make_unique<PendingCommand>(command));
  connection.session->Submit(pending);
  return waits_behind ? std::nullopt : Poll(number);
}

std::optional<Reply> MemoryTarget::Poll(int number) {
  Connection& connection = At(number);
  if (connection.pending.empty() || !connection.pending.front()->answered()) return std::nullopt;
  Reply reply = connection.pending.front()->TakeReply();
  connection.pending.pop_front();
  return reply;
}

MemoryTarget::Connection& MemoryTarget::At(int number) {
  Connection& connection = connections_[number];
  if (connection.session == nullptr) connection.session = engine_->Connect();
  return connection;
}

}  // namespace redouble::tests
