#include "redouble/backends/memory/engine/engine_core.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/compatibility/server_text.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/keyspace/command_accesses.h"
#include "redouble/backends/memory/scripting/function_libraries.h"
#include "redouble/backends/memory/scripting/script_cache.h"
#include "redouble/backends/memory/scripting/script_commands.h"
#include "redouble/backends/memory/server/removal_word.h"
#include "redouble/core/base/text/glob.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::CommandSpec;

using Handler = Reply (*)(CommandContext&, Arguments);

constexpr Handler kHandlers[store::kCommandCount] = {
#define REDOUBLE_COMMAND(id, ...) &Handle##id,
#define REDOUBLE_CONTAINER(id, ...) nullptr,
#include "redouble/core/store/table/command_table.inc"
#undef REDOUBLE_COMMAND
};

Reply UnknownCommand(std::string_view name, Arguments arguments) {
  std::string quoted;
  for (const std::string_view argument : arguments) {
    if (quoted.size() >= kQuotedBytes) break;
    absl::StrAppend(&quoted, "'", WordInError(argument, kQuotedBytes - quoted.size()), "' ");
  }
  return Reply::Error(
      base::ToStd(absl::StrCat("ERR unknown command '", WordInError(name, kQuotedBytes),
                               "', with args beginning with: ", quoted)));
}

Reply UnknownSubcommand(std::string_view container, std::string_view subcommand) {
  const std::string name = absl::AsciiStrToUpper(base::ToAbsl(container));
  return Reply::Error(
      base::ToStd(absl::StrCat("ERR unknown subcommand '", WordInError(subcommand, kQuotedBytes),
                               "'. Try ", name, " HELP.")));
}

bool ArityMatches(const CommandSpec& spec, size_t words) {
  const auto given = static_cast<int64_t>(words);
  return spec.arity >= 0 ? given == spec.arity : given >= -spec.arity;
}

// The error for a command that was not found, or that has the wrong number of arguments.
Reply Refusal(EngineCore::Resolution resolution, CommandId id, std::string_view name,
              Arguments arguments) {
  switch (resolution) {
    case EngineCore::Resolution::kUnknownSubcommand:
      return UnknownSubcommand(name, arguments[0]);
    case EngineCore::Resolution::kWrongArity:
      return WrongArity(store::SpecOf(id).name);
    default:
      return UnknownCommand(name, arguments);
  }
}

constexpr std::string_view kAborted = "EXECABORT Transaction discarded because of: ";

// An EXEC that is refused also ends the transaction.
Reply AbortedExec(SessionCore& session, const Reply& refusal) {
  session.EndTransaction();
  constexpr std::string_view kCode = "ERR ";
  std::string_view reason = refusal.text();
  if (reason.starts_with(kCode)) reason.remove_prefix(kCode.size());
  return Reply::Error(std::string(kAborted) + std::string(reason));
}

// These commands run at once in a transaction.
bool RunsInsideMulti(CommandId id) {
  return id == CommandId::kExec || id == CommandId::kDiscard || id == CommandId::kMulti ||
         id == CommandId::kWatch || id == CommandId::kReset || id == CommandId::kQuit;
}

// RESP2 cannot distinguish replies from messages, so that subscribers may run few commands.
bool RunsWhileSubscribed(CommandId id) {
  switch (id) {
    case CommandId::kPing:
    case CommandId::kQuit:
    case CommandId::kReset:
    case CommandId::kSubscribe:
    case CommandId::kUnsubscribe:
    case CommandId::kPSubscribe:
    case CommandId::kPUnsubscribe:
    case CommandId::kSSubscribe:
    case CommandId::kSUnsubscribe:
      return true;
    default:
      return false;
  }
}

// CLIENT CACHING applies to the next command other than CLIENT, or to the transaction that it
// begins.
void EndCaching(EngineCore& engine, const SessionCore& session) {
  TrackingMode* mode = engine.tracking().ModeOf(session.id());
  if (mode == nullptr || !mode->caching || session.in_transaction()) return;
  const CommandId last = session.last_command();
  const bool was_client =
      last != CommandId::kUnknown && store::SpecOf(last).container() == "client";
  if (!was_client) mode->caching = false;
}

