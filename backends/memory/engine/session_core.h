// SessionCore: the implementation of Session, for command handlers and for hosts.
//
// Include it in command handlers, in parts of the engine, and in a program that hosts an engine and
// its connections (sim/server): a host needs the state that CLIENT and HELLO change. Tests and
// other users include session.h.
//
//   std::unique_ptr<memory::SessionCore> session = engine.core().Connect();
//   if (session->reply_mode() == memory::SessionCore::ReplyMode::kOff) ...
//
// A session runs one request at a time. Submit completes a request at once, or keeps it as
// `current_` until the blocked command has a reply or the pause is over; requests submitted
// meanwhile wait in order. Completions may submit further requests and may destroy the session.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_SESSION_CORE_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_SESSION_CORE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/blocking/blocked_operation.h"
#include "redouble/backends/memory/blocking/blocking.h"
#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/backends/memory/engine/reply_sink.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/backends/memory/pubsub/shared_push.h"
#include "redouble/backends/memory/pubsub/subscriptions.h"
#include "redouble/backends/memory/transactions/watching.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {

class AclUser;
class EngineCore;

// What a client library tells about itself (CLIENT SETINFO).
struct ClientLibrary {
  std::string name;
  std::string version;
};

class SessionCore final : public Session, private store::RequestKeeper {
 public:
  ~SessionCore() override;

  void Submit(store::Request& request) override;
  void Listen(store::PushListener* listener) override { listener_ = listener; }

  int64_t id() const override { return id_; }
  int db_index() const override { return db_index_; }
  void Select(int db_index) override { db_index_ = db_index; }
  int protocol() const override { return protocol_; }
  const std::string& name() const override { return name_; }
  bool authenticated() const override { return logged_in_ || needs_no_login(); }
  bool in_transaction() const override { return in_transaction_; }
  bool blocked() const override { return blocked_.has_value(); }

  // The authenticated user; the default user until AUTH.
  const AclUser& user() const { return *user_; }
  // The engine's time in microseconds when the session connected, and when it last sent a command.
  int64_t connected_us() const { return connected_us_; }
  int64_t last_used_us() const { return last_used_us_; }
  // The last known command that the session sent; kUnknown before the first one.
  store::CommandId last_command() const { return last_command_; }
  // CLIENT REPLY. Only a host suppresses replies; a request in this process always gets its reply.
  enum class ReplyMode : uint8_t { kOn, kOff, kSkipNext, kSkip };
  ReplyMode reply_mode() const { return reply_mode_; }
  // The parts of EXEC's reply that the client does not get, because CLIENT REPLY was called before
  // the EXEC or in the transaction.
  struct Withheld {
    bool head = false;             // The array's length.
    std::vector<size_t> elements;  // The indexes of the elements, in order.
  };
  bool has_withheld() const { return withheld_.has_value(); }
  // Returns the withheld parts of the last EXEC and forgets them; nullopt if the client gets the
  // whole reply.
  std::optional<Withheld> TakeWithheld() { return std::exchange(withheld_, std::nullopt); }
  // The current command has no reply, whatever its handler returns (REPLCONF ACK). Only a host
  // suppresses it.
  void SetUnanswered() { is_unanswered_ = true; }
  bool TakeUnanswered() { return std::exchange(is_unanswered_, false); }
  // The session is a replica's, which gets a stream instead of replies (PSYNC).
  bool is_replica() const { return is_replica_; }
  void set_replica(bool value) { is_replica_ = value; }
  // False if the client gets the replies of its commands, as nearly all do.
  bool has_odd_replies() const { return is_unanswered_ || is_replica_; }
  bool is_monitor() const { return is_monitor_; }
  bool no_evict() const { return no_evict_; }
  // CLIENT NO-TOUCH: lookups do not update the LRU and LFU fields of keys.
  bool no_touch() const { return no_touch_; }
  // CLIENT SETINFO.
  const ClientLibrary& library() const { return library_; }
  // CLIENT CAPA REDIRECT.
  bool takes_redirects() const { return takes_redirects_; }
  // A connection made by the program itself (Engine::ConnectTrusted): CLIENT PAUSE does not hold
  // it.
  bool is_trusted() const { return is_trusted_; }
  void set_trusted(bool value) { is_trusted_ = value; }
  // The size of the messages that wait for the end of the current command or script. The host
  // compares it with the limit of the output buffer.
  size_t pending_push_bytes() const { return pending_push_bytes_; }
  void AddPendingPush(const SharedPush& push) { pending_push_bytes_ += push.bytes(); }
  void RemovePendingPush(const SharedPush& push) {
    pending_push_bytes_ -= std::min(pending_push_bytes_, push.bytes());
  }
  // The connection takes no more messages, because it is being closed for having too many.
  bool drops_pushes() const { return drops_pushes_; }
  void DropPushes() { drops_pushes_ = true; }
  // The connection closes after the reply of the current command (QUIT, CLIENT KILL of itself).
  bool hangs_up() const { return hangs_up_; }
  // The connection is closed: further requests fail with kNotSent.
  bool disconnected() const { return disconnected_; }

