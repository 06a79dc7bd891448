#include "redouble/backends/memory/engine/session_core.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::memory {

using store::Command;
using store::CommandId;
using store::Reply;
using store::Request;

SessionCore::SessionCore(EngineCore& engine, int64_t id)
    : engine_(engine),
      id_(id),
      user_(&engine.acl().default_user()),
      logged_in_(!user_->needs_login()),
      connected_us_(engine.clock().NowMicros()),
      last_used_us_(connected_us_) {
  engine_.administration().Add(*this);
}

SessionCore::~SessionCore() {
  if (gone_ != nullptr) *gone_ = true;
  // A closed session has left; its engine may be gone.
  if (!disconnected_) Leave();
}

void SessionCore::Disconnect() {
  if (disconnected_) return;
  disconnected_ = true;
  if (Host* host = engine_.administration().host()) host->OnDisconnect(*this);
  Leave();
}

void SessionCore::Leave() {
  EndTransaction();
  if (blocked_) Unblock();
  for (size_t kind = 0; kind < kSubscriptionKinds; ++kind) {
    for (const std::string& name : subscribed_[kind]) {
      engine_.subscriptions().Remove(*this, static_cast<SubscriptionKind>(kind), name);
    }
  }
  for (std::vector<std::string>& names : subscribed_) names.clear();
  subscription_count_ = 0;
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

void SessionCore::Submit(Request& request) {
  if (disconnected_) return request.Complete(store::NotSentError("the connection was closed"));
  if (current_ != nullptr) {
    request.SetKeeper(this);
    waiting_.push_back(&request);
    return;
  }
  EngineCore& engine = engine_;
  current_ = &request;
  catches_up_ = false;
  RunCurrent();
  engine.DeliverPending();
}

// What must come before the reply may not come after its first elements.
ReplySink* SessionCore::reply_sink() const {
  return runs_script_ || engine_.has_early_pushes() ? nullptr : active_sink_;
}

void SessionCore::RunCommand(const Command& command) {
  active_sink_ = reply_sink_;
  streamed_ = false;
  absl::StatusOr<Reply> reply =
      engine_.Execute(*this, command.id(), command.name(), command.arguments());
  active_sink_ = nullptr;
  engine_.FinishCommand();
  if (waits()) {
    current_->SetKeeper(this);
  } else {
    CompleteCurrent(std::move(reply));
  }
}

void SessionCore::RunCurrent() {
  postponed_ = false;
  if (current_->kind() == Request::Kind::kCommand) return RunCommand(current_->commands()[0]);
  std::optional<Reply> reply =
      current_->kind() == Request::Kind::kTransaction ? RunTransaction() : RunPipeline();
  if (reply) {
    CompleteCurrent(*std::move(reply));
  } else {
    current_->SetKeeper(this);
  }
}

std::optional<Reply> SessionCore::RunPipeline() {
  const std::span<const Command> commands = current_->commands();
  while (replies_.size() < commands.size()) {
    std::optional<Reply> reply = RunOne(commands[replies_.size()]);
    if (!reply) return std::nullopt;
    replies_.push_back(*std::move(reply));
  }
  return Reply::Array(std::exchange(replies_, {}));
}

bool SessionCore::TakeEarlyPushes() {
  bool gone = false;
  gone_ = &gone;
  for (const auto& push : engine_.TakeEarlyPushes(*this)) {
    TakePush(*push);
    if (gone) return false;
  }
  gone_ = nullptr;
  return true;
}

void SessionCore::CompleteCurrent(absl::StatusOr<Reply>&& result) {
  const bool may_have_pushes = engine_.has_early_pushes() || (protocol_ == 3 && is_subscribed());
  if (may_have_pushes && !TakeEarlyPushes()) return;
  Request* done = std::exchange(current_, nullptr);
  if (!waiting_.empty()) {
    current_ = waiting_.front();
    waiting_.pop_front();
    // As in Redis: all sessions that were woken get their replies first; then each session runs the
    // requests that waited for its blocked command, one session after the other.
    catches_up_ ? engine_.DeliverNext(*this) : engine_.DeliverLater(*this, std::nullopt);
  }
  const bool hangs_up = hangs_up_ && !disconnected_;
  if (!hangs_up) {
    // The completion may destroy this session.
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

std::optional<Reply> SessionCore::RunOne(const Command& command) {
  Reply reply = engine_.Execute(*this, command.id(), command.name(), command.arguments());
  engine_.FinishCommand();
  if (waits()) return std::nullopt;
  return reply;
}

std::optional<Reply> SessionCore::RunTransaction() {
  const std::span<const Command> commands = current_->commands();
  if (transaction_step_ == 0) {
    if (!RunOne(Command(CommandId::kMulti))) return std::nullopt;
    transaction_step_ = 1;
    queued_.reserve(queued_.size() + commands.size());
  }
  for (; transaction_step_ <= commands.size(); ++transaction_step_) {
    if (!RunOne(commands[transaction_step_ - 1])) return std::nullopt;
  }
  std::optional<Reply> reply = RunOne(Command(CommandId::kExec));
  if (reply) transaction_step_ = 0;
  return reply;
}

void SessionCore::Enqueue(CommandId id, std::string_view name,
                          std::span<const std::string_view> arguments) {
  // A command that will not run is not kept: a cluster checks the keys of the commands before it
  // only.
  if (refused_ || watcher_.failed()) return;
  if (current_ != nullptr && current_->kind() == Request::Kind::kTransaction) {
    queued_.push_back(QueuedCommand{id, name, arguments, nullptr});
    return;
  }
  auto copy = std::make_unique<QueuedCommand::Words>();
  copy->name = name;
  copy->arguments.assign(arguments.begin(), arguments.end());
  copy->views.assign(copy->arguments.begin(), copy->arguments.end());
  const std::string_view copied_name = copy->name;
  const std::span<const std::string_view> views = copy->views;
  queued_.push_back(QueuedCommand{id, copied_name, views, std::move(copy)});
}

std::vector<SessionCore::QueuedCommand> SessionCore::EndTransaction() {
  in_transaction_ = false;
  refused_ = false;
  Unwatch();
  return std::exchange(queued_, {});
}

void SessionCore::Watch(std::string_view key) {
  const Database& db = engine_.database(db_index_);
  const Database::Entry* entry = db.expires_lazily() ? db.FindStored(key) : nullptr;
  const bool is_expired = entry != nullptr && db.IsExpired(*entry, engine_.clock().NowMillis());
  if (engine_.watching().Watch(watcher_, db_index_, key, is_expired)) {
    watched_.push_back({db_index_, std::string(key)});
  }
}

bool SessionCore::watch_failed() const {
  if (watcher_.failed()) return true;
  return std::any_of(watched_.begin(), watched_.end(), [this](const Blocking::Key& key) {
    const Database& db = engine_.database(key.db);
    return db.expires_lazily() &&
           engine_.watching().HasExpired(watcher_, key, db, engine_.clock().NowMillis());
  });
}

void SessionCore::Unwatch() {
  for (const Blocking::Key& key : std::exchange(watched_, {})) {
    engine_.watching().Unwatch(watcher_, key);
  }
  watcher_.Reset();
}

void SessionCore::Reset() {
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
  asking_ = Asking::kNo;
  reads_replica_ = false;
  if (is_monitor_) engine_.administration().StopMonitor(*this);
  is_monitor_ = false;
  no_touch_ = false;
  if (engine_.Has(Feature::kResetEndsNoEvict)) no_evict_ = false;
}

void SessionCore::LogOut() {
  user_ = &engine_.acl().default_user();
  logged_in_ = !user_->needs_login();
}

bool SessionCore::needs_no_login() const {
  return !disconnected_ && !engine_.acl().default_user().needs_login();
}

void SessionCore::SubscribeTo(SubscriptionKind kind, std::string_view name) {
  std::vector<std::string>& names = subscribed_[static_cast<size_t>(kind)];
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  names.emplace_back(name);
  ++subscription_count_;
  engine_.subscriptions().Add(*this, kind, name);
}

void SessionCore::UnsubscribeFrom(SubscriptionKind kind, std::string_view name) {
  std::vector<std::string>& names = subscribed_[static_cast<size_t>(kind)];
  if (std::erase(names, name) == 0) return;
  --subscription_count_;
  engine_.subscriptions().Remove(*this, kind, name);
}

void SessionCore::Postpone() {
  postponed_ = true;
  engine_.administration().WaitForEndOfPause(*this);
}

void SessionCore::Block(BlockedOperation operation) {
  assert(!blocked_);
  blocked_db_ = db_index_;
  blocked_call_ = {};
  blocked_ = std::move(operation);
  engine_.blocking().Wait(*this, blocked_db_, blocked_->keys, blocked_->type,
                          blocked_->also_when_gone);
  const std::optional<int64_t> deadline_ms = blocked_->deadline_ms;
  // The clock cannot reach such a deadline.
  if (!deadline_ms || *deadline_ms >= std::numeric_limits<int64_t>::max() / 1000 - 1) return;
  block_timer_ = engine_.clock().ScheduleAt((*deadline_ms + 1) * 1000, [this] { TimeOut(); });
}

std::optional<std::string> SessionCore::DescribeWait() const {
  if (!waits() || current_ == nullptr) return std::nullopt;
  const std::span<const Command> commands = current_->commands();
  const bool is_pipeline = current_->kind() == Request::Kind::kPipeline;
  const Command& command =
      is_pipeline ? commands[std::min(replies_.size(), commands.size() - 1)] : commands.front();
  std::string text = absl::StrCat("Client ", id_, " is blocked by ", command.DebugString());
  if (postponed_) return absl::StrCat(text, " until the end of CLIENT PAUSE.");
  if (!blocked_->deadline_ms) return absl::StrCat(text, " without a timeout.");
  return absl::StrCat(text, " for ", *blocked_->deadline_ms - engine_.clock().NowMicros() / 1000,
                      " ms.");
}

void SessionCore::Unblock() {
  engine_.ForgetScriptCaller(*this);
  engine_.blocking().StopWaiting(*this, blocked_db_, blocked_->keys, blocked_->type);
  if (AccessObserver* observer = engine_.access_observer()) {
    for (const std::string& key : blocked_->keys) observer->OnWrite(key);
  }
  if (block_timer_) engine_.clock().Cancel(*std::exchange(block_timer_, std::nullopt));
  blocked_.reset();
}

void SessionCore::TimeOut() {
  block_timer_.reset();
  EngineCore& engine = engine_;
  engine.EndWait(*this, std::move(blocked_->timed_out), Administration::WaitEnd::kTimedOut,
                 engine.administration().Now());
  engine.DeliverPending();
}

void SessionCore::Resume(std::optional<Reply> reply) {
  catches_up_ = !reply.has_value();
  if (!reply) return RunCurrent();
  if (current_->kind() == Request::Kind::kCommand) return CompleteCurrent(*std::move(reply));
  if (current_->kind() == Request::Kind::kTransaction) {
    ++transaction_step_;
  } else {
    replies_.push_back(*std::move(reply));
  }
  RunCurrent();
}

void SessionCore::Abandon(Request& request) {
  if (&request != current_) {
    std::erase(waiting_, &request);
    return;
  }
  if (blocked_) Unblock();
  if (std::exchange(postponed_, false)) engine_.administration().StopWaiting(*this);
  engine_.ForgetDelivery(*this);
  // The queued commands point into the request.
  if (std::exchange(transaction_step_, 0) > 0) EndTransaction();
  current_ = nullptr;
  replies_.clear();
  if (waiting_.empty()) return;
  current_ = waiting_.front();
  waiting_.pop_front();
  EngineCore& engine = engine_;
  engine.DeliverLater(*this, std::nullopt);
  engine.DeliverPending();
}

}  // namespace redouble::inline v0_1::memory
