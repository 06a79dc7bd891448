// EngineCore: the implementation of Engine, for command handlers and for hosts.
//
// Include it in command handlers and parts of the engine, and in a program that hosts an engine or
// looks into it: a server (sim/server), a snapshot, a state hash. Tests and other users include
// engine.h, which is light.
//
//   memory::EngineCore& core = engine.core();
//   core.RemoveExpired();
//   for (int index = 0; index < core.database_count(); ++index) Dump(core.database(index));
//
// The life of a command: SessionCore::Submit calls Execute, which looks the command up, checks
// whether the session may run it, and queues it (MULTI) or calls its handler (commands/). Then
// FinishCommand serves blocked sessions whose keys changed, and DeliverPending completes their
// requests. Nothing is delivered inside a command.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_ENGINE_CORE_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_ENGINE_CORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "redouble/backends/memory/acl/acl.h"
#include "redouble/backends/memory/blocking/blocking.h"
#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/backends/memory/compatibility/compatibility.h"
#include "redouble/backends/memory/engine/administration.h"
#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/engine/invalidation.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/eviction/memory_limit.h"
#include "redouble/backends/memory/keyspace/access_observer.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/backends/memory/keyspace/keyspace_event.h"
#include "redouble/backends/memory/keyspace/keyspace_walk.h"
#include "redouble/backends/memory/keyspace/notifications.h"
#include "redouble/backends/memory/keyspace/tracking.h"
#include "redouble/backends/memory/persistence/dump.h"
#include "redouble/backends/memory/propagation/propagation.h"
#include "redouble/backends/memory/pubsub/subscriptions.h"
#include "redouble/backends/memory/scripting/busy_script.h"
#include "redouble/backends/memory/server/loading.h"
#include "redouble/backends/memory/transactions/watching.h"
#include "redouble/backends/memory/values/encoding_limits.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/wait_reporter.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {

class FunctionLibraries;
class ScriptCache;

class EngineCore final : private base::WaitReporter, private LazyExpiry {
 public:
  explicit EngineCore(base::VirtualClock& clock, EngineOptions options = {});
  EngineCore(const EngineCore&) = delete;
  EngineCore& operator=(const EngineCore&) = delete;
  ~EngineCore();

  std::unique_ptr<SessionCore> Connect();

  // Who decides when keys expire and are evicted.
  enum class Authority : uint8_t {
    kOwn,     // The engine, as a master does.
    kMaster,  // A master: until it removes an expired key, the key is missing for all sessions but
              // the obeyed ones (SessionCore::is_obeyed), and stored.
    kLog,     // A log that is being loaded: nothing expires, is evicted or propagated.
  };
  Authority authority() const { return authority_; }
  // Keys whose deadline has passed expire when the engine decides again.
  void SetAuthority(Authority authority);

  base::VirtualClock& clock() const { return clock_; }
  // Null if the engine is not a cluster node.
  const ClusterView* cluster() const { return cluster_ ? &*cluster_ : nullptr; }
  // Changes the view of the cluster, which the engine must have. Sessions that are blocked on keys
  // of a slot that the engine no longer serves get an error, as in Redis.
  void ChangeCluster(absl::FunctionRef<void(ClusterView&)> change);
  // Removes the keys of slots that another node serves now.
  void RemoveKeysInSlots(const std::set<int>& slots);
  // Calls `listener` after each change of the view; null: nothing is called.
  void SetClusterListener(std::function<void()> listener) {
    cluster_listener_ = std::move(listener);
  }
  base::Rng& rng() {
    if (observer_ != nullptr) observer_->OnWrite(AccessObserver::State::kRandomNumbers);
    return rng_;
  }
  EncodingLimits& encoding_limits() { return options_.encoding_limits; }
  const EngineOptions& options() const { return options_; }
  // The version that the engine answers as, and its features (compatibility/feature.h).
  const Compatibility& compatibility() const { return compatibility_; }
  bool Has(Feature feature) const { return compatibility_.Has(feature); }
  // As Engine::Configure.
  void Configure(EngineOptions options);

