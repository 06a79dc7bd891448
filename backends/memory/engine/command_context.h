// CommandContext: the interface between a command's handler and the engine.
//
// A handler is a free function `Reply HandleGet(CommandContext& context, Arguments arguments)` in
// the file of its data type under commands/. The engine has looked the command up, checked its
// arity and removed expired keys before it calls the handler. `arguments` are the words after the
// command's name; for a row of a subcommand ("xgroup|create"), the words after the subcommand.
//
//   Reply HandleLLen(CommandContext& context, Arguments arguments) {
//     const Lookup<List> list = context.Find<List>(arguments[0]);
//     if (list.wrong_type()) return WrongType();
//     return Reply::Integer(list ? list->size() : 0);
//   }
//
// A handler that changes a key calls Changed() once for each change: WATCH, keyspace events, client
// tracking, propagation and the count of changes depend on it. A command that would do something
// else on a replica, or at another time, calls PropagateAs() with its effect.
//
// Thread-safety: one thread; lives for one command.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_COMMAND_CONTEXT_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_COMMAND_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/blocking/blocked_operation.h"
#include "redouble/backends/memory/engine/error_text.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/backends/memory/keyspace/keyspace_event.h"
#include "redouble/backends/memory/propagation/call_effects.h"
#include "redouble/backends/memory/values/encoding_limits.h"
#include "redouble/backends/memory/values/value.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

class EngineCore;
class SessionCore;

using Arguments = std::span<const std::string_view>;
using store::Reply;

inline Reply WrongType() { return Reply::Error(error_text::kWrongType); }
inline Reply SyntaxError() { return Reply::Error(error_text::kSyntax); }

// The result of a typed lookup: no key, a T, or a key of another type.
template <typename T>
class Lookup {
 public:
  Lookup() = default;
  Lookup(Database::Entry* entry, T* value) : entry_(entry), value_(value) {}

  // There is a key, of whatever type.
  bool exists() const { return entry_ != nullptr; }
  bool wrong_type() const { return entry_ != nullptr && value_ == nullptr; }
  explicit operator bool() const { return value_ != nullptr; }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }
  Database::Entry& entry() const { return *entry_; }

 private:
  Database::Entry* entry_ = nullptr;
  T* value_ = nullptr;
};

class CommandContext {
 public:
  CommandContext(EngineCore& engine, SessionCore& session, Database& db, int64_t now_ms)
      : engine_(engine),
        session_(session),
        db_(&db),
        now_ms_(now_ms),
        now_s_(static_cast<uint32_t>(now_ms / 1000)) {}

  EngineCore& engine() const { return engine_; }
  SessionCore& session() const { return session_; }
  // The session's selected database.
  Database& db() const { return *db_; }
  int db_index() const;
  // Makes the rest of this command use another database (SELECT, COPY DB, MOVE).
  void SetDb(Database& db) { db_ = &db; }
  // The engine's time. It does not change during a command, a transaction or a script.
  int64_t now_ms() const { return now_ms_; }
  // The same in seconds, for EvictionRecord.
  uint32_t now_s() const { return now_s_; }
  base::Rng& rng() const;
  const EncodingLimits& limits() const;
  // The command comes from a log or a master, which has checked it (SessionCore::is_obeyed).
  bool obeys() const;
  // True if a key with this deadline expires at once. A log or a master removes it by a command of
  // its own.
  bool ExpiresAtOnce(int64_t deadline_ms) const;
  // The longest string allowed: proto-max-bulk-len; without a limit if obeys().
  uint64_t max_string_bytes() const;

  // The command's name as the client wrote it, for errors that quote it; for a subcommand, the name
  // of its container.
  std::string_view called_name() const { return called_name_; }
  void set_called_name(std::string_view name) { called_name_ = name; }
  // The subcommand as the client wrote it, for errors that quote it. Empty if there is none.
  std::string_view subcommand() const { return subcommand_; }
  void set_subcommand(std::string_view subcommand) { subcommand_ = subcommand; }

