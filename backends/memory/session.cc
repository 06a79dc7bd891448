#include "backends/memory/session.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "backends/memory/engine.h"
#include "core/store/errors.h"

namespace redouble::memory {

using store::Command;
using store::CommandId;
using store::Reply;
using store::Request;

Session::Session(Engine& engine, int64_t id)
    : engine_(engine),
      id_(id),
      user_(&engine.acl().default_user()),
      authenticated_(!user_->needs_login()),
      connected_us_(engine.clock().NowMicros()),
      last_used_us_(connected_us_) {
  engine_.administration().Add(*this);
}

Session::~Session() {
  if (gone_ != nullptr) *gone_ = true;
  Leave();
}

void Session::Disconnect() {
  if (disconnected_) return;
  disconnected_ = true;
  if (Host* host = engine_.administration().host()) host->OnDisconnect(*this);
  Leave();
}

void Session::Leave() {
  EndTransaction();
  if (blocked_) Unblock();
  for (size_t kind = 0; kind < kSubscriptionKinds; ++kind) {
    for (const std::string& name : subscribed_[kind]) {
      engine_.subscriptions().Remove(*this, static_cast<SubscriptionKind>(kind), name);
    }
  }
  for (std::vector<std::string>& names : subscribed_) names.clear();
  engine_.administration().Remove(*this);
  engine_.tracking().Disable(id_);
  engine_.ForgetSession(*this);
  postponed_ = false;
  std::deque<Request*> unanswered = std::exchange(waiting_, {});
  if (current_ != nullptr) unanswered.push_front(std::exchange(current_, nullptr));
  for (Request* request : unanswered) {
    request->Complete(store::OutcomeUnknownError("the connection was closed"));
  }
}

void Session::Submit(Request& request) {
  if (disconnected_) return request.Complete(store::NotSentError("the connection was closed"));
  if (current_ != nullptr) {
    request.SetKeeper(this);
    waiting_.push_back(&request);
    return;
  }
  Engine& engine = engine_;
  current_ = &request;
  catches_up_ = false;
  RunCurrent();
  engine.DeliverPending();
}

void Session::RunCommand(const Command& command) {
  absl::StatusOr<Reply> reply =
      engine_.Execute(*this, command.id(), command.name(), command.arguments());
  engine_.FinishCommand();
  if (waits()) {
    current_->SetKeeper(this);
  } else {
    CompleteCurrent(std::move(reply));
  }
}

void Session::RunCurrent() {
  postponed_ = false;
  if (current_->kind() == Request::Kind::kCommand) return RunCommand(current_->commands()[0]);
  if (current_->kind() == Request::Kind::kTransaction && engine_.administration().paused() &&
      PostponesTransaction(current_->commands())) {
    Postpone();
    current_->SetKeeper(this);
    return;
  }
  std::optional<Reply> reply = current_->kind() == Request::Kind::kTransaction
                                   ? RunTransaction(current_->commands())
                                   : RunPipeline();
  if (reply) {
    CompleteCurrent(*std::move(reply));
  } else {
    current_->SetKeeper(this);
  }
}

std::optional<Reply> Session::RunPipeline() {
  const std::span<const Command> commands = current_->commands();
  while (replies_.size() < commands.size()) {
    std::optional<Reply> reply = RunOne(commands[replies_.size()]);
    if (!reply) return std::nullopt;
    replies_.push_back(*std::move(reply));
  }
  return Reply::Array(std::exchange(replies_, {}));
}

bool Session::TakeOwnMessages() {
  bool gone = false;
  gone_ = &gone;
  for (const Reply& message : engine_.TakeMessages(*this)) {
    TakePush(message);
    if (gone) return false;
  }
  gone_ = nullptr;
  return true;
}

void Session::CompleteCurrent(absl::StatusOr<Reply>&& result) {
  if (protocol_ == 3 && is_subscribed() && !TakeOwnMessages()) return;
  Request* done = std::exchange(current_, nullptr);
  if (!waiting_.empty()) {
    current_ = waiting_.front();
    waiting_.pop_front();
    // As in Redis: first all who were woken get their replies; then each catches up with all that
    // waited behind its blocked command, one connection after the other.
    catches_up_ ? engine_.DeliverNext(*this) : engine_.DeliverLater(*this, std::nullopt);
  }
  const bool hangs_up = hangs_up_ && !disconnected_;
  if (!hangs_up) {
    // The waiter may do anything now, end this session included.
    done->Complete(std::move(result));
    return;
  }
  bool gone = false;
  gone_ = &gone;
  done->Complete(std::move(result));
  if (gone) return;
  gone_ = nullptr;
  Disconnect();
}

std::optional<Reply> Session::RunOne(const Command& command) {
  Reply reply = engine_.Execute(*this, command.id(), command.name(), command.arguments());
  engine_.FinishCommand();
  if (waits()) return std::nullopt;
  return reply;
}

Reply Session::RunTransaction(std::span<const Command> commands) {
  const auto acts_on_transaction = [](const Command& command) {
    return command.id() == CommandId::kMulti || command.id() == CommandId::kExec ||
           command.id() == CommandId::kDiscard || command.id() == CommandId::kWatch ||
           command.id() == CommandId::kReset;
  };
  if (in_transaction_ || is_subscribed() || engine_.may_refuse() || !may_talk() ||
      !user_->unrestricted() ||
      std::any_of(commands.begin(), commands.end(), acts_on_transaction)) {
    return RunTransactionByWords(commands);
  }
  engine_.RemoveExpired();
  const bool watch_failed = watch_failed_;
  bool refused = false;
  std::vector<CommandId> ids;
  ids.reserve(commands.size());
  for (const Command& command : commands) {
    CommandId id = command.id();
    refused = engine_.Resolve(id, command.arguments()) != Engine::Resolution::kFound || refused;
    ids.push_back(id);
  }
  Unwatch();
  if (refused) return Reply::Error(error_text::kExecAbort);
  if (watch_failed) return Reply::NilArray();
  std::vector<Reply> replies;
  replies.reserve(commands.size());
  runs_atomically_ = true;
  for (size_t i = 0; i < commands.size(); ++i) {
    replies.push_back(engine_.Call(*this, ids[i], commands[i].name(), commands[i].arguments()));
  }
  runs_atomically_ = false;
  engine_.FinishCommand();
  return Reply::Array(std::move(replies));
}

// What a connection answers that gets MULTI, the commands and EXEC one by one.
Reply Session::RunTransactionByWords(std::span<const Command> commands) {
  RunOne(Command(CommandId::kMulti));
  for (const Command& command : commands) RunOne(command);
  return *RunOne(Command(CommandId::kExec));
}

void Session::Enqueue(CommandId id, std::string_view name,
                      std::span<const std::string_view> arguments) {
  // One that will not run is not kept, so that a cluster looks at the keys before it only.
  if (refused_ || watch_failed_) return;
  queued_.push_back(QueuedCommand{id, std::string(name), {arguments.begin(), arguments.end()}});
}

std::vector<Session::QueuedCommand> Session::EndTransaction() {
  in_transaction_ = false;
  refused_ = false;
  Unwatch();
  return std::exchange(queued_, {});
}

void Session::Watch(std::string_view key) {
  if (engine_.watching().Watch(*this, db_index_, key)) {
    watched_.push_back({db_index_, std::string(key)});
  }
}

void Session::Unwatch() {
  for (const Blocking::Key& key : std::exchange(watched_, {})) {
    engine_.watching().Unwatch(*this, key);
  }
  watch_failed_ = false;
}

void Session::Reset() {
  EndTransaction();
  for (size_t kind = 0; kind < kSubscriptionKinds; ++kind) {
    const std::vector<std::string> names = subscribed_[kind];
    for (const std::string& name : names) {
      UnsubscribeFrom(static_cast<SubscriptionKind>(kind), name);
    }
  }
  db_index_ = 0;
  protocol_ = 2;
  name_.clear();
  LogOut();
  engine_.tracking().Disable(id_);
  reply_mode_ = ReplyMode::kOn;
  if (is_monitor_) engine_.administration().StopMonitor(*this);
  is_monitor_ = false;
  no_evict_ = false;
}

void Session::LogOut() {
  user_ = &engine_.acl().default_user();
  authenticated_ = !user_->needs_login();
}

bool Session::may_talk() const {
  return authenticated_ || !engine_.acl().default_user().needs_login();
}

bool Session::is_subscribed() const {
  return std::any_of(subscribed_.begin(), subscribed_.end(),
                     [](const std::vector<std::string>& names) { return !names.empty(); });
}

void Session::SubscribeTo(SubscriptionKind kind, std::string_view name) {
  std::vector<std::string>& names = subscribed_[static_cast<size_t>(kind)];
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  names.emplace_back(name);
  engine_.subscriptions().Add(*this, kind, name);
}

void Session::UnsubscribeFrom(SubscriptionKind kind, std::string_view name) {
  std::vector<std::string>& names = subscribed_[static_cast<size_t>(kind)];
  if (std::erase(names, name) == 0) return;
  engine_.subscriptions().Remove(*this, kind, name);
}

bool Session::PostponesTransaction(std::span<const Command> commands) const {
  return std::any_of(commands.begin(), commands.end(), [&](const Command& command) {
    CommandId id = command.id();
    return engine_.Resolve(id, command.arguments()) == Engine::Resolution::kFound &&
           engine_.administration().Postpones(*this, id);
  });
}

void Session::Postpone() {
  postponed_ = true;
  engine_.administration().WaitForEndOfPause(*this);
}

void Session::Block(BlockedOperation operation) {
  assert(!blocked_);
  blocked_db_ = db_index_;
  blocked_ = std::move(operation);
  engine_.blocking().Wait(*this, blocked_db_, blocked_->keys, blocked_->type);
  const std::optional<int64_t> deadline_ms = blocked_->deadline_ms;
  // A deadline that no clock reaches needs no timer.
  if (!deadline_ms || *deadline_ms >= std::numeric_limits<int64_t>::max() / 1000 - 1) return;
  block_timer_ = engine_.clock().ScheduleAt((*deadline_ms + 1) * 1000, [this] { TimeOut(); });
}

void Session::Unblock() {
  engine_.ForgetScriptCaller(*this);
  engine_.blocking().StopWaiting(*this, blocked_db_, blocked_->keys, blocked_->type);
  if (block_timer_) engine_.clock().Cancel(*std::exchange(block_timer_, std::nullopt));
  blocked_.reset();
}

void Session::TimeOut() {
  block_timer_.reset();
  Reply reply = std::move(blocked_->timed_out);
  Unblock();
  Engine& engine = engine_;
  engine.DeliverLater(*this, std::move(reply));
  engine.DeliverPending();
}

void Session::Resume(std::optional<Reply> reply) {
  catches_up_ = !reply.has_value();
  if (!reply) return RunCurrent();
  if (current_->kind() == Request::Kind::kCommand) return CompleteCurrent(*std::move(reply));
  replies_.push_back(*std::move(reply));
  RunCurrent();
}

void Session::Abandon(Request& request) {
  if (&request != current_) {
    std::erase(waiting_, &request);
    return;
  }
  if (blocked_) Unblock();
  if (std::exchange(postponed_, false)) engine_.administration().StopWaiting(*this);
  engine_.ForgetDelivery(*this);
  current_ = nullptr;
  replies_.clear();
  if (waiting_.empty()) return;
  current_ = waiting_.front();
  waiting_.pop_front();
  Engine& engine = engine_;
  engine.DeliverLater(*this, std::nullopt);
  engine.DeliverPending();
}

}  // namespace redouble::memory