  void set_protocol(int version) { protocol_ = version; }
  void set_name(std::string_view name) { name_ = name; }
  // RESET: restores the state of a new connection, except for the id.
  void Reset();

  // A command queued after MULTI: its row, the name as the client wrote it, and the words after the
  // name, the subcommand included.
  struct QueuedCommand {
    struct Words {
      std::string name;
      std::vector<std::string> arguments;
      std::vector<std::string_view> views;  // Of `arguments`.
    };

    store::CommandId id;
    std::string_view name;
    std::span<const std::string_view> arguments;
    // Owns the texts of `name` and `arguments`. Null in a transaction that is one request, because
    // its commands outlive EXEC.
    std::unique_ptr<const Words> copy;
  };
  void BeginTransaction() { in_transaction_ = true; }
  void Enqueue(store::CommandId id, std::string_view name,
               std::span<const std::string_view> arguments);
  const std::vector<QueuedCommand>& queued() const { return queued_; }
  // A command was refused. EXEC will return EXECABORT if a transaction has begun.
  void RefuseInTransaction() { refused_ = refused_ || in_transaction_; }
  bool refused_in_transaction() const { return refused_; }
  // True if a watched key has changed or expired.
  bool watch_failed() const;
  // Ends the transaction and the watches. Returns the queued commands.
  std::vector<QueuedCommand> EndTransaction();
  void Watch(std::string_view key);
  void Unwatch();
  const std::vector<Blocking::Key>& watched() const { return watched_; }

  // The subscribed channels or patterns, in the order of subscribing.
  const std::vector<std::string>& subscribed(SubscriptionKind kind) const {
    return subscribed_[static_cast<size_t>(kind)];
  }
  // True if the session has any subscription.
  bool is_subscribed() const { return subscription_count_ > 0; }
  // No effect if the session is subscribed already, or not subscribed.
  void SubscribeTo(SubscriptionKind kind, std::string_view name);
  void UnsubscribeFrom(SubscriptionKind kind, std::string_view name);
  // Passes a push to the sink or to the listener, if there is one. The listener may destroy the
  // session.
  void TakePush(const SharedPush& push) {
    if (reply_sink_ != nullptr) return reply_sink_->AddPush(push);
    if (listener_ != nullptr) listener_->OnPush(push.reply());
  }

  // True while EXEC or a script runs the session's commands: blocking commands do not block.
  bool runs_atomically() const { return runs_atomically_ || is_obeyed_; }
  void set_runs_atomically(bool value) { runs_atomically_ = value; }
  // True while a script runs them: some commands refuse their blocking forms in scripts.
  bool runs_script() const { return runs_script_; }
  void set_runs_script(bool value) { runs_script_ = value; }

  // The session passes on the commands of a log or of a master, which has checked them: they are
  // not refused for memory, replicas or cluster slots, their limits are not checked, and they do
  // not block.
  bool is_obeyed() const { return is_obeyed_; }
  void set_obeyed(bool value) { is_obeyed_ = value; }