// Runs the handler. The standard library reports a failed allocation by an exception, also one that
// a client provoked by an absurd size; it ends the command, not the process. Lua's errors are other
// exceptions and pass through. Inline, because a call costs ten instructions of each command.
[[gnu::always_inline]] inline Reply RunHandler(Handler handler, CommandContext& context,
                                               Arguments arguments) {
  constexpr std::string_view kNoMemory = "ERR not enough memory for the command";
  try {
    return handler(context, arguments);
  } catch (const std::bad_alloc&) {
    return Reply::Error(kNoMemory);
  } catch (const std::length_error&) {
    return Reply::Error(kNoMemory);
  }
}

Reply OnlyForSubscribers(const CommandSpec& spec) {
  return Reply::Error(base::ToStd(
      absl::StrCat("ERR Can't execute '", base::ToAbsl(spec.name),
                   "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
                   "this context")));
}

bool EndsSubscriptions(CommandId id) {
  return id == CommandId::kUnsubscribe || id == CommandId::kPUnsubscribe ||
         id == CommandId::kSUnsubscribe;
}

Reply OnlyWithSubscriptions(const CommandSpec& spec) {
  return Reply::Error(base::ToStd(absl::StrCat("NOSUB '", base::ToAbsl(spec.name),
                                               "' command executed not in subscribed mode")));
}

using Property = bool (*)(EngineCore& engine, CommandId id, Arguments arguments);

// Whether the command, or one that EXEC would run, has the property.
bool AnyIs(EngineCore& engine, const SessionCore& session, CommandId id, Arguments arguments,
           Property property) {
  if (id != CommandId::kExec) return property(engine, id, arguments);
  return std::any_of(session.queued().begin(), session.queued().end(),
                     [&](const SessionCore::QueuedCommand& queued) {
                       return property(engine, queued.id, queued.arguments);
                     });
}

bool NeedsFreshKeys(EngineCore& engine, CommandId id, Arguments arguments) {
  return !RunsStale(engine, id, arguments);
}

bool NeedsLoadedKeys(EngineCore& engine, CommandId id, Arguments) {
  const CommandSpec& spec = store::SpecOf(id);
  return engine.loading()->is_async ? spec.Has(store::command_flag::kNoAsyncLoading)
                                    : !spec.Has(store::command_flag::kLoading);
}

}  // namespace

EngineCore::EngineCore(base::VirtualClock& clock, EngineOptions options)
    : clock_(clock),
      acl_(options.compatibility),
      rng_(options.seed),
      options_(std::move(options)),
      compatibility_(options_.compatibility, options_.renamed_commands),
      cluster_(options_.cluster ? std::make_optional<ClusterView>(*options_.cluster)
                                : std::nullopt),
      notifications_(
          Notifications::Parse(options_.notify_keyspace_events).value_or(Notifications())),
      blocking_(compatibility_.Has(Feature::kReexecution)) {
  for (int index = 0; index < options_.databases; ++index) {
    // Not make_unique, which sets the whole object to zero before its constructor runs: the wheels
    // of 16 databases are 45 KB, of which a new engine reads nothing.
    databases_.push_back(std::make_unique_for_overwrite<Database>());
  }
  ApplyCompatibility();
  memory_limit_.Configure(options_);
  administration_.Configure();
  acl_.SetDefaultPassword(options_.requirepass);
}

EngineCore::~EngineCore() {
  // Sessions can outlive the engine: their connections are closed. A completion can destroy a
  // session or open another one.
  while (!administration_.sessions().empty()) {
    SessionCore& session = *administration_.sessions().begin()->second;
    session.disconnected_ = true;
    session.Leave();
  }
  if (expiry_timer_) clock_.Cancel(*expiry_timer_);
}

