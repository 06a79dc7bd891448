#include "redouble/tests/support/target/memory_target.h"

#include <deque>
#include <stdexcept>
#include <utility>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/resp/reply_encoding.h"
#include "redouble/core/store/store.h"
#include "redouble/tests/support/target/resp3_reader.h"

namespace redouble::inline v0_1::tests {

using store::Reply;

// A running command and its words, which must outlive it.
class MemoryTarget::PendingCommand final : public store::Request {
 public:
  PendingCommand(const Words& words, std::deque<absl::StatusOr<Reply>>& arrived)
      : PendingCommand(std::make_unique<Text>(words), arrived) {}

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

  PendingCommand(std::unique_ptr<Text> text, std::deque<absl::StatusOr<Reply>>& arrived)
      : Request(Kind::kCommand, std::span(&text->command, 1)),
        text_(std::move(text)),
        arrived_(arrived) {}

  void OnComplete(absl::StatusOr<Reply>&& result) override {
    arrived_.push_back(std::move(result));
  }

  std::unique_ptr<Text> text_;
  std::deque<absl::StatusOr<Reply>>& arrived_;
};

// Queues replies and messages that were not polled, in the order in which a client would receive
// them.
class MemoryTarget::Connection final : public store::PushListener {
 public:
  explicit Connection(std::unique_ptr<memory::SessionCore> opened) : session(std::move(opened)) {
    session->Listen(this);
  }
  ~Connection() override { session.reset(); }

  void OnPush(const Reply& push) override { arrived.push_back(push); }

  std::unique_ptr<memory::SessionCore> session;
  std::deque<absl::StatusOr<Reply>> arrived;
  std::deque<std::unique_ptr<PendingCommand>> commands;
  size_t unanswered = 0;
};

MemoryTarget::MemoryTarget(memory::EngineOptions options, bool resp3)
    : options_(options), resp3_(resp3) {
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
  for (int index = 0; index < engine_->core().database_count(); ++index) {
    memory::Database& db = engine_->core().database(index);
    for (size_t i = 0; i < db.size(); ++i) {
      if (const std::optional<int64_t> deadline_ms = db.DeadlineOf(db.at(i))) {
        consider(*deadline_ms);
      }
    }
  }
  for (const auto& [number, connection] : connections_) {
    if (!connection->session->blocked()) continue;
    const std::optional<int64_t> deadline_ms = connection->session->blocked_operation().deadline_ms;
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
  std::erase_if(connection.commands, [](const auto& sent) { return sent->completed(); });
  PendingCommand& pending = *connection.commands.emplace_back(
      std::make_unique<PendingCommand>(command, connection.arrived));
  connection.session->Submit(pending);
  return connection.unanswered++ > 0 ? std::nullopt : Poll(number);
}

std::optional<Reply> MemoryTarget::Poll(int number) {
  Connection& connection = At(number);
  if (connection.arrived.empty()) return std::nullopt;
  absl::StatusOr<Reply> next = std::move(connection.arrived.front());
  connection.arrived.pop_front();
  if (connection.unanswered > 0) --connection.unanswered;
  if (!next.ok()) throw std::runtime_error(next.status().ToString());
  return AsRead(*std::move(next));
}

MemoryTarget::Connection& MemoryTarget::At(int number) {
  std::unique_ptr<Connection>& connection = connections_[number];
  if (connection != nullptr) return *connection;
  connection = std::make_unique<Connection>(engine_->core().Connect());
  if (resp3_) connection->session->set_protocol(3);
  return *connection;
}

Reply MemoryTarget::AsRead(Reply reply) const {
  if (!resp3_) return reply;
  std::string wire;
  store::AppendReply(reply, store::Protocol::kResp3, wire);
  Resp3Reader reader;
  reader.Feed(wire);
  return reader.Next().value();
}

}  // namespace redouble::inline v0_1::tests
