// Engine: the memory backend, a double of redis-server 7.0.15 inside the process.
//
// Deterministic: what it answers depends on the commands, their order, the virtual clock and the
// seed, and on nothing else. Its time is the clock's; advancing the clock expires keys (a key lives
// up to and including its deadline's millisecond) and ends blocked calls, in the order of their
// deadlines.
//
//   base::VirtualClock clock(start);
//   memory::Engine engine(clock);
//   std::unique_ptr<memory::Session> session = engine.Connect();
//   base::Run(store::Set(*session, "greeting", "hello", {.expiry = store::Expiry::In(ttl)}));
//   clock.Advance(ttl + absl::Milliseconds(1));
//
// What it cannot do answers as Redis answers an unknown command. The clock must outlive the engine,
// and the engine its sessions.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/memory/acl/acl.h"
#include "backends/memory/administration.h"
#include "backends/memory/blocking.h"
#include "backends/memory/busy_script.h"
#include "backends/memory/cluster_view.h"
#include "backends/memory/command_context.h"
#include "backends/memory/database.h"
#include "backends/memory/encoding_limits.h"
#include "backends/memory/engine_options.h"
#include "backends/memory/invalidation.h"
#include "backends/memory/keyspace_event.h"
#include "backends/memory/memory_limit.h"
#include "backends/memory/notifications.h"
#include "backends/memory/session.h"
#include "backends/memory/subscriptions.h"
#include "backends/memory/tracking.h"
#include "backends/memory/watching.h"
#include "core/base/rng.h"
#include "core/base/virtual_clock.h"
#include "core/store/command_table.h"