void EngineCore::ApplyCompatibility() {
  options_.compatibility = compatibility_.version();
  options_.encoding_limits.shortest_scores = Has(Feature::kShortestScores);
  options_.encoding_limits.packed_lists = Has(Feature::kPackedLists);
  options_.encoding_limits.plain_list_nodes = Has(Feature::kPlainListNodes);
  if (!Has(Feature::kPackedSets)) options_.encoding_limits.set_max_listpack_entries = 0;
}

void EngineCore::Configure(EngineOptions options) {
  if (options.requirepass != options_.requirepass) acl_.SetDefaultPassword(options.requirepass);
  if (options.maxmemory_bytes != options_.maxmemory_bytes) limit_changed_ = true;
  options_ = std::move(options);
  ApplyCompatibility();
  notifications_ = Notifications::Parse(options_.notify_keyspace_events).value_or(Notifications());
  memory_limit_.Configure(options_);
  administration_.Configure();
  out_of_memory_ = false;
  UpdateWriteRefusal();
}

std::unique_ptr<SessionCore> EngineCore::Connect() {
  return std::unique_ptr<SessionCore>(new SessionCore(*this, next_session_id_++));
}

EngineCore::Resolution EngineCore::Resolve(CommandId& id, Arguments arguments) const {
  if (id == CommandId::kUnknown) return Resolution::kUnknownCommand;
  const CommandSpec* spec = &compatibility_.SpecOf(id);
  if (!spec->versions.Has(compatibility_.version())) return Resolution::kUnknownCommand;
  const size_t words = arguments.size() + 1;
  if (store::IsContainer(id) && !arguments.empty()) {
    const CommandId subcommand = store::FindSubcommand(id, arguments[0]);
    if (subcommand == CommandId::kUnknown || !compatibility_.HasCommand(subcommand)) {
      return Resolution::kUnknownSubcommand;
    }
    id = subcommand;
    spec = &compatibility_.SpecOf(id);
  }
  return ArityMatches(*spec, words) ? Resolution::kFound : Resolution::kWrongArity;
}

ScriptCache& EngineCore::scripts() {
  if (scripts_ == nullptr) scripts_ = std::make_unique<ScriptCache>(compatibility_);
  return *scripts_;
}

FunctionLibraries& EngineCore::functions() {
  if (functions_ == nullptr) functions_ = std::make_unique<FunctionLibraries>(compatibility_);
  return *functions_;
}

void EngineCore::KillBusy() {
  if (busy_->running != nullptr) {
    busy_->is_killed = true;
    return;
  }
  BusyScript ended = *std::exchange(busy_, std::nullopt);
  if (ended.caller == nullptr) return;
  EndWait(*ended.caller, std::move(ended.killed), Administration::WaitEnd::kServed,
          administration_.Now());
}

void EngineCore::ForgetScriptCaller(const SessionCore& session) {
  if (busy_ && busy_->caller == &session) busy_->caller = nullptr;
}

std::optional<Reply> EngineCore::RefusalNow(const SessionCore& session, CommandId id,
                                            Arguments arguments) {
  const CommandSpec& spec = store::SpecOf(id);
  if (busy_) {
    if (spec.Has(store::command_flag::kAllowBusy)) return std::nullopt;
    return Reply::Error(busy_->RefusalOf(compatibility_));
  }
  if (memory_limit_.on() && authority_ == Authority::kOwn) {
    if (std::optional<Reply> refusal = RefuseByMemory(session, id, arguments)) return refusal;
  }
  // Redis refuses PING as well while it cannot write a file, so that health checks see it.
  if (id == CommandId::kPing && write_refusal_.starts_with("MISCONF")) return RefuseWrite();
  if ((refuses_writes() || follows_master()) && AnyIs(*this, session, id, arguments, &IsWrite)) {
    if (std::optional<Reply> refusal = RefuseWriting(*this)) return refusal;
  }
  std::optional<Reply> refusal = follows_master() ? RefuseStale(*this) : std::nullopt;
  if (refusal && AnyIs(*this, session, id, arguments, &NeedsFreshKeys)) return refusal;
  if (loading_ && AnyIs(*this, session, id, arguments, &NeedsLoadedKeys)) {
    return Reply::Error(ServerText(compatibility_, error_text::kLoading));
  }
  return std::nullopt;
}