  // Passes messages to the sink, and long replies of single commands while they are made; with null
  // the replies are returned as values, and the listener gets the messages. The sink must outlive
  // the session.
  void set_reply_sink(ReplySink* sink) { reply_sink_ = sink; }
  ReplySink* message_sink() const { return reply_sink_; }
  // Where the reply of the current command goes while it is made; null if it must be a value.
  ReplySink* reply_sink() const;
  // Makes the replies of the current command values, because EXEC may withhold some of them.
  void GatherReplies() { active_sink_ = nullptr; }
  // Notes that the command that has just run has passed its reply to the sink.
  void set_streamed() { streamed_ = true; }
  bool TakeStreamed() { return std::exchange(streamed_, false); }

  // The cluster slot of the keys of the current command or script so far; ClusterView::kNoSlot
  // before the first key.
  int slot() const { return slot_; }
  void set_slot(int slot) { slot_ = slot; }
  // Whether that slot migrates and the node had all keys of the script at its start.
  bool slot_migrates() const { return slot_migrates_; }
  void set_slot_migrates(bool migrates) { slot_migrates_ = migrates; }

  // READONLY: a replica of a cluster may serve the session's reads.
  bool reads_replica() const { return reads_replica_; }
  void set_reads_replica(bool value) { reads_replica_ = value; }
  // ASKING: a node that gets a slot may serve the session's next command, or its next transaction.
  bool is_asking() const { return asking_ == Asking::kNow; }
  void AskNext() { asking_ = Asking::kNext; }
  // The session's next command begins.
  void BeginCommand() {
    if (asking_ == Asking::kNext) {
      asking_ = Asking::kNow;
    } else if (!in_transaction_) {
      asking_ = Asking::kNo;
    }
  }

  void LogIn(const AclUser& user) {
    user_ = &user;
    logged_in_ = true;
  }
  // Returns to the default user, as when the session connected.
  void LogOut();
  void set_reply_mode(ReplyMode mode) { reply_mode_ = mode; }
  void set_withheld(Withheld withheld) { withheld_ = std::move(withheld); }
  void set_monitor(bool value) { is_monitor_ = value; }
  void set_no_evict(bool value) { no_evict_ = value; }
  void set_no_touch(bool value) { no_touch_ = value; }
  void set_takes_redirects(bool value) { takes_redirects_ = value; }
  void set_library(ClientLibrary library) { library_ = std::move(library); }
  // SCRIPT DEBUG YES or SYNC: the next script is to run in the debugger, in a process of its own or
  // in the server.
  enum class DebugMode : uint8_t { kNo, kApart, kSync };
  DebugMode debug_mode() const { return debug_mode_; }
  void set_debug_mode(DebugMode mode) { debug_mode_ = mode; }
  void HangUp() { hangs_up_ = true; }
  // Closes the connection now. Requests without a reply fail with kOutcomeUnknown, later ones with
  // kNotSent.
  void Disconnect();
  void NoteUse(store::CommandId id, int64_t now_us) {
    last_command_ = id;
    last_used_us_ = now_us;
  }

  // CLIENT PAUSE: the current request waits for the end of the pause and runs then.
  void Postpone();
  bool postponed() const { return postponed_; }

  // Blocks the current command until Unblock.
  void Block(BlockedOperation operation);
  const BlockedOperation& blocked_operation() const { return *blocked_; }
  // Replaces the reply that the blocked command gets at its deadline.
  void SetTimedOutReply(store::Reply reply) { blocked_->timed_out = std::move(reply); }
  // What SLOWLOG shows of the blocked command: a copy of its words, because the memory of the
  // request may be reused meanwhile, and how long it ran before it blocked.
  struct BlockedCall {
    std::vector<std::string> words;
    int64_t duration_us = 0;
  };
  void KeepBlockedCall(BlockedCall call) { blocked_call_ = std::move(call); }
  const BlockedCall& blocked_call() const { return blocked_call_; }
  // Returns a sentence about what the current request waits for; nullopt if it does not wait.
  std::optional<std::string> DescribeWait() const;
  // Ends the wait. To be called by EngineCore::EndWait, which schedules the reply.
  void Unblock();
  // Continues with the reply of the blocked command; with the next request if nullopt.
  void Resume(std::optional<store::Reply> reply);