namespace redouble::memory {

class FunctionLibraries;
class ScriptCache;

class Engine {
 public:
  explicit Engine(base::VirtualClock& clock, EngineOptions options = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  // A new connection, with database 0 selected.
  std::unique_ptr<Session> Connect();

  base::VirtualClock& clock() const { return clock_; }
  // Null when the engine is no node of a cluster.
  const ClusterView* cluster() const { return cluster_ ? &*cluster_ : nullptr; }
  base::Rng& rng() { return rng_; }
  EncodingLimits& encoding_limits() { return options_.encoding_limits; }
  // As they are now: CONFIG SET changes them.
  const EngineOptions& options() const { return options_; }
  // Changes them, all but the seed and the number of databases.
  void Configure(EngineOptions options);

  int database_count() const { return static_cast<int>(databases_.size()); }
  Database& database(int index) { return *databases_[index]; }
  // Exchanges two databases under their sessions.
  void SwapDatabases(int a, int b);
  // Removes all keys of the database; watchers of a key that existed fail.
  void FlushDatabase(int index);

  // Hears of every keyspace event that tells of a change (not "new", nor "keymiss"); replaces the
  // listener before. An empty one: nobody.
  void SetKeyspaceListener(KeyspaceListener listener) { listener_ = std::move(listener); }
  // How many keys expired since the start, or since ResetStatistics.
  int64_t expired_keys() const { return expired_keys_; }
  // How many keys were evicted since then.
  int64_t evicted_keys() const { return evicted_keys_; }
  // How often a command has changed a key since the start. Nothing is ever saved.
  int64_t changes() const { return changes_; }
  void CountChange() { ++changes_; }
  // Counts anew from 0, but for changes.
  void ResetStatistics() {
    expired_keys_ = evicted_keys_ = 0;
    administration_.statistics().Reset();
  }

  // Who is connected, what was counted and measured, and the host, if there is one.
  Administration& administration() { return administration_; }
  const Administration& administration() const { return administration_; }
  // The users, and what was denied to them.
  Acl& acl() { return acl_; }
  // Who holds which keys in a cache of its own.
  Tracking& tracking() { return tracking_; }
  // False: keys no longer expire by themselves as time passes, only before the next command runs.
  void set_active_expire(bool value);
  // Draws from another seed from now on.
  void Reseed(uint64_t seed) { rng_ = base::Rng(seed); }
  // Gives every database another content: `fill` is called once per database, emptied before.
  // Watchers of a key that existed fail. The clock may have been turned back meanwhile.
  void ReplaceKeys(const std::function<void(int index, Database& db)>& fill);

  // The rest is for the engine's own parts (session.cc, command_context.cc, commands/).

  // Checks and runs one command for the session, or queues it in the session's transaction.
  Reply Execute(Session& session, store::CommandId id, std::string_view name, Arguments arguments);
  // Removes the keys whose deadline has passed.
  void RemoveExpired() {
    if (clock_.NowMicros() >= next_expiry_us_) ExpireDue();
  }
  // Removes what has expired and runs a checked command: its row, the name that it was called by,
  // and what follows that, the subcommand included.
  Reply Call(Session& session, store::CommandId id, std::string_view name, Arguments arguments);
  // What looking a command up and counting its arguments says.
  enum class Resolution { kFound, kUnknownCommand, kUnknownSubcommand, kWrongArity };
  // Looks a command up; `id` becomes that of the subcommand's row.
  Resolution Resolve(store::CommandId& id, Arguments arguments) const;
  // What a cluster says to a command that a script calls, declared keys or not; none when there is
  // nothing to say. `one_slot`: all keys of the script must be of one.
  std::optional<Reply> RefuseScriptCall(Session& session, store::CommandId id, Arguments arguments,
                                        bool one_slot) const;
  // To be called after each command that a client sends, or transaction: serves whom it woke.
  void FinishCommand() {
    if (blocking_.any_ready()) ServeReadyKeys();
    if (tracking_.anybody_tracks()) SendInvalidations(*this);
  }

  // False when nobody could hear of such an event, so that nobody needs to be told.
  bool wants(EventClass event_class) const {
    return (listener_ && IsChange(event_class)) || notifications_.Wants(event_class);
  }
  void Notify(int db, std::string_view key, EventClass event_class, std::string_view event);
  void NoteDeadline(int64_t deadline_ms);
  // To be called for each change of a key, with the id of the session that made it (0: nobody did).
  void NoteChange(int db, std::string_view key, int64_t by) {
    if (watching_.anybody_watches()) watching_.Touch(db, key);
    if (tracking_.anybody_tracks()) tracking_.Changed(key, by);
  }
  // The scripts; Lua starts with the first use.
  ScriptCache& scripts();
  // The libraries of functions; their Lua starts with the first use.
  FunctionLibraries& functions();
  // The script that runs for too long; null when there is none.
  const BusyScript* busy_script() const { return busy_ ? &*busy_ : nullptr; }
  // The script's caller waits already, or will before the command ends.
  void SetBusy(BusyScript busy) { busy_ = std::move(busy); }
  // Kills the busy script: its caller gets the error.
  void EndBusy();
  // The session no longer waits for its script, which goes on.
  void ForgetScriptCaller(const Session& session);
  // True when commands may be refused, or put off, for what the engine does or holds at the moment.
  bool may_refuse() const {
    return busy_.has_value() || cluster_.has_value() || memory_limit_.on() ||
           administration_.paused();
  }
  MemoryLimit& memory_limit() { return memory_limit_; }
  // True when the keys took more than maxmemory when the client's command began.
  bool out_of_memory() const { return out_of_memory_; }
  Blocking& blocking() { return blocking_; }
  Watching& watching() { return watching_; }
  Subscriptions& subscriptions() { return subscriptions_; }
  // Sends a message to the subscribers of the channel and of the patterns that match it, or of the
  // shard channel; gives to how many.
  int64_t Publish(std::string_view channel, std::string_view payload);
  int64_t PublishToShard(std::string_view channel, std::string_view payload);
  // Lets the session go on, with the reply of its blocked command if there is one, once nothing
  // else runs: at the next DeliverPending.
  void DeliverLater(Session& session, std::optional<Reply> reply);
  // Lets the session go on with its next request before anybody else.
  void DeliverNext(Session& session);
  // Takes such deliveries back.
  void ForgetDelivery(Session& session);
  // Gives the session's listener a push, in order with the deliveries.
  void PushLater(Session& session, Reply push);
  // Takes the messages that wait for the session: those that its own command published, which a
  // client of RESP3 gets before the command's reply.
  std::vector<Reply> TakeMessages(Session& session);
  // The session is gone: nothing is delivered to it.
  void ForgetSession(Session& session);
  void DeliverPending() {
    if (!delivering_ && !deliveries_.empty()) DeliverAll();
  }

 private:
  struct Delivery {
    Session* session;
    std::optional<Reply> reply;
    bool is_push = false;
  };

  // The refusal of a command whose keys the cluster's view does not let it have.
  std::optional<Reply> RefuseBySlots(Session& session, store::CommandId id,
                                     Arguments arguments) const;
  // Why the command may not run now; no value when it may. Evicts keys when they take too much.
  std::optional<Reply> RefusalNow(const Session& session, store::CommandId id);
  // The refusal of a command that is known, by what the session may do now.
  std::optional<Reply> RefuseBySession(Session& session, store::CommandId id, Arguments arguments);
  // Refuses a command of the session; EXEC will know of it.
  Reply Refuse(Session& session, store::CommandId id, Reply refusal);
  void EvictKey(int db, std::string_view key);
  void ExpireDue();
  void ScheduleExpiry();
  // When a key of any database is really gone, in microseconds; none when no key expires.
  std::optional<int64_t> NextExpiryMicros() const;
  void ServeReadyKeys();
  void DeliverAll();
  void ServeKey(const Blocking::Key& key);

  base::VirtualClock& clock_;
  Acl acl_;
  Administration administration_{*this};
  base::Rng rng_;
  EngineOptions options_;
  std::optional<ClusterView> cluster_;
  std::vector<std::unique_ptr<Database>> databases_;
  MemoryLimit memory_limit_{databases_};
  bool out_of_memory_ = false;
  KeyspaceListener listener_;
  std::unique_ptr<ScriptCache> scripts_;
  std::unique_ptr<FunctionLibraries> functions_;
  std::optional<BusyScript> busy_;
  Notifications notifications_;
  Subscriptions subscriptions_;
  Watching watching_;
  Tracking tracking_;
  Blocking blocking_;
  std::deque<Delivery> deliveries_;
  bool delivering_ = false;
  int64_t next_session_id_ = 1;
  bool active_expire_ = true;
  int64_t expired_keys_ = 0;
  int64_t evicted_keys_ = 0;
  int64_t changes_ = 0;
  // No key expires before this microsecond.
  int64_t next_expiry_us_ = std::numeric_limits<int64_t>::max();
  std::optional<base::VirtualClock::TimerId> expiry_timer_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_H_