std::optional<Reply> EngineCore::RefuseByMemory(const SessionCore& session, CommandId id,
                                                Arguments arguments) {
  RemoveExpired();
  out_of_memory_ = !MakeRoom();
  if (tracking_.has_clients()) SendEarlyInvalidations(session);
  if (!out_of_memory_) return std::nullopt;
  bool denied = DeniesOom(*this, id, arguments);
  if (id == CommandId::kExec) {
    for (const SessionCore::QueuedCommand& queued : session.queued()) {
      denied = denied || DeniesOom(*this, queued.id, queued.arguments);
    }
  } else if (session.in_transaction() && id != CommandId::kDiscard) {
    // Queued commands take memory too.
    denied = denied || !Has(Feature::kQueuesOverLimit);
  }
  if (!denied) return std::nullopt;
  return Reply::Error(error_text::kOutOfMemory);
}

void EngineCore::NoteSave(bool succeeded) {
  save_failed_ = !succeeded;
  UpdateWriteRefusal();
}

void EngineCore::NoteLogError(std::string_view reason) {
  log_refusal_.clear();
  if (!reason.empty()) {
    log_refusal_ =
        base::ToStd(absl::StrCat("MISCONF Errors writing to the AOF file: ", base::ToAbsl(reason)));
  }
  UpdateWriteRefusal();
}

void EngineCore::UpdateWriteRefusal() {
  const ServerOptions& server = options_.server;
  write_refusal_ = {};
  if (save_failed_ && server.stop_writes_on_bgsave_error && !server.save_points.empty()) {
    write_refusal_ = ServerText(compatibility_, error_text::kSaveFailed);
  } else if (!log_refusal_.empty()) {
    write_refusal_ = log_refusal_;
  } else if (options_.min_replicas_to_write > 0 && options_.min_replicas_max_lag_s > 0) {
    write_refusal_ = error_text::kNoReplicas;
  }
}

bool EngineCore::MakeRoom() {
  const Administration::LatencySample cycle(administration_, "eviction-cycle");
  memory_limit_.set_client_bytes(administration_.client_buffer_bytes());
  const auto now_s = static_cast<uint32_t>(clock_.NowMillis() / 1000);
  return memory_limit_.MakeRoom(options_, now_s, rng_,
                                [this](int db, std::string_view key) { EvictKey(db, key); });
}

void EngineCore::FinishChanges() {
  // The commands of others while a script runs are not the end of its own.
  if (busy_ && busy_->running != nullptr) return;
  if (limit_changed_) ApplyMemoryLimit();
  if (blocking_.any_ready()) ServeReadyKeys();
  if (tracking_.has_clients()) SendInvalidations(*this);
}

// Redis does this after the reply, before any other command.
void EngineCore::ApplyMemoryLimit() {
  limit_changed_ = false;
  if (!memory_limit_.on() || authority_ != Authority::kOwn) return;
  if (observer_ != nullptr) observer_->OnAll();
  RemoveExpired();
  MakeRoom();
}

void EngineCore::SendEarlyInvalidations(const SessionCore& session) {
  SendInvalidations(*this);
  for (Delivery& delivery : deliveries_) {
    if (delivery.session == &session && delivery.push != nullptr) {
      delivery.is_early = has_early_pushes_ = true;
    }
  }
}

void EngineCore::EvictKey(int db, std::string_view key) {
  const Administration::LatencySample deletion(administration_, "eviction-del");
  blocking_.MarkGone(db, key, database(db));
  database(db).Remove(key);
  ++evicted_keys_;
  NoteChange(db, key, /*by=*/0);
  if (propagation_.on())
    propagation_.AddRemoval(db, RemovalWord(options_, LazyFree::kEviction), key);
  if (wants(EventClass::kEvicted)) Notify(db, key, EventClass::kEvicted, "evicted");
}