  int database_count() const { return static_cast<int>(databases_.size()); }
  Database& database(int index) { return *databases_[index]; }
  // SWAPDB.
  void SwapDatabases(int a, int b);
  // Removes all keys of the database. Transactions that watch an existing key fail.
  void FlushDatabase(int index);

  // As Engine::SetKeyspaceListener.
  void SetKeyspaceListener(KeyspaceListener listener) { listener_ = std::move(listener); }
  // Tells the observer which keys and which other state commands read and write; null for none. It
  // must outlive the engine, or be replaced before.
  void SetAccessObserver(AccessObserver* observer);
  AccessObserver* access_observer() const { return observer_; }
  // Tells a walk over the engine's databases which commands only read, and passes it the databases
  // that are no longer used. It must be removed before it is destroyed. The engine must not have an
  // access observer meanwhile.
  void AddWalk(KeyspaceWalk& walk);
  void RemoveWalk(KeyspaceWalk& walk);
  // The stream of effects (propagation/effect.h), for sinks and for redis.set_repl.
  Propagation& propagation() { return propagation_; }
  // Expired and evicted keys since the start or ResetStatistics.
  int64_t expired_keys() const { return expired_keys_; }
  int64_t evicted_keys() const { return evicted_keys_; }
  // Expired fields of hashes.
  int64_t expired_fields() const { return expired_fields_; }
  // What Redis would have freed in the background since then.
  int64_t lazyfreed_objects() const { return lazyfreed_objects_; }
  void CountLazyFreed(size_t objects) { lazyfreed_objects_ += static_cast<int64_t>(objects); }
  // Changes of keys since the start.
  int64_t changes() const { return changes_; }
  void CountChange() { ++changes_; }
  // CONFIG RESETSTAT: sets all counters except changes() to 0.
  void ResetStatistics() {
    expired_keys_ = evicted_keys_ = expired_fields_ = lazyfreed_objects_ = 0;
    administration_.statistics().Reset();
  }

  // The sessions, statistics and measurements, and the host if there is one.
  Administration& administration() { return administration_; }
  const Administration& administration() const { return administration_; }
  // The users and ACL LOG.
  Acl& acl() { return acl_; }
  // CLIENT TRACKING: which sessions cache which keys.
  Tracking& tracking() { return tracking_; }
  // As Engine::set_active_expire.
  void set_active_expire(bool value);
  // Whether the running command comes from a master or a log, which decide what expires.
  bool runs_obeyed() const { return runs_obeyed_; }
  // Removes expired fields of a hash, whose deadlines are cleared, and the hash if it is empty
  // then.
  void ExpireFields(int db, const FieldDeadlines::Due& due, bool with_events = true);
  // To be called when set_active_expire or a pause of the clients may have changed how keys expire:
  // at their deadlines, or lazily.
  void UpdateExpiry();
  // DEBUG SET-SKIP-CHECKSUM-VALIDATION: how RESTORE checks payloads.
  ChecksumPolicy checksum_policy() const { return checksum_policy_; }
  void set_checksum_policy(ChecksumPolicy policy) { checksum_policy_ = policy; }
  void Reseed(uint64_t seed) { rng_ = base::Rng(seed); }
  // Replaces all databases by others, which must be as many and have no observer. Transactions that
  // watch an existing key fail. The clock may have been set back before.
  void ReplaceDatabases(std::vector<std::unique_ptr<Database>> databases);