  // For commands that only read: every lookup counts as a hit or a miss, and a miss publishes
  // "keymiss".
  void set_only_reads(bool value) { only_reads_ = value; }
  // Whether lookups count for LFU: maxmemory-policy is an LFU policy.
  void set_counts_uses(bool value) { counts_uses_ = value; }
  // Whether lookups update the LRU and LFU fields (CLIENT NO-TOUCH).
  void set_touches(bool value) { touches_ = value; }

  // Returns the key of any type, null if it does not exist. Updates the key's LRU and LFU fields.
  Database::Entry* FindAny(std::string_view key) const {
    Database::Entry* entry = Peek(key);
    if (entry != nullptr && touches_) {
      entry->eviction.used_s = now_s_;
      if (counts_uses_) CountUse(*entry);
    }
    return entry;
  }
  // As FindAny, without updating the LRU and LFU fields.
  Database::Entry* Peek(std::string_view key) const {
    Database::Entry* entry = db_->Find(key);
    if (only_reads_) NoteRead(key, entry != nullptr);
    return entry;
  }
  // True if the key is stored, but has expired (LazyExpiry).
  bool IsExpired(const Database::Entry& entry) const { return db_->IsExpired(entry, now_ms_); }
  // Counts a lookup as a hit or a miss; a miss publishes "keymiss". Commands that write call it
  // for the keys that they read. Does nothing in a command that only reads: its lookups have been
  // counted.
  void CountRead(std::string_view key, bool found) const {
    if (!only_reads_) NoteRead(key, found);
  }
  // Counts a lookup as a hit or a miss, without an event.
  void CountLookup(bool found) const { ++(found ? hits_ : misses_); }
  int64_t hits() const { return hits_; }
  int64_t misses() const { return misses_; }
  // Looks up a key as a collection type T (values/), or as a string.
  template <typename T>
  Lookup<T> Find(std::string_view key) const {
    Database::Entry* entry = FindAny(key);
    return Lookup<T>(entry, entry == nullptr ? nullptr : entry->value.As<T>());
  }
  Lookup<Value> FindString(std::string_view key) const {
    Database::Entry* entry = FindAny(key);
    const bool matches = entry != nullptr && entry->value.is_string();
    return Lookup<Value>(entry, matches ? &entry->value : nullptr);
  }
  // As Find, but adds an empty T if the key does not exist. The caller fills it or removes it.
  template <typename T>
  Lookup<T> FindOrAdd(std::string_view key) const {
    const Lookup<T> found = Find<T>(key);
    if (found || found.wrong_type()) return found;
    Database::Entry& entry = Add(key, Value::Empty<T>());
    return Lookup<T>(&entry, entry.value.As<T>());
  }

  // Adds a key. It must not exist.
  Database::Entry& Add(std::string_view key, Value value) const;
  // Sets a key, whatever value it had, and removes its expiry.
  Database::Entry& Put(std::string_view key, Value value) const;
  // Removes a key without an event. Returns false if it does not exist.
  bool Remove(std::string_view key) const;
  // Removes an existing key, as Remove does, and returns its value.
  Value Take(std::string_view key) const;
  // Sets a key's expiry.
  void SetExpiry(Database::Entry& entry, int64_t deadline_ms) const;
  // The deadlines of a hash's fields (HEXPIRE). A hash without them is not tracked.
  std::optional<int64_t> FieldDeadline(std::string_view key, std::string_view field) const;
  void SetFieldDeadline(std::string_view key, std::string_view field, int64_t deadline_ms) const;
  // Returns false if the field had none. To be called when a field is written or removed.
  bool ClearFieldDeadline(std::string_view key, std::string_view field) const {
    FieldDeadlines* deadlines = db_->field_deadlines();
    return deadlines != nullptr && deadlines->Clear(key, field);
  }
  // Those of a whole hash, before its key is removed, and for its new key. Nullopt: not tracked.
  std::optional<FieldDeadlines::List> FieldDeadlinesOf(std::string_view key) const;
  void PutFieldDeadlines(std::string_view key, const FieldDeadlines::List& list) const;
  // Removes the key, with the event "del", if its collection is empty. Returns true if it did.
  bool RemoveIfEmpty(std::string_view key) const;
  // The same for a key whose collection the caller has at hand.
  template <typename Collection>
  bool RemoveIfEmpty(std::string_view key, const Collection& collection) const {
    return collection.empty() && RemoveIfEmpty(key);
  }