Reply EngineCore::Execute(SessionCore& session, CommandId id, std::string_view name,
                          Arguments arguments) {
  if (cluster_) session.BeginCommand();
  if (compatibility_.renames_commands() && !session.is_trusted()) id = CommandNamed(name);
  const Resolution resolution = Resolve(id, arguments);
  // An unknown subcommand is no call of its container.
  const bool is_row = resolution == Resolution::kFound || resolution == Resolution::kWrongArity;
  const CommandId called = is_row ? id : CommandId::kUnknown;
  if (tracking_.has_clients()) EndCaching(*this, session);
  session.NoteUse(called, clock_.NowMicros());
  // As in Redis, MONITOR shows an EXEC that is refused.
  const auto refused = [&](Reply refusal) {
    if (called == CommandId::kExec && refusal.text().starts_with(kAborted)) {
      administration_.ShowToMonitors(session, {called, name, arguments});
    }
    return refusal;
  };
  if (resolution != Resolution::kFound) {
    return refused(Refuse(session, called, Refusal(resolution, id, name, arguments)));
  }
  if (MayRefuseBySession(session, id)) {
    if (std::optional<Reply> refusal = RefuseBySession(session, id, arguments)) {
      return refused(*std::move(refusal));
    }
  } else {
    assert(!RefuseBySession(session, id, arguments));
  }
  if (may_refuse() && !session.is_obeyed()) {
    if (std::optional<Reply> refusal = RefusalNow(session, id, arguments)) {
      return refused(Refuse(session, id, *std::move(refusal)));
    }
    if (!session.is_trusted() && administration_.Postpones(session, id, arguments)) {
      session.Postpone();
      return Reply::Nil();
    }
  }
  if (session.in_transaction() && !RunsInsideMulti(id)) {
    session.Enqueue(id, name, arguments);
    return Reply::Status("QUEUED");
  }
  return Call(session, id, name, arguments);
}

Reply EngineCore::Refuse(SessionCore& session, CommandId id, Reply refusal) {
  if (id == CommandId::kExec) {
    refusal = AbortedExec(session, refusal);
  } else {
    session.RefuseInTransaction();
  }
  administration_.statistics().CountRejection(id, refusal);
  return refusal;
}

bool EngineCore::MayRefuseBySession(const SessionCore& session, CommandId id) const {
  return cluster_.has_value() || !session.authenticated() || session.in_transaction() ||
         session.is_replica() || session.is_subscribed() || !session.user().unrestricted() ||
         Has(Feature::kOnlySubscribers) ||
         compatibility_.SpecOf(id).Has(store::command_flag::kProtected);
}

std::optional<Reply> EngineCore::RefuseBySession(SessionCore& session, CommandId id,
                                                 Arguments arguments) {
  const CommandSpec& spec = compatibility_.SpecOf(id);
  if (spec.Has(store::command_flag::kProtected)) {
    std::optional<Reply> refusal = RefuseByConfiguration(*this, session, id);
    if (refusal) return Refuse(session, id, *std::move(refusal));
  }
  if (!session.authenticated() && !spec.Has(store::command_flag::kNoAuth)) {
    return Refuse(session, id, Reply::Error(error_text::kNoAuth));
  }
  if (session.in_transaction() && spec.Has(store::command_flag::kNoMulti)) {
    return Refuse(session, id, Reply::Error("ERR Command not allowed inside a transaction"));
  }
  if (!session.user().unrestricted()) {
    std::optional<Reply> refusal = RefuseByAcl(*this, session, id, arguments, CheckPlace::kClient);
    if (refusal) return Refuse(session, id, *std::move(refusal));
  }
  if (cluster_ && !session.is_obeyed()) {
    if (std::optional<Reply> refusal = RefuseBySlots(session, id, arguments)) {
      administration_.statistics().CountRejection(id, *refusal);
      return refusal;
    }
  }
  if (session.is_replica() &&
      (spec.Has(store::command_flag::kReadOnly) || MayWrite(*this, id, arguments))) {
    return Refuse(session, id, Reply::Error("ERR Replica can't interact with the keyspace"));
  }
  if (session.protocol() == 2 && session.is_subscribed() && !RunsWhileSubscribed(id)) {
    return Refuse(session, id, OnlyForSubscribers(spec));
  }
  if (Has(Feature::kOnlySubscribers) && !session.is_subscribed() && EndsSubscriptions(id)) {
    return Refuse(session, id, OnlyWithSubscriptions(spec));
  }
  return std::nullopt;
}

