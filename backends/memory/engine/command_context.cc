#include "redouble/backends/memory/engine/command_context.h"

#include <cassert>
#include <limits>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_core.h"

namespace redouble::inline v0_1::memory {

int CommandContext::db_index() const {
  for (int index = 0; index < engine_.database_count(); ++index) {
    if (&engine_.database(index) == db_) return index;
  }
  assert(false);
  return -1;
}

base::Rng& CommandContext::rng() const { return engine_.rng(); }

const EncodingLimits& CommandContext::limits() const { return engine_.encoding_limits(); }

bool CommandContext::obeys() const { return session_.is_obeyed(); }

bool CommandContext::ExpiresAtOnce(int64_t deadline_ms) const {
  return deadline_ms <= now_ms_ && engine_.authority() == EngineCore::Authority::kOwn;
}

uint64_t CommandContext::max_string_bytes() const {
  if (obeys()) return std::numeric_limits<uint64_t>::max();
  return engine_.options().proto_max_bulk_len_bytes;
}

Database::Entry& CommandContext::Add(std::string_view key, Value value) const {
  const store::KeyType type = value.type();
  Database::Entry& entry = db_->Add(key, std::move(value));
  entry.eviction.used_s = now_s_;
  entry.eviction.frequency_minutes = EvictionRecord::MinutesOf(now_s_);
  SignalReady(key, type);
  Notify(key, EventClass::kNew, "new");
  return entry;
}

Database::Entry& CommandContext::Put(std::string_view key, Value value) const {
  Database::Entry* entry = FindAny(key);
  if (entry == nullptr) return Add(key, std::move(value));
  SignalGone(key);
  db_->ClearExpiry(*entry);
  db_->ForgetFieldDeadlines(key);
  // Redis wakes blocked clients when a key is created, not when its type changes.
  entry->value = std::move(value);
  return *entry;
}

bool CommandContext::Remove(std::string_view key) const {
  SignalGone(key);
  return db_->Remove(key);
}

Value CommandContext::Take(std::string_view key) const {
  SignalGone(key);
  Value value = std::move(db_->Find(key)->value);
  db_->Remove(key);
  return value;
}

void CommandContext::CountUse(Database::Entry& entry) const {
  const EngineOptions& options = engine_.options();
  entry.eviction.CountUse(now_s_, options.lfu_log_factor, options.lfu_decay_time_minutes,
                          engine_.rng());
}

void CommandContext::SetExpiry(Database::Entry& entry, int64_t deadline_ms) const {
  db_->SetExpiry(entry, deadline_ms);
  engine_.NoteDeadline(deadline_ms);
}

std::optional<int64_t> CommandContext::FieldDeadline(std::string_view key,
                                                     std::string_view field) const {
  const FieldDeadlines* deadlines = db_->field_deadlines();
  return deadlines == nullptr ? std::nullopt : deadlines->Of(key, field);
}

void CommandContext::SetFieldDeadline(std::string_view key, std::string_view field,
                                      int64_t deadline_ms) const {
  db_->NeedFieldDeadlines().Set(key, field, deadline_ms);
  engine_.NoteDeadline(deadline_ms);
}

std::optional<FieldDeadlines::List> CommandContext::FieldDeadlinesOf(std::string_view key) const {
  return db_->FieldDeadlinesOf(key);
}

void CommandContext::PutFieldDeadlines(std::string_view key,
                                       const FieldDeadlines::List& list) const {
  db_->NeedFieldDeadlines().Put(key, list);
  for (const auto& [field, deadline_ms] : list) engine_.NoteDeadline(deadline_ms);
}

bool CommandContext::RemoveIfEmpty(std::string_view key) const {
  const Database::Entry* entry = db_->Find(key);
  if (entry == nullptr || !entry->value.empty()) return false;
  Remove(key);
  Notify(key, EventClass::kGeneric, "del");
  return true;
}

void CommandContext::Changed(std::string_view key, EventClass event_class,
                             std::string_view event) const {
  Touched(key);
  Notify(key, event_class, event);
}

void CommandContext::Notify(std::string_view key, EventClass event_class,
                            std::string_view event) const {
  if (engine_.wants(event_class)) engine_.Notify(db_index(), key, event_class, event);
}

void CommandContext::Touched(std::string_view key) const {
  engine_.CountChange();
  if (engine_.watching().has_watchers() || engine_.tracking().has_clients()) {
    engine_.NoteChange(db_index(), key, session_.id());
  }
  Resized(key);
}

void CommandContext::CountChange() const { engine_.CountChange(); }

void CommandContext::Resized(std::string_view key) const {
  if (engine_.memory_limit().on()) engine_.memory_limit().NoteChange(*db_, key);
}

void CommandContext::SignalReady(std::string_view key, store::KeyType type) const {
  Blocking& blocking = engine_.blocking();
  if (blocking.has_waiters_for(type)) blocking.MarkReady(db_index(), key, type);
}

void CommandContext::SignalGone(std::string_view key) const {
  Blocking& blocking = engine_.blocking();
  if (blocking.has_waiters_for(store::KeyType::kStream)) {
    blocking.MarkGone(db_index(), key, *db_);
  }
}

bool CommandContext::may_block() const { return !session_.runs_atomically(); }

Reply CommandContext::Block(BlockedOperation operation) const {
  assert(may_block());
  session_.Block(std::move(operation));
  return Reply::Nil();
}

}  // namespace redouble::inline v0_1::memory