  // Reports a change of `key`: transactions that watch it fail, and the event is published. To be
  // called once for each change, in Redis's order of events.
  void Changed(std::string_view key, EventClass event_class, std::string_view event) const;
  // Publishes an event without reporting a change.
  void Notify(std::string_view key, EventClass event_class, std::string_view event) const;
  // Reports a change without an event.
  void Touched(std::string_view key) const;
  // Counts a change that neither WATCH nor client tracking sees, as many changes of streams are.
  // The command is propagated.
  void CountChange() const;
  // Reports that the key's size may have changed, without a change for WATCH.
  void Resized(std::string_view key) const;

  // Reports that `key` has a value of this type now, for sessions blocked on it. Add calls it.
  void SignalReady(std::string_view key, store::KeyType type) const;
  // To be called before a key is removed or replaced, for sessions blocked on it. Remove and Put
  // call it.
  void SignalGone(std::string_view key) const;

  // The stream of effects (propagation/effect.h). Without a sink the functions below do nothing. A
  // handler asks propagates() before it builds words that cost time.
  bool propagates() const { return effects_ != nullptr; }
  // Propagates these words instead of the command, if it changes something.
  template <typename... Words>
  void PropagateAs(const Words&... words) const {
    if (effects_ != nullptr) effects_->Replace({std::string(words)...});
  }
  void PropagateAs(std::vector<std::string> words) const {
    if (effects_ != nullptr) effects_->Replace(std::move(words));
  }
  // Propagates these words before the command.
  template <typename... Words>
  void PropagateAlso(const Words&... words) const {
    if (effects_ != nullptr) effects_->Also(db_index(), {std::string(words)...});
  }
  void PropagateAlsoWords(std::vector<std::string> words) const {
    if (effects_ != nullptr) effects_->Also(db_index(), std::move(words));
  }
  // Propagates the words of PropagateAlso only, and not the command.
  void PropagateOnlyOthers() const {
    if (effects_ != nullptr) effects_->Suppress();
  }
  // Propagates several effects without MULTI, because their keys are independent.
  void PropagateSeparately() const {
    if (effects_ != nullptr) effects_->Separate();
  }
  // Propagates the command to these targets even if it changes nothing.
  void PropagateAlways(EffectTargets targets) const {
    if (effects_ != nullptr) effects_->Force(targets);
  }
  void set_effects(CallEffects* effects) { effects_ = effects; }

  // True if the command may block: not in a transaction or a script.
  bool may_block() const;
  // Blocks the session. The handler returns the result instead of a reply. Requires may_block().
  Reply Block(BlockedOperation operation) const;

 private:
  void CountUse(Database::Entry& entry) const;
  void NoteRead(std::string_view key, bool found) const {
    CountLookup(found);
    if (!found) Notify(key, EventClass::kKeyMiss, "keymiss");
  }

  EngineCore& engine_;
  SessionCore& session_;
  Database* db_;
  const int64_t now_ms_;
  const uint32_t now_s_;
  bool only_reads_ = false;
  bool counts_uses_ = false;
  bool touches_ = true;
  CallEffects* effects_ = nullptr;
  std::string_view called_name_;
  mutable int64_t hits_ = 0;
  mutable int64_t misses_ = 0;
  std::string_view subcommand_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_COMMAND_CONTEXT_H_