namespace {

// Reports what the command accesses, and what depends on the engine's present state.
void Observe(EngineCore& engine, const SessionCore& session, CommandId id, Arguments arguments,
             AccessObserver& observer) {
  // The outcome of EXEC depends on the keys that the connection watches.
  if (id == CommandId::kExec) {
    for (const Blocking::Key& key : session.watched()) observer.OnRead(key.name);
  }
  // EVAL adds its script to the cache.
  if (id == CommandId::kEval || id == CommandId::kEvalRo) {
    ScriptCache& scripts = engine.scripts();
    if (!scripts.Has(scripts.ShaOf(arguments[0]))) {
      observer.OnWrite(AccessObserver::State::kScripts);
    }
  }
  // Eviction may remove any key, when any key grows.
  if (engine.memory_limit().on()) observer.OnAll();
  ReportAccesses(id, arguments, observer);
}

}  // namespace

Reply EngineCore::RunWatched(CommandContext& context, const Administration::Sent& sent,
                             Arguments arguments) {
  if (observer_ != nullptr) {
    Observe(*this, context.session(), sent.id, sent.arguments, *observer_);
  }
  const auto tell = [this](bool only_reads) {
    for (KeyspaceWalk* walk : walks_) walk->set_only_reads(only_reads);
    return std::exchange(only_reads_, only_reads);
  };
  // PFCOUNT keeps its result in the value.
  const bool only_reads =
      store::SpecOf(sent.id).Has(store::command_flag::kReadOnly) && sent.id != CommandId::kPfCount;
  // A script or a transaction runs commands within its own.
  const bool before = tell(only_reads);
  const absl::Cleanup restorer = [&] { tell(before); };
  return RunHandler(kHandlers[static_cast<size_t>(sent.id)], context, arguments);
}

Reply EngineCore::Call(SessionCore& session, CommandId id, std::string_view name,
                       Arguments arguments) {
  const Administration::Sent sent{id, name, arguments};
  const int64_t begun_us = administration_.Begin();
  runs_obeyed_ = session.is_obeyed();
  RemoveExpired();
  CommandContext context(*this, session, database(session.db_index()), clock_.NowMillis());
  context.set_called_name(name);
  context.set_counts_uses(IsLfu(options_.maxmemory_policy));
  // TOUCH is what NO-TOUCH does not apply to.
  if (session.no_touch()) context.set_touches(id == CommandId::kTouch);
  const CommandSpec& spec = store::SpecOf(id);
  const bool only_reads = spec.Has(store::command_flag::kReadOnly);
  context.set_only_reads(only_reads);
  if (spec.is_subcommand()) {
    context.set_subcommand(arguments[0]);
    arguments = arguments.subspan(1);
  }
  std::optional<CallEffects> effects;
  if (propagation_.on()) context.set_effects(&effects.emplace(propagation_));
  const int64_t changes = changes_;
  Reply reply = watches_calls_ ? RunWatched(context, sent, arguments)
                               : RunHandler(kHandlers[static_cast<size_t>(id)], context, arguments);
  if (effects) Propagate(*effects, session, sent, changes);
  if (!gone_.empty()) RemoveGone();
  administration_.statistics().CountLookups(context.hits(), context.misses());
  // A script's keys are remembered when one of its commands reads.
  if (only_reads && tracking_.has_clients() && !session.runs_script() && !RunsScript(id)) {
    RememberReads(*this, session, id, sent.arguments);
  }
  // Commands of a log are no calls of a client.
  if (authority_ != Authority::kLog) administration_.Finish(session, sent, reply, begun_us);
  return reply;
}

