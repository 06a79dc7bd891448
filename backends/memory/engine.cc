#include "backends/memory/engine.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "backends/memory/commands/argument.h"
#include "backends/memory/function_libraries.h"
#include "backends/memory/handlers.h"
#include "backends/memory/permission.h"
#include "backends/memory/script_cache.h"
#include "core/base/glob.h"
#include "core/base/string_bridge.h"
#include "core/store/errors.h"

namespace redouble::memory {
namespace {

using store::CommandId;
using store::CommandSpec;

using Handler = Reply (*)(CommandContext&, Arguments);

// Later than any clock.
constexpr int64_t kNeverMillis = std::numeric_limits<int64_t>::max() / 1000;

constexpr Handler kHandlers[store::kCommandCount] = {
#define REDOUBLE_COMMAND(id, ...) &Handle##id,
#define REDOUBLE_CONTAINER(id, ...) nullptr,
#include "core/store/command_table.inc"
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

Reply UnknownSubcommand(const CommandSpec& container, std::string_view subcommand) {
  const std::string name = absl::AsciiStrToUpper(base::ToAbsl(container.name));
  return Reply::Error(
      base::ToStd(absl::StrCat("ERR unknown subcommand '", WordInError(subcommand, kQuotedBytes),
                               "'. Try ", name, " HELP.")));
}

bool ArityMatches(const CommandSpec& spec, size_t words) {
  const auto given = static_cast<int64_t>(words);
  return spec.arity >= 0 ? given == spec.arity : given >= -spec.arity;
}

// The error that Redis replies to a command that was not found as it came.
Reply Refusal(Engine::Resolution resolution, CommandId id, std::string_view name,
              Arguments arguments) {
  switch (resolution) {
    case Engine::Resolution::kUnknownSubcommand:
      return UnknownSubcommand(store::SpecOf(id), arguments[0]);
    case Engine::Resolution::kWrongArity:
      return WrongArity(store::SpecOf(id).name);
    default:
      return UnknownCommand(name, arguments);
  }
}

// An EXEC that is refused itself ends the transaction.
Reply AbortedExec(Session& session, const Reply& refusal) {
  session.EndTransaction();
  constexpr std::string_view kCode = "ERR ";
  std::string_view reason = refusal.text();
  if (reason.starts_with(kCode)) reason.remove_prefix(kCode.size());
  return Reply::Error("EXECABORT Transaction discarded because of: " + std::string(reason));
}

// These run at once even in a transaction.
bool RunsInsideMulti(CommandId id) {
  return id == CommandId::kExec || id == CommandId::kDiscard || id == CommandId::kMulti ||
         id == CommandId::kWatch || id == CommandId::kReset || id == CommandId::kQuit;
}

// RESP2 has no way to tell a reply from a message, so that a subscriber may do little else.
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

// What CLIENT CACHING said holds for the next command that is not CLIENT itself, or for the
// transaction that it begins.
void EndCaching(Engine& engine, const Session& session) {
  TrackingMode* mode = engine.tracking().ModeOf(session.id());
  if (mode == nullptr || !mode->caching || session.in_transaction()) return;
  const CommandId last = session.last_command();
  const bool was_client =
      last != CommandId::kUnknown && store::SpecOf(last).container() == "client";
  if (!was_client) mode->caching = false;
}

Reply OnlyForSubscribers(const CommandSpec& spec) {
  return Reply::Error(base::ToStd(
      absl::StrCat("ERR Can't execute '", base::ToAbsl(spec.name),
                   "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
                   "this context")));
}

}  // namespace

Engine::Engine(base::VirtualClock& clock, EngineOptions options)
    : clock_(clock),
      rng_(options.seed),
      options_(std::move(options)),
      cluster_(options_.cluster ? std::make_optional<ClusterView>(*options_.cluster)
                                : std::nullopt),
      notifications_(
          Notifications::Parse(options_.notify_keyspace_events).value_or(Notifications())) {
  for (int index = 0; index < options_.databases; ++index) {
    databases_.push_back(std::make_unique<Database>());
  }
  memory_limit_.Configure(options_);
  administration_.Configure();
  acl_.SetDefaultPassword(options_.requirepass);
}

Engine::~Engine() {
  if (expiry_timer_) clock_.Cancel(*expiry_timer_);
}

void Engine::Configure(EngineOptions options) {
  if (options.requirepass != options_.requirepass) acl_.SetDefaultPassword(options.requirepass);
  options_ = std::move(options);
  notifications_ = Notifications::Parse(options_.notify_keyspace_events).value_or(Notifications());
  memory_limit_.Configure(options_);
  administration_.Configure();
  out_of_memory_ = false;
}

std::unique_ptr<Session> Engine::Connect() {
  return std::unique_ptr<Session>(new Session(*this, next_session_id_++));
}

void Engine::SwapDatabases(int a, int b) {
  if (a == b) return;
  watching_.TouchAll(a, database(a), &database(b));
  watching_.TouchAll(b, database(b), &database(a));
  blocking_.MarkAllGone(a, database(a), &database(b));
  blocking_.MarkAllGone(b, database(b), &database(a));
  std::swap(databases_[a], databases_[b]);
  ++changes_;
  blocking_.MarkAllReady(a, database(a));
  blocking_.MarkAllReady(b, database(b));
}

void Engine::FlushDatabase(int index) {
  watching_.TouchAll(index, database(index), nullptr);
  blocking_.MarkAllGone(index, database(index), nullptr);
  tracking_.AllChanged();
  changes_ += static_cast<int64_t>(database(index).size());
  database(index).Clear();
}

void Engine::set_active_expire(bool value) {
  active_expire_ = value;
  if (expiry_timer_) clock_.Cancel(*std::exchange(expiry_timer_, std::nullopt));
  next_expiry_us_ = std::numeric_limits<int64_t>::max();
  ScheduleExpiry();
}

void Engine::ReplaceKeys(const std::function<void(int index, Database& db)>& fill) {
  if (expiry_timer_) clock_.Cancel(*std::exchange(expiry_timer_, std::nullopt));
  next_expiry_us_ = std::numeric_limits<int64_t>::max();
  for (int index = 0; index < database_count(); ++index) {
    watching_.TouchAll(index, database(index), nullptr);
    blocking_.MarkAllGone(index, database(index), nullptr);
    databases_[index] = std::make_unique<Database>();
    fill(index, database(index));
    blocking_.MarkAllReady(index, database(index));
  }
  tracking_.AllChanged();
  ScheduleExpiry();
  memory_limit_.Configure(options_);
}

Engine::Resolution Engine::Resolve(CommandId& id, Arguments arguments) const {
  if (id == CommandId::kUnknown) return Resolution::kUnknownCommand;
  const size_t words = arguments.size() + 1;
  if (store::IsContainer(id) && !arguments.empty()) {
    const CommandId subcommand = store::FindSubcommand(id, arguments[0]);
    if (subcommand == CommandId::kUnknown) {
      return Resolution::kUnknownSubcommand;
    }
    id = subcommand;
  }
  return ArityMatches(store::SpecOf(id), words) ? Resolution::kFound : Resolution::kWrongArity;
}

ScriptCache& Engine::scripts() {
  if (scripts_ == nullptr) scripts_ = std::make_unique<ScriptCache>();
  return *scripts_;
}

FunctionLibraries& Engine::functions() {
  if (functions_ == nullptr) functions_ = std::make_unique<FunctionLibraries>();
  return *functions_;
}

void Engine::EndBusy() {
  BusyScript ended = *std::exchange(busy_, std::nullopt);
  if (ended.caller == nullptr) return;
  ended.caller->Unblock();
  DeliverLater(*ended.caller, std::move(ended.killed));
}

void Engine::ForgetScriptCaller(const Session& session) {
  if (busy_ && busy_->caller == &session) busy_->caller = nullptr;
}

std::optional<Reply> Engine::RefusalNow(const Session& session, CommandId id) {
  const CommandSpec& spec = store::SpecOf(id);
  if (busy_) {
    if (spec.Has(store::command_flag::kAllowBusy)) return std::nullopt;
    return Reply::Error(busy_->refusal());
  }
  if (!memory_limit_.on()) return std::nullopt;
  RemoveExpired();
  const auto now_s = static_cast<uint32_t>(clock_.NowMillis() / 1000);
  out_of_memory_ = !memory_limit_.MakeRoom(
      options_, now_s, rng_, [this](int db, std::string_view key) { EvictKey(db, key); });
  if (!out_of_memory_) return std::nullopt;
  bool denied = spec.Has(store::command_flag::kDenyOom);
  if (id == CommandId::kExec) {
    for (const Session::QueuedCommand& queued : session.queued()) {
      denied = denied || store::SpecOf(queued.id).Has(store::command_flag::kDenyOom);
    }
  } else if (session.in_transaction() && id != CommandId::kDiscard) {
    // What is queued takes memory too.
    denied = true;
  }
  if (!denied) return std::nullopt;
  return Reply::Error(error_text::kOutOfMemory);
}

void Engine::EvictKey(int db, std::string_view key) {
  blocking_.MarkGone(db, key, database(db));
  database(db).Remove(key);
  ++evicted_keys_;
  NoteChange(db, key, /*by=*/0);
  if (wants(EventClass::kEvicted)) Notify(db, key, EventClass::kEvicted, "evicted");
}

Reply Engine::Execute(Session& session, CommandId id, std::string_view name, Arguments arguments) {
  if (const Resolution resolution = Resolve(id, arguments); resolution != Resolution::kFound) {
    return Refuse(session, id, Refusal(resolution, id, name, arguments));
  }
  if (tracking_.anybody_tracks()) EndCaching(*this, session);
  session.NoteUse(id, clock_.NowMicros());
  if (std::optional<Reply> refusal = RefuseBySession(session, id, arguments)) {
    return *std::move(refusal);
  }
  if (may_refuse()) {
    if (std::optional<Reply> refusal = RefusalNow(session, id)) {
      return Refuse(session, id, *std::move(refusal));
    }
    if (administration_.Postpones(session, id)) {
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

Reply Engine::Refuse(Session& session, CommandId id, Reply refusal) {
  administration_.statistics().CountRejection(id, refusal);
  if (id == CommandId::kExec) return AbortedExec(session, refusal);
  session.RefuseInTransaction();
  return refusal;
}

std::optional<Reply> Engine::RefuseBySession(Session& session, CommandId id, Arguments arguments) {
  const CommandSpec& spec = store::SpecOf(id);
  if (spec.Has(store::command_flag::kProtected)) {
    return Refuse(session, id, Reply::Error(error_text::kModuleNotAllowed));
  }
  if (!session.may_talk() && !spec.Has(store::command_flag::kNoAuth)) {
    return Refuse(session, id, Reply::Error(error_text::kNoAuth));
  }
  if (session.in_transaction() && spec.Has(store::command_flag::kNoMulti)) {
    return Refuse(session, id, Reply::Error("ERR Command not allowed inside a transaction"));
  }
  if (!session.user().unrestricted()) {
    std::optional<Reply> refusal = RefuseByAcl(*this, session, id, arguments, CheckPlace::kClient);
    if (refusal) return Refuse(session, id, *std::move(refusal));
  }
  if (cluster_) {
    if (std::optional<Reply> refusal = RefuseBySlots(session, id, arguments)) {
      administration_.statistics().CountRejection(id, *refusal);
      return refusal;
    }
  }
  if (session.protocol() == 2 && session.is_subscribed() && !RunsWhileSubscribed(id)) {
    return Refuse(session, id, OnlyForSubscribers(spec));
  }
  return std::nullopt;
}

std::optional<Reply> Engine::RefuseBySlots(Session& session, CommandId id,
                                           Arguments arguments) const {
  ClusterView::Keys keys(*cluster_);
  if (id == CommandId::kExec) {
    // A transaction's keys are looked at once more, all together.
    for (const Session::QueuedCommand& queued : session.queued()) {
      const std::vector<std::string_view> words(queued.arguments.begin(), queued.arguments.end());
      keys.Add(store::SpecOf(queued.id), words);
    }
  } else {
    keys.Add(store::SpecOf(id), arguments);
  }
  session.set_slot(keys.slot());
  const ClusterView::Verdict verdict = keys.verdict();
  if (verdict == ClusterView::Verdict::kServes) return std::nullopt;
  if (id == CommandId::kExec) {
    session.EndTransaction();
  } else {
    session.RefuseInTransaction();
  }
  return Reply::Error(cluster_->ErrorText(verdict, keys.slot()));
}

std::optional<Reply> Engine::RefuseScriptCall(Session& session, CommandId id, Arguments arguments,
                                              bool one_slot) const {
  if (!cluster_) return std::nullopt;
  ClusterView::Keys keys(*cluster_);
  keys.Add(store::SpecOf(id), arguments);
  switch (keys.verdict()) {
    case ClusterView::Verdict::kServes:
      break;
    case ClusterView::Verdict::kDown:
      return Reply::Error("ERR Script attempted to execute a command while the cluster is down");
    default:
      return Reply::Error("ERR Script attempted to access a non local key in a cluster node");
  }
  if (!one_slot || keys.slot() == ClusterView::kNoSlot) return std::nullopt;
  if (session.slot() == ClusterView::kNoSlot) session.set_slot(keys.slot());
  if (session.slot() == keys.slot()) return std::nullopt;
  return Reply::Error("ERR Script attempted to access keys that do not hash to the same slot");
}

Reply Engine::Call(Session& session, CommandId id, std::string_view name, Arguments arguments) {
  const Administration::Sent sent{id, name, arguments};
  const int64_t begun_us = administration_.Begin();
  RemoveExpired();
  CommandContext context(*this, session, database(session.db_index()), clock_.NowMillis());
  context.set_called_name(name);
  context.set_counts_uses(IsLfu(options_.maxmemory_policy));
  const CommandSpec& spec = store::SpecOf(id);
  const bool only_reads = spec.Has(store::command_flag::kReadOnly);
  if (notifications_.Wants(EventClass::kKeyMiss)) context.set_tells_misses(only_reads);
  if (spec.is_subcommand()) {
    context.set_subcommand(arguments[0]);
    arguments = arguments.subspan(1);
  }
  Reply reply = kHandlers[static_cast<size_t>(id)](context, arguments);
  if (only_reads) administration_.statistics().CountLookups(context.hits(), context.misses());
  if (only_reads && tracking_.anybody_tracks() && !session.runs_script()) {
    RememberReads(*this, session, id, sent.arguments);
  }
  administration_.Finish(session, sent, reply, begun_us);
  return reply;
}

void Engine::ExpireDue() {
  const int64_t now_ms = clock_.NowMillis();
  for (int index = 0; index < database_count(); ++index) {
    Database& db = database(index);
    if (db.expiring() == 0) continue;
    size_t prefetched = 0;
    while (Database::Entry* entry = db.FirstExpired(now_ms)) {
      if (prefetched == 0) prefetched = db.PrefetchExpired();
      --prefetched;
      const std::string key(entry->key());
      blocking_.MarkGone(index, key, db);
      db.RemoveExpiring(*entry);
      ++expired_keys_;
      NoteChange(index, key, /*by=*/0);
      if (wants(EventClass::kExpired)) Notify(index, key, EventClass::kExpired, "expired");
    }
  }
  next_expiry_us_ = std::numeric_limits<int64_t>::max();
  ScheduleExpiry();
}

// Asks the clock to call when the first key of any database may expire.
void Engine::ScheduleExpiry() {
  for (const std::unique_ptr<Database>& db : databases_) {
    if (const std::optional<int64_t> check_ms = db->NextExpiryCheck()) {
      NoteDeadline(*check_ms - 1);
    }
  }
}

void Engine::NoteDeadline(int64_t deadline_ms) {
  if (deadline_ms >= kNeverMillis - 1) return;
  const int64_t check_us = (deadline_ms + 1) * 1000;
  if (check_us >= next_expiry_us_) return;
  next_expiry_us_ = check_us;
  if (expiry_timer_) clock_.Cancel(*std::exchange(expiry_timer_, std::nullopt));
  if (!active_expire_) return;
  const auto check = [this] {
    expiry_timer_.reset();
    ExpireDue();
    FinishCommand();
    DeliverPending();
  };
  expiry_timer_ = clock_.ScheduleCheckAt(check_us, check, [this] { return NextExpiryMicros(); });
}

std::optional<int64_t> Engine::NextExpiryMicros() const {
  std::optional<int64_t> next_us;
  for (const std::unique_ptr<Database>& db : databases_) {
    const std::optional<int64_t> next_ms = db->NextExpiry();
    if (!next_ms || *next_ms >= kNeverMillis) continue;
    next_us = std::min(*next_ms * 1000, next_us.value_or(*next_ms * 1000));
  }
  return next_us;
}

void Engine::Notify(int db, std::string_view key, EventClass event_class, std::string_view event) {
  if (listener_ && IsChange(event_class)) listener_(KeyspaceEvent{event_class, event, db, key});
  if (subscriptions_.empty() || !notifications_.Wants(event_class)) return;
  if (notifications_.by_key()) {
    Publish(base::ToStd(absl::StrCat("__keyspace@", db, "__:", base::ToAbsl(key))), event);
  }
  if (notifications_.by_event()) {
    Publish(base::ToStd(absl::StrCat("__keyevent@", db, "__:", base::ToAbsl(event))), key);
  }
}

int64_t Engine::Publish(std::string_view channel, std::string_view payload) {
  int64_t receivers = 0;
  for (Session* session : subscriptions_.Of(SubscriptionKind::kChannel, channel)) {
    PushLater(*session,
              Reply::Push({Reply::Bulk("message"), Reply::Bulk(channel), Reply::Bulk(payload)}));
    ++receivers;
  }
  for (const auto& [pattern, sessions] : subscriptions_.table(SubscriptionKind::kPattern)) {
    if (!base::GlobMatch(pattern, channel)) continue;
    for (Session* session : sessions) {
      PushLater(*session, Reply::Push({Reply::Bulk("pmessage"), Reply::Bulk(pattern),
                                       Reply::Bulk(channel), Reply::Bulk(payload)}));
      ++receivers;
    }
  }
  return receivers;
}

int64_t Engine::PublishToShard(std::string_view channel, std::string_view payload) {
  const std::vector<Session*>& sessions = subscriptions_.Of(SubscriptionKind::kShard, channel);
  for (Session* session : sessions) {
    PushLater(*session,
              Reply::Push({Reply::Bulk("smessage"), Reply::Bulk(channel), Reply::Bulk(payload)}));
  }
  return static_cast<int64_t>(sessions.size());
}

void Engine::ServeReadyKeys() {
  while (blocking_.any_ready()) {
    for (const Blocking::Key& key : blocking_.TakeReady()) ServeKey(key);
  }
}

void Engine::ServeKey(const Blocking::Key& key) {
  for (Session* session : blocking_.Waiters(key)) {
    const BlockedOperation& operation = session->blocked_operation();
    const Database::Entry* entry = database(key.db).Find(key.name);
    const bool matches =
        operation.also_when_gone || (entry != nullptr && entry->value.type() == operation.type);
    if (!matches) continue;
    CommandContext context(*this, *session, database(key.db), clock_.NowMillis());
    std::optional<Reply> reply = operation.retry(context, key.name);
    if (!reply) continue;
    session->Unblock();
    DeliverLater(*session, *std::move(reply));
  }
}

void Engine::DeliverLater(Session& session, std::optional<Reply> reply) {
  deliveries_.push_back(Delivery{&session, std::move(reply)});
}

void Engine::DeliverNext(Session& session) {
  deliveries_.push_front(Delivery{&session, std::nullopt});
}

void Engine::ForgetDelivery(Session& session) {
  std::erase_if(deliveries_, [&](const Delivery& delivery) {
    return delivery.session == &session && !delivery.is_push;
  });
}

void Engine::PushLater(Session& session, Reply push) {
  deliveries_.push_back(Delivery{&session, std::move(push), /*is_push=*/true});
}

std::vector<Reply> Engine::TakeMessages(Session& session) {
  std::vector<Reply> messages;
  std::erase_if(deliveries_, [&](Delivery& delivery) {
    const bool is_message = delivery.session == &session && delivery.is_push &&
                            delivery.reply->is_array() &&
                            delivery.reply->elements()[0].text().ends_with("message");
    if (is_message) messages.push_back(*std::move(delivery.reply));
    return is_message;
  });
  return messages;
}

void Engine::ForgetSession(Session& session) {
  std::erase_if(deliveries_,
                [&](const Delivery& delivery) { return delivery.session == &session; });
}

void Engine::DeliverAll() {
  delivering_ = true;
  while (!deliveries_.empty()) {
    Delivery delivery = std::move(deliveries_.front());
    deliveries_.pop_front();
    if (delivery.is_push) {
      delivery.session->TakePush(*delivery.reply);
    } else {
      delivery.session->Resume(std::move(delivery.reply));
    }
  }
  delivering_ = false;
}

}  // namespace redouble::memory