 private:
  friend class EngineCore;
  SessionCore(EngineCore& engine, int64_t id);

  // True if the default user needs no password now.
  bool needs_no_login() const;
  void Abandon(store::Request& request) override;

  // Runs the current request from its next command until it completes or blocks. The completion may
  // destroy the session.
  void RunCurrent();
  // Returns the result of the current pipeline; nullopt if one of its commands blocked.
  std::optional<store::Reply> RunPipeline();
  // Runs MULTI, the current request's commands and EXEC, exactly as if they came one by one.
  // Returns the reply of EXEC; nullopt if one of them has to wait.
  std::optional<store::Reply> RunTransaction();
  // RunCurrent for a request of one command, the usual case.
  void RunCommand(const store::Command& command);
  void CompleteCurrent(absl::StatusOr<store::Reply>&& result);
  // Passes on the pushes that come before the reply of the session's command. Returns false if the
  // listener destroyed the session.
  bool TakeEarlyPushes();
  // Returns the reply of one command; nullopt if it blocked.
  std::optional<store::Reply> RunOne(const store::Command& command);
  // True if the current command has no reply yet.
  bool waits() const { return blocked_.has_value() || postponed_; }
  // Removes the session from the engine and fails its requests.
  void Leave();
  void TimeOut();

  EngineCore& engine_;
  const int64_t id_;
  int db_index_ = 0;
  int protocol_ = 2;
  std::string name_;

  bool in_transaction_ = false;
  bool refused_ = false;
  Watcher watcher_;
  bool runs_atomically_ = false;
  bool runs_script_ = false;
  bool is_obeyed_ = false;
  bool is_unanswered_ = false;
  bool is_replica_ = false;
  const AclUser* user_;
  // Authenticated by AUTH, or connected when the default user needed no password.
  bool logged_in_;
  bool is_monitor_ = false;
  bool no_evict_ = false;
  bool no_touch_ = false;
  bool takes_redirects_ = false;
  ClientLibrary library_;
  DebugMode debug_mode_ = DebugMode::kNo;
  bool hangs_up_ = false;
  bool disconnected_ = false;
  bool postponed_ = false;
  ReplyMode reply_mode_ = ReplyMode::kOn;
  std::optional<Withheld> withheld_;
  store::CommandId last_command_ = store::CommandId::kUnknown;
  int64_t connected_us_ = 0;
  int64_t last_used_us_ = 0;
  int slot_ = ClusterView::kNoSlot;
  bool slot_migrates_ = false;
  enum class Asking : uint8_t { kNo, kNext, kNow };
  Asking asking_ = Asking::kNo;
  bool reads_replica_ = false;
  // The current request waited for a blocked command before it.
  bool catches_up_ = false;
  std::vector<QueuedCommand> queued_;
  std::vector<Blocking::Key> watched_;
  SubscribedNames subscribed_;
  size_t subscription_count_ = 0;  // Of all kinds.
  store::PushListener* listener_ = nullptr;
  // Not null while the listener runs within a request; the destructor then sets `*gone_` to true.
  bool* gone_ = nullptr;

  // The current request, and the replies of its pipeline so far.
  store::Request* current_ = nullptr;
  std::vector<store::Reply> replies_;
  // How many commands of the current transaction have run or been queued, MULTI included.
  size_t transaction_step_ = 0;
  std::deque<store::Request*> waiting_;

  std::optional<BlockedOperation> blocked_;
  int blocked_db_ = 0;
  BlockedCall blocked_call_;
  std::optional<base::VirtualClock::TimerId> block_timer_;

  ReplySink* reply_sink_ = nullptr;
  ReplySink* active_sink_ = nullptr;  // Set while a request of one command runs.
  bool streamed_ = false;

  bool is_trusted_ = false;
  bool drops_pushes_ = false;
  size_t pending_push_bytes_ = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_SESSION_CORE_H_