  // Runs one command of the session, or queues it in the session's transaction. Returns the reply;
  // an error if the command is refused. If the command blocked, or waits for the end of a pause,
  // the result has no meaning.
  Reply Execute(SessionCore& session, store::CommandId id, std::string_view name,
                Arguments arguments);
  // Removes the keys whose deadline has passed.
  void RemoveExpired() {
    if (clock_.NowMicros() >= next_expiry_us_) ExpireDue();
  }
  // Removes expired keys and runs a command without further checks. `name` is the name as the
  // client wrote it, `arguments` the words after it, the subcommand included.
  Reply Call(SessionCore& session, store::CommandId id, std::string_view name, Arguments arguments);
  // The result of looking a command up and counting its arguments.
  enum class Resolution { kFound, kUnknownCommand, kUnknownSubcommand, kWrongArity };
  // The command with that name; kUnknown for the name of a subcommand's row ("config|get"), which
  // clients write as two words.
  store::CommandId CommandNamed(std::string_view name) const {
    const store::CommandId id = compatibility_.FindCommand(name);
    const bool is_whole = id == store::CommandId::kUnknown || !store::SpecOf(id).is_subcommand();
    return is_whole ? id : store::CommandId::kUnknown;
  }
  // Looks a command up. Replaces `id` by that of the subcommand's row.
  Resolution Resolve(store::CommandId& id, Arguments arguments) const;
  // The error for a command that a script calls with keys of another cluster node or slot; nullopt
  // if the command may run. `one_slot`: all keys of the script must be in one slot.
  std::optional<Reply> RefuseScriptCall(SessionCore& session, store::CommandId id,
                                        Arguments arguments, bool one_slot);
  // Evicts what a smaller maxmemory no longer allows, serves the blocked sessions whose keys
  // changed, and sends invalidations. To be called after each command of a client.
  void FinishCommand() {
    if (limit_changed_ || blocking_.any_ready() || tracking_.has_clients()) FinishChanges();
  }

  // False if such an event has no listener and no subscriber.
  bool wants(EventClass event_class) const {
    return (listener_ && IsChange(event_class)) || notifications_.Wants(event_class);
  }
  void Notify(int db, std::string_view key, EventClass event_class, std::string_view event);
  void NoteDeadline(int64_t deadline_ms);
  // To be called for each change of a key. `by`: the id of the session that made it; 0 if the
  // engine did (expiry, eviction).
  void NoteChange(int db, std::string_view key, int64_t by) {
    if (observer_ != nullptr) observer_->OnWrite(key);
    if (watching_.has_watchers()) watching_.Touch(db, key);
    if (tracking_.has_clients()) tracking_.Changed(key, by);
  }
  // The cache of scripts (EVALSHA). Created on first use, as is its Lua interpreter.
  ScriptCache& scripts();
  // The function libraries (FCALL). Created on first use, as is their Lua interpreter.
  FunctionLibraries& functions();
  // The script that exceeded busy-reply-threshold; null if there is none.
  const BusyScript* busy_script() const { return busy_ ? &*busy_ : nullptr; }
  // Sets the busy script. The caller of a stopped script is blocked already, or will be before its
  // command ends.
  BusyScript& SetBusy(BusyScript busy) { return busy_.emplace(std::move(busy)); }
  // Forgets the busy script, which has ended by itself or by KillBusy.
  void ClearBusy() { busy_.reset(); }
  // SCRIPT KILL. A running script ends at its next check; a stopped one ends now, and its caller
  // gets the error.
  void KillBusy();
  // Ends the session's wait for the busy script. The engine stays busy.
  void ForgetScriptCaller(const SessionCore& session);
  // True if commands that write are refused, and the error for them: there are too few replicas, or
  // a save has failed.
  bool refuses_writes() const { return !write_refusal_.empty(); }
  Reply RefuseWrite() const { return Reply::Error(write_refusal_); }
  // To be called by the host while it loads keys that replace the present ones, and when it has
  // ended. Meanwhile the commands that cannot do with that are refused with LOADING.
  void SetLoading(std::optional<LoadingFigures> loading) { loading_ = loading; }
  const std::optional<LoadingFigures>& loading() const { return loading_; }
  // To be called by the host after each save.
  void NoteSave(bool succeeded);
  // To be called by the host when writing its append-only log fails, with the reason, and when it
  // succeeds again, with an empty one.
  void NoteLogError(std::string_view reason);
  // True if the engine's present state may refuse or postpone commands: a busy script, a cluster, a
  // memory limit, refused writes, a master, keys that are being loaded or a pause.
  bool may_refuse() const {
    return busy_.has_value() || loading_.has_value() || follows_master() || cluster_.has_value() ||
           memory_limit_.on() || refuses_writes() || administration_.paused();
  }
  MemoryLimit& memory_limit() { return memory_limit_; }
  // True if the keys took more than maxmemory when the client's command began.
  bool out_of_memory() const { return out_of_memory_; }
  Blocking& blocking() { return blocking_; }
  Watching& watching() { return watching_; }
  Subscriptions& subscriptions() { return subscriptions_; }
  // Sends a message to the subscribers of the channel and of matching patterns, or of the shard
  // channel. Returns the number of receivers.
  int64_t Publish(std::string_view channel, std::string_view payload);
  int64_t PublishToShard(std::string_view channel, std::string_view payload);
  // At the next DeliverPending: continues the session, with the reply of its blocked command if
  // there is one.
  void DeliverLater(SessionCore& session, std::optional<Reply> reply);
  // Ends the wait of a blocked session with this reply. `from_us` is Administration::Now() before
  // the session was served.
  void EndWait(SessionCore& session, Reply reply, Administration::WaitEnd end, int64_t from_us);
  // As DeliverLater without a reply, but before all pending deliveries.
  void DeliverNext(SessionCore& session);
  // Cancels the session's pending DeliverLater and DeliverNext.
  void ForgetDelivery(SessionCore& session);
  // Sends the session a push, in order with the deliveries. Receivers of one message share it.
  void PushLater(SessionCore& session, std::shared_ptr<const SharedPush> push);
  void PushLater(SessionCore& session, Reply push) {
    PushLater(session, std::make_shared<const SharedPush>(std::move(push)));
  }
  // PushLater to each of the sessions. The push that `make` returns is made if there are any.
  // Returns their number.
  int64_t PushToAll(const std::vector<SessionCore*>& sessions, absl::FunctionRef<Reply()> make);
  // True if TakeEarlyPushes may return something for a session.
  bool has_early_pushes() const { return has_early_pushes_; }
  // Removes and returns the pushes that the session receives before its command's reply: those
  // about keys that were evicted before the command ran, and with RESP3 the messages that it
  // published.
  std::vector<std::shared_ptr<const SharedPush>> TakeEarlyPushes(SessionCore& session);
  // Cancels all deliveries and pushes to a closed session.
  void ForgetSession(SessionCore& session);
  void DeliverPending() {
    if (!delivering_ && !deliveries_.empty()) DeliverAll();
  }