void EngineCore::Propagate(CallEffects& effects, SessionCore& session,
                           const Administration::Sent& sent, int64_t changes) {
  // The commands of a transaction or a script have propagated themselves.
  if (sent.id == CommandId::kExec || RunsScript(sent.id)) return;
  effects.Finish({.db = session.db_index(),
                  .name = sent.name,
                  .arguments = sent.arguments,
                  .has_changed = changes_ > changes,
                  .from_script = session.runs_script()});
}

void EngineCore::SetAccessObserver(AccessObserver* observer) {
  assert(walks_.empty());
  observer_ = observer;
  watches_calls_ = observer != nullptr;
  for (const std::unique_ptr<Database>& db : databases_) db->SetObserver(observer);
}

void EngineCore::Notify(int db, std::string_view key, EventClass event_class,
                        std::string_view event) {
  if (listener_ && IsChange(event_class)) listener_(KeyspaceEvent{event_class, event, db, key});
  if (subscriptions_.empty() || !notifications_.Wants(event_class)) return;
  if (notifications_.by_key()) {
    Publish(base::ToStd(absl::StrCat("__keyspace@", db, "__:", base::ToAbsl(key))), event);
  }
  if (notifications_.by_event()) {
    Publish(base::ToStd(absl::StrCat("__keyevent@", db, "__:", base::ToAbsl(event))), key);
  }
}

int64_t EngineCore::PushToAll(const std::vector<SessionCore*>& sessions,
                              absl::FunctionRef<Reply()> make) {
  if (sessions.empty()) return 0;
  const auto message = std::make_shared<const SharedPush>(make());
  for (SessionCore* session : sessions) PushLater(*session, message);
  return static_cast<int64_t>(sessions.size());
}

int64_t EngineCore::Publish(std::string_view channel, std::string_view payload) {
  int64_t receivers = PushToAll(subscriptions_.Of(SubscriptionKind::kChannel, channel), [&] {
    return Reply::Push({Reply::Bulk("message"), Reply::Bulk(channel), Reply::Bulk(payload)});
  });
  for (const auto& [pattern, sessions] : subscriptions_.table(SubscriptionKind::kPattern)) {
    if (!base::GlobMatch(pattern, channel)) continue;
    receivers += PushToAll(sessions, [&, &pattern = pattern] {
      return Reply::Push({Reply::Bulk("pmessage"), Reply::Bulk(pattern), Reply::Bulk(channel),
                          Reply::Bulk(payload)});
    });
  }
  return receivers;
}

int64_t EngineCore::PublishToShard(std::string_view channel, std::string_view payload) {
  return PushToAll(subscriptions_.Of(SubscriptionKind::kShard, channel), [&] {
    return Reply::Push({Reply::Bulk("smessage"), Reply::Bulk(channel), Reply::Bulk(payload)});
  });
}

std::vector<std::string> EngineCore::DescribeWaits() const {
  std::vector<std::string> lines;
  for (const auto& [id, session] : administration_.sessions()) {
    if (std::optional<std::string> line = session->DescribeWait())
      lines.push_back(*std::move(line));
  }
  return lines;
}

void EngineCore::ServeReadyKeys() {
  while (blocking_.any_ready()) {
    for (const Blocking::Key& key : blocking_.TakeReady()) ServeKey(key);
  }
  if (!gone_.empty()) RemoveGone();
}

