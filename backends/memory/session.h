// Session: one connection to the memory engine, as a Store that can also deliver messages.
//
// What belongs to a connection is here: the selected database, the transaction begun by MULTI, the
// watched keys, the subscriptions, and the requests that wait because the connection is blocked (as
// on a socket, what is sent behind a blocked command waits for it).
//
// Requests complete at once unless a blocking command has to wait; a wait ends on data or when the
// engine's clock passes its deadline. Destroying a session is a disconnect: it takes its blocked
// command back, gives up its watches and subscriptions and fails what waits with "outcome unknown".
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_SESSION_H_
#define REDOUBLE_BACKENDS_MEMORY_SESSION_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/memory/blocked_operation.h"
#include "backends/memory/blocking.h"
#include "backends/memory/cluster_view.h"
#include "backends/memory/subscriptions.h"
#include "core/base/virtual_clock.h"
#include "core/store/command_table.h"
#include "core/store/message_source.h"
#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::memory {

class AclUser;
class Engine;

class Session final : public store::MessageSource, private store::RequestKeeper {
 public:
  ~Session() override;

  void Submit(store::Request& request) override;
  void Listen(store::PushListener* listener) override { listener_ = listener; }

  // Unique in the engine, from 1 on, in the order of connecting.
  int64_t id() const { return id_; }
  int db_index() const { return db_index_; }
  bool blocked() const { return blocked_.has_value(); }
  // The version of RESP that HELLO chose: 2 or 3. Replies are the same values either way (their
  // shapes say what RESP3 makes of them); a subscriber of RESP3 may go on with any command.
  int protocol() const { return protocol_; }

  const std::string& name() const { return name_; }
  // Who it is: who needs no password at first, and whom it has logged in as since.
  const AclUser& user() const { return *user_; }
  // It has logged in, or nobody needs to.
  bool may_talk() const;
  // The engine's time when it connected and when it last sent a command.
  int64_t connected_us() const { return connected_us_; }
  int64_t last_used_us() const { return last_used_us_; }
  // What it sent last that is known; kUnknown before that.
  store::CommandId last_command() const { return last_command_; }
  // CLIENT REPLY. Only a host leaves replies away; a request in this process always gets its own.
  enum class ReplyMode : uint8_t { kOn, kOff, kSkipNext, kSkip };
  ReplyMode reply_mode() const { return reply_mode_; }
  bool is_monitor() const { return is_monitor_; }
  bool no_evict() const { return no_evict_; }
  // It hangs up once its present command is answered.
  bool hangs_up() const { return hangs_up_; }
  // It has hung up, or was made to: it answers nothing any more.
  bool disconnected() const { return disconnected_; }

  // The rest is for the engine's own parts.

  void Select(int db_index) { db_index_ = db_index; }
  void set_protocol(int version) { protocol_ = version; }
  void set_name(std::string_view name) { name_ = name; }
  // As new, but for its id: RESET.
  void Reset();

  // A command that MULTI put aside: its row, the name that it was called by, and what follows that,
  // the subcommand included.
  struct QueuedCommand {
    store::CommandId id;
    std::string name;
    std::vector<std::string> arguments;
  };
  bool in_transaction() const { return in_transaction_; }
  void BeginTransaction() { in_transaction_ = true; }
  void Enqueue(store::CommandId id, std::string_view name,
               std::span<const std::string_view> arguments);
  const std::vector<QueuedCommand>& queued() const { return queued_; }
  // A command of the transaction was refused: EXEC will answer EXECABORT.
  void RefuseInTransaction() { refused_ = refused_ || in_transaction_; }
  bool refused_in_transaction() const { return refused_; }
  // A watched key changed: EXEC will answer nil.
  void FailTransaction() { watch_failed_ = true; }
  bool watch_failed() const { return watch_failed_; }
  // Ends the transaction and the watches; gives what was queued.
  std::vector<QueuedCommand> EndTransaction();
  void Watch(std::string_view key);
  void Unwatch();

  // The names of a kind that it is subscribed to, in the order of subscribing.
  const std::vector<std::string>& subscribed(SubscriptionKind kind) const {
    return subscribed_[static_cast<size_t>(kind)];
  }
  // Subscribed to anything: few commands are allowed.
  bool is_subscribed() const;
  // Without effect when it is subscribed already, or not subscribed.
  void SubscribeTo(SubscriptionKind kind, std::string_view name);
  void UnsubscribeFrom(SubscriptionKind kind, std::string_view name);
  // Hands a push to the listener, if there is one. The session may be gone afterwards.
  void TakePush(const store::Reply& push) {
    if (listener_ != nullptr) listener_->OnPush(push);
  }