 private:
  struct Delivery {
    SessionCore* session;
    std::optional<Reply> reply;                        // Of a blocked command.
    std::shared_ptr<const SharedPush> push = nullptr;  // Null for all other deliveries.
    bool is_early = false;
  };

  // The MOVED, ASK, CROSSSLOT or CLUSTERDOWN error for the command's keys; nullopt if this node
  // serves them.
  std::optional<Reply> RefuseBySlots(SessionCore& session, store::CommandId id,
                                     Arguments arguments);
  // Whether a client finds the key in database 0.
  bool HasKey(std::string_view key);
  void RedirectBlocked();
  // The BUSY, OOM, MISCONF or NOREPLICAS error; nullopt if the command may run.
  std::optional<Reply> RefusalNow(const SessionCore& session, store::CommandId id,
                                  Arguments arguments);
  // The OOM error; nullopt if the command may run. Evicts keys if they exceed maxmemory.
  std::optional<Reply> RefuseByMemory(const SessionCore& session, store::CommandId id,
                                      Arguments arguments);
  void FinishChanges();
  // Sets the options that the version decides.
  void ApplyCompatibility();
  void UpdateWriteRefusal();
  // Runs a command's handler, and tells the observer or the walks of the command.
  Reply RunWatched(CommandContext& context, const Administration::Sent& sent, Arguments arguments);
  // Replaces a database, which the walks get.
  void ReplaceDatabase(int index, std::unique_ptr<Database> next);
  // False if RefuseBySession refuses nothing, as for most commands.
  bool MayRefuseBySession(const SessionCore& session, store::CommandId id) const;
  // The error of a command that the session may not run; nullopt if it may.
  std::optional<Reply> RefuseBySession(SessionCore& session, store::CommandId id,
                                       Arguments arguments);
  // Counts a refused command and marks the session's transaction, so that EXEC aborts. Returns the
  // error.
  Reply Refuse(SessionCore& session, store::CommandId id, Reply refusal);
  // Evicts keys until maxmemory suffices. Returns false if it does not.
  bool MakeRoom();
  void EvictKey(int db, std::string_view key);
  void ApplyMemoryLimit();
  // Sends the invalidations so far; the session gets them before the reply of its command.
  void SendEarlyInvalidations(const SessionCore& session);
  // To be called when a command has ended. `changes` is the result of changes() before it.
  void Propagate(CallEffects& effects, SessionCore& session, const Administration::Sent& sent,
                 int64_t changes);
  void ExpireDue();
  bool follows_master() const { return authority_ == Authority::kMaster; }
  // False if deadlines alone remove no key.
  bool expires_at_deadlines() const {
    return authority_ == Authority::kOwn && !databases_[0]->expires_lazily();
  }
  // Removes an expired key with `remove` and sends its event. Blocked commands that need the key,
  // and transactions that watch it, fail.
  void ExpireKey(int db, const std::string& key, absl::FunctionRef<void()> remove);
  // LazyExpiry: the key expires when a command looks it up. Nothing expires in a pause.
  bool Hides(Database& db, Database::Entry& entry) override;
  // Frees the keys that the last command found expired.
  void RemoveGone();
  // The fields of a hash have expired and have no deadline any more. Removes them, and the key if
  // it is empty.
  void ScheduleExpiry();
  // The time in microseconds at which the next key expires; nullopt if no key has a deadline.
  std::optional<int64_t> NextExpiryMicros() const;
  std::vector<std::string> DescribeWaits() const override;
  void ServeReadyKeys();
  void DeliverAll();
  void ServeKey(const Blocking::Key& key);

