// CommandContext: what a command's handler sees of the engine.
//
// A handler is a free function `Reply HandleGet(CommandContext& context, Arguments arguments)` in
// the file of its type under commands/. The engine has looked the command up, checked its arity and
// removed expired keys before it calls one. Arguments are those behind the command's name; of a
// subcommand's row ("xgroup|create") those behind the subcommand.
//
//   Reply HandleLLen(CommandContext& context, Arguments arguments) {
//     const Lookup<List> list = context.Find<List>(arguments[0]);
//     if (list.wrong_type()) return WrongType();
//     return Reply::Integer(list ? list->size() : 0);
//   }
//
// A handler that changes a key says so once per key with Changed(): that is what WATCH, keyspace
// events and the count of changes hang on.
//
// Thread-safety: one thread; lives for one command.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMAND_CONTEXT_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMAND_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "backends/memory/blocked_operation.h"
#include "backends/memory/database.h"
#include "backends/memory/encoding_limits.h"
#include "backends/memory/error_text.h"
#include "backends/memory/keyspace_event.h"
#include "backends/memory/values/value.h"
#include "core/base/rng.h"
#include "core/store/reply.h"

namespace redouble::memory {

class Engine;
class Session;

using Arguments = std::span<const std::string_view>;
using store::Reply;

inline Reply WrongType() { return Reply::Error(error_text::kWrongType); }
inline Reply SyntaxError() { return Reply::Error(error_text::kSyntax); }

// What a typed look-up found: nothing, a T, or a key of another type.
template <typename T>
class Lookup {
 public:
  Lookup() = default;
  Lookup(Database::Entry* entry, T* value) : entry_(entry), value_(value) {}

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
  CommandContext(Engine& engine, Session& session, Database& db, int64_t now_ms)
      : engine_(engine),
        session_(session),
        db_(&db),
        now_ms_(now_ms),
        now_s_(static_cast<uint32_t>(now_ms / 1000)) {}

  Engine& engine() const { return engine_; }
  Session& session() const { return session_; }
  // The session's selected database.
  Database& db() const { return *db_; }
  int db_index() const;
  // Lets the rest of this command work on another database (SELECT, COPY ... DB, MOVE).
  void SetDb(Database& db) { db_ = &db; }
  // The engine's clock. It stands still during a command, a transaction or a script.
  int64_t now_ms() const { return now_ms_; }
  // In seconds, as KeyUsage keeps it.
  uint32_t now_s() const { return now_s_; }
  base::Rng& rng() const;
  const EncodingLimits& limits() const;
  // What a string may grow to: proto-max-bulk-len.
  uint64_t max_string_bytes() const;

  // The command's name as the client wrote it (of a subcommand: its container's), for errors that
  // repeat it.
  std::string_view called_name() const { return called_name_; }
  void set_called_name(std::string_view name) { called_name_ = name; }
  // The subcommand as the client wrote it, for errors that repeat it; empty when the command has
  // none.
  std::string_view subcommand() const { return subcommand_; }
  void set_subcommand(std::string_view subcommand) { subcommand_ = subcommand; }

  // A key that is looked up and not there is an event ("keymiss") of commands that only read.
  void set_tells_misses(bool value) { tells_misses_ = value; }
  // Keys that are used are counted: maxmemory-policy is an LFU policy.
  void set_counts_uses(bool value) { counts_uses_ = value; }

  // The key of whatever type; null when it does not exist. Marks it as used.
  Database::Entry* FindAny(std::string_view key) const {
    Database::Entry* entry = Peek(key);
    if (entry != nullptr) {
      entry->usage.used_s = now_s_;
      if (counts_uses_) CountUse(*entry);
    }
    return entry;
  }
  // As FindAny, without marking the key as used.
  Database::Entry* Peek(std::string_view key) const {
    Database::Entry* entry = db_->Find(key);
    ++(entry == nullptr ? misses_ : hits_);
    if (entry == nullptr && tells_misses_) Notify(key, EventClass::kKeyMiss, "keymiss");
    return entry;
  }
  // How many keys were looked up so far, and were there or not.
  int64_t hits() const { return hits_; }
  int64_t misses() const { return misses_; }
  // Says that a key that had to be read was not there; for commands that also write.
  void Missed(std::string_view key) const {
    if (!tells_misses_) Notify(key, EventClass::kKeyMiss, "keymiss");
  }
  // The key as a collection type T (values/), or as a string.
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
  // As Find, adding an empty T when the key does not exist. The caller fills it, or removes it.
  template <typename T>
  Lookup<T> FindOrAdd(std::string_view key) const {
    const Lookup<T> found = Find<T>(key);
    if (found || found.wrong_type()) return found;
    Database::Entry& entry = Add(key, Value::Empty<T>());
    return Lookup<T>(&entry, entry.value.As<T>());
  }

  // Adds a key that does not exist.
  Database::Entry& Add(std::string_view key, Value value) const;
  // Sets a key to a value whatever it held; its expiry goes.
  Database::Entry& Put(std::string_view key, Value value) const;
  // Removes a key without an event; false when it does not exist.
  bool Remove(std::string_view key) const;
  // Removes a key that exists, as Remove does, and gives what it held.
  Value Take(std::string_view key) const;
  // Sets when a key expires.
  void SetExpiry(Database::Entry& entry, int64_t deadline_ms) const;
  // Removes the key, with the event "del", when its collection is empty. True when removed.
  bool RemoveIfEmpty(std::string_view key) const;

  // Says that the command changed `key`: transactions that watch it will fail, the event goes out.
  // Once per change, in Redis's order of events.
  void Changed(std::string_view key, EventClass event_class, std::string_view event) const;
  // An event beside a change that was already told.
  void Notify(std::string_view key, EventClass event_class, std::string_view event) const;
  // Says that the key changed, without an event.
  void Touched(std::string_view key) const;
  // Says that the key takes another size, and that this is no change for those who watch it.
  void Resized(std::string_view key) const;

  // Says that a client blocked on `key` may find something of this type there now. Add says so
  // itself.
  void SignalReady(std::string_view key, store::KeyType type) const;
  // Says, before it happens, that the key goes or gets another value. Remove and Put say so
  // themselves.
  void SignalGone(std::string_view key) const;

  // True when the command may wait: not in a transaction or a script.
  bool may_block() const;
  // Puts the session to sleep; to be returned by the handler in place of a reply. Only when
  // may_block().
  Reply Block(BlockedOperation operation) const;

 private:
  void CountUse(Database::Entry& entry) const;

  Engine& engine_;
  Session& session_;
  Database* db_;
  const int64_t now_ms_;
  const uint32_t now_s_;
  bool tells_misses_ = false;
  bool counts_uses_ = false;
  std::string_view called_name_;
  mutable int64_t hits_ = 0;
  mutable int64_t misses_ = 0;
  std::string_view subcommand_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMAND_CONTEXT_H_