  // True while EXEC or a script runs the session's commands: nothing may block.
  bool runs_atomically() const { return runs_atomically_; }
  void set_runs_atomically(bool value) { runs_atomically_ = value; }
  // True while it is a script that does: a few commands refuse their blocking forms then.
  bool runs_script() const { return runs_script_; }
  void set_runs_script(bool value) { runs_script_ = value; }

  // The cluster slot of the keys that the command under way has shown so far; ClusterView::kNoSlot
  // when it has shown none.
  int slot() const { return slot_; }
  void set_slot(int slot) { slot_ = slot; }

  void LogIn(const AclUser& user) {
    user_ = &user;
    authenticated_ = true;
  }
  // It is the default user again, as when it connected.
  void LogOut();
  void set_reply_mode(ReplyMode mode) { reply_mode_ = mode; }
  void set_monitor(bool value) { is_monitor_ = value; }
  void set_no_evict(bool value) { no_evict_ = value; }
  // SCRIPT DEBUG: its next script is to run in the debugger.
  bool debugs_scripts() const { return debugs_scripts_; }
  void set_debugs_scripts(bool value) { debugs_scripts_ = value; }
  void HangUp() { hangs_up_ = true; }
  // Ends the connection now: what waits fails with "outcome unknown", and so does what follows.
  void Disconnect();
  void NoteUse(store::CommandId id, int64_t now_us) {
    last_command_ = id;
    last_used_us_ = now_us;
  }

  // Its request waits for the end of a pause, and runs again then.
  void Postpone();
  bool postponed() const { return postponed_; }

  void Block(BlockedOperation operation);
  const BlockedOperation& blocked_operation() const { return *blocked_; }
  // Ends the wait; the current request is completed by a delivery that follows.
  void Unblock();
  // Goes on: with the reply of the command that was blocked, or with the next request.
  void Resume(std::optional<store::Reply> reply);

 private:
  friend class Engine;
  Session(Engine& engine, int64_t id);

  void Abandon(store::Request& request) override;

  // Runs the current request from its next command on until it completes or blocks. The session may
  // be gone afterwards.
  void RunCurrent();
  // The result of the current pipeline; none when a command of it blocked.
  std::optional<store::Reply> RunPipeline();
  // As RunCurrent for a request of one command, which most are.
  void RunCommand(const store::Command& command);
  void CompleteCurrent(absl::StatusOr<store::Reply>&& result);
  // Hands over what the session's own command published to it. False when the session is gone.
  bool TakeOwnMessages();
  // The reply of one command; none when it blocked.
  std::optional<store::Reply> RunOne(const store::Command& command);
  store::Reply RunTransaction(std::span<const store::Command> commands);
  store::Reply RunTransactionByWords(std::span<const store::Command> commands);
  bool PostponesTransaction(std::span<const store::Command> commands) const;
  // Its command has no reply yet.
  bool waits() const { return blocked_.has_value() || postponed_; }
  // Gives up what the engine keeps for the session, and fails its requests.
  void Leave();
  void TimeOut();

  Engine& engine_;
  const int64_t id_;
  int db_index_ = 0;
  int protocol_ = 2;
  std::string name_;

  bool in_transaction_ = false;
  bool refused_ = false;
  bool watch_failed_ = false;
  bool runs_atomically_ = false;
  bool runs_script_ = false;
  const AclUser* user_;
  // Said the password that is needed, or needed none when it connected.
  bool authenticated_;
  bool is_monitor_ = false;
  bool no_evict_ = false;
  bool debugs_scripts_ = false;
  bool hangs_up_ = false;
  bool disconnected_ = false;
  bool postponed_ = false;
  ReplyMode reply_mode_ = ReplyMode::kOn;
  store::CommandId last_command_ = store::CommandId::kUnknown;
  int64_t connected_us_ = 0;
  int64_t last_used_us_ = 0;
  int slot_ = ClusterView::kNoSlot;
  // What runs now had waited behind a blocked command.
  bool catches_up_ = false;
  std::vector<QueuedCommand> queued_;
  std::vector<Blocking::Key> watched_;
  SubscribedNames subscribed_;
  store::PushListener* listener_ = nullptr;
  // Set while the listener is called in the middle of a request: to be told of the session's end.
  bool* gone_ = nullptr;

  // The request under way, and the replies of its pipeline so far.
  store::Request* current_ = nullptr;
  std::vector<store::Reply> replies_;
  std::deque<store::Request*> waiting_;

  std::optional<BlockedOperation> blocked_;
  int blocked_db_ = 0;
  std::optional<base::VirtualClock::TimerId> block_timer_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SESSION_H_