void EngineCore::ServeKey(const Blocking::Key& key) {
  for (SessionCore* session : blocking_.Waiters(key)) {
    const BlockedOperation& operation = session->blocked_operation();
    const Database::Entry* entry = database(key.db).Find(key.name);
    const bool matches =
        operation.also_when_gone || (entry != nullptr && entry->value.type() == operation.type);
    if (!matches) continue;
    runs_obeyed_ = session->is_obeyed();
    CommandContext context(*this, *session, database(key.db), clock_.NowMillis());
    std::optional<CallEffects> effects;
    if (propagation_.on()) context.set_effects(&effects.emplace(propagation_));
    const int64_t from_us = administration_.Now();
    std::optional<Reply> reply = operation.retry(context, key.name);
    if (effects) effects->FinishServed(key.db);
    if (!reply) continue;
    EndWait(*session, *std::move(reply), Administration::WaitEnd::kServed, from_us);
  }
}

void EngineCore::EndWait(SessionCore& session, Reply reply, Administration::WaitEnd end,
                         int64_t from_us) {
  administration_.FinishBlocked(session, reply, end, from_us);
  session.Unblock();
  DeliverLater(session, std::move(reply));
}

void EngineCore::DeliverLater(SessionCore& session, std::optional<Reply> reply) {
  deliveries_.push_back(Delivery{&session, std::move(reply)});
}

void EngineCore::DeliverNext(SessionCore& session) {
  deliveries_.push_front(Delivery{&session, std::nullopt});
}

void EngineCore::ForgetDelivery(SessionCore& session) {
  std::erase_if(deliveries_, [&](const Delivery& delivery) {
    return delivery.session == &session && delivery.push == nullptr;
  });
}

void EngineCore::PushLater(SessionCore& session, std::shared_ptr<const SharedPush> push) {
  if (observer_ != nullptr) observer_->OnWrite(AccessObserver::State::kMessages);
  if (ReplySink* sink = session.message_sink()) {
    if (session.drops_pushes()) return;
    session.AddPendingPush(*push);
    if (sink->Overflows(session.pending_push_bytes())) {
      session.DropPushes();
      std::erase_if(deliveries_, [&](const Delivery& delivery) {
        return delivery.session == &session && delivery.push != nullptr;
      });
      return;
    }
  }
  deliveries_.push_back(Delivery{&session, std::nullopt, std::move(push)});
}

std::vector<std::shared_ptr<const SharedPush>> EngineCore::TakeEarlyPushes(SessionCore& session) {
  const bool takes_messages = session.protocol() == 3 && session.is_subscribed();
  const auto is_message = [](const Reply& push) {
    return push.is_array() && push.elements()[0].text().ends_with("message");
  };
  std::vector<std::shared_ptr<const SharedPush>> pushes;
  std::erase_if(deliveries_, [&](Delivery& delivery) {
    if (delivery.session != &session || delivery.push == nullptr) return false;
    const bool is_early =
        delivery.is_early || (takes_messages && is_message(delivery.push->reply()));
    if (is_early) {
      session.RemovePendingPush(*delivery.push);
      pushes.push_back(std::move(delivery.push));
    }
    return is_early;
  });
  return pushes;
}

void EngineCore::ForgetSession(SessionCore& session) {
  std::erase_if(deliveries_,
                [&](const Delivery& delivery) { return delivery.session == &session; });
}

void EngineCore::DeliverAll() {
  // While a script runs, other sessions get its messages, but none continues with its commands.
  const bool only_pushes = busy_ && busy_->running != nullptr;
  delivering_ = true;
  for (size_t next = 0; next < deliveries_.size();) {
    if (only_pushes && deliveries_[next].push == nullptr) {
      ++next;
      continue;
    }
    Delivery delivery = std::move(deliveries_[next]);
    // Nearly always the first.
    if (next == 0) {
      deliveries_.pop_front();
    } else {
      deliveries_.erase(deliveries_.begin() + static_cast<std::ptrdiff_t>(next));
    }
    if (delivery.push != nullptr) {
      delivery.session->RemovePendingPush(*delivery.push);
      delivery.session->TakePush(*delivery.push);
    } else {
      delivery.session->Resume(std::move(delivery.reply));
    }
  }
  has_early_pushes_ = false;
  delivering_ = false;
}

}  // namespace redouble::inline v0_1::memory