  base::VirtualClock& clock_;
  Acl acl_;
  Administration administration_{*this};
  base::Rng rng_;
  EngineOptions options_;
  const Compatibility compatibility_;
  std::optional<ClusterView> cluster_;
  std::function<void()> cluster_listener_;
  std::vector<std::unique_ptr<Database>> databases_;
  MemoryLimit memory_limit_{databases_};
  bool out_of_memory_ = false;
  bool save_failed_ = false;
  std::optional<LoadingFigures> loading_;
  std::string log_refusal_;    // The error while the append-only log cannot be written.
  std::string write_refusal_;  // The error for commands that write; empty if they may run.
  // True until the new limit has been applied to the present keys.
  bool limit_changed_ = false;
  KeyspaceListener listener_;
  AccessObserver* observer_ = nullptr;
  std::vector<KeyspaceWalk*> walks_;
  bool watches_calls_ = false;  // There is an observer or a walk.
  bool only_reads_ = false;     // As the walks have been told.
  Propagation propagation_;
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
  bool has_early_pushes_ = false;
  int64_t next_session_id_ = 1;
  bool active_expire_ = true;
  Authority authority_ = Authority::kOwn;
  bool runs_obeyed_ = false;  // The command that runs is that of an obeyed session.
  ChecksumPolicy checksum_policy_ = ChecksumPolicy::kVerify;
  struct GoneKey {
    Database* db;
    std::string key;
  };
  std::vector<GoneKey> gone_;  // Database::MarkGone; free after the command.
  int64_t expired_keys_ = 0;
  int64_t evicted_keys_ = 0;
  int64_t expired_fields_ = 0;
  int64_t lazyfreed_objects_ = 0;
  int64_t changes_ = 0;
  // No key expires before this microsecond.
  int64_t next_expiry_us_ = std::numeric_limits<int64_t>::max();
  std::optional<base::VirtualClock::TimerId> expiry_timer_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_ENGINE_CORE_H_
