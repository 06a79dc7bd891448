// Database: the keys, values and expiries of one numbered database.
//
// Command handlers use it through CommandContext (engine/command_context.h), which also reports
// changes. The engine removes keys whose deadline has passed before a command runs, so that every
// key found here exists for clients. While keys expire lazily (DEBUG SET-ACTIVE-EXPIRE 0, CLIENT
// PAUSE), expired keys stay, and Find hides them.
//
//   Database::Entry& entry = db.Add("greeting", Value::String("hello"));
//   db.SetExpiry(entry, deadline_ms);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_KEYSPACE_DATABASE_H_
#define REDOUBLE_BACKENDS_MEMORY_KEYSPACE_DATABASE_H_

#include <cassert>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/keyspace/access_observer.h"
#include "redouble/backends/memory/keyspace/eviction_record.h"
#include "redouble/backends/memory/keyspace/expiry_wheel.h"
#include "redouble/backends/memory/keyspace/field_deadlines.h"
#include "redouble/backends/memory/values/encodings/compact_string.h"
#include "redouble/backends/memory/values/encodings/dense_table.h"
#include "redouble/backends/memory/values/value.h"
#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::memory {

class Database;
class DatabaseWalk;
class LazyExpiry;

class Database {
 public:
  // A key, its value and its metadata.
  class Entry {
   public:
    Entry(std::string_view key, Value initial) : value(std::move(initial)), key_(key) {}

    std::string_view key() const { return key_.view(); }
    bool expires() const { return expiry_node_ != ExpiryWheel::kNoNode; }

    Value value;
    EvictionRecord eviction;

   private:
    friend class Database;
    BasicCompactString<19> key_;
    ExpiryWheel::NodeId expiry_node_ = ExpiryWheel::kNoNode;
  };
  static_assert(sizeof(Entry) == 48);

  // Tells the observer of each lookup and change of a key; null for none. It must outlive the
  // database, or be replaced before. The database must not be walked (keyspace_walk.h).
  void SetObserver(AccessObserver* observer) {
    assert(walks_ == nullptr);
    observer_ = observer;
  }
  // To be called before a change of a key that was not looked up before.
  void WillChange(std::string_view key) {
    if (observer_ != nullptr) observer_->OnWrite(key);
  }

  size_t size() const { return table_.size(); }
  // The number of keys with an expiry.
  size_t expiring() const { return wheel_.size(); }

  // Returns null if the key does not exist. Entries do not move until a key is removed.
  Entry* Find(std::string_view key) {
    if (observer_ != nullptr) observer_->OnRead(key);
    Entry* entry = table_.Find(key);
    if (lazy_ != nullptr && entry != nullptr && entry->expires() && Hides(*entry)) return nullptr;
    return entry;
  }
  // As Find, but returns expired keys that are still stored, and does not expire them.
  Entry* FindStored(std::string_view key) {
    if (observer_ != nullptr) observer_->OnRead(key);
    return table_.Find(key);
  }
  const Entry* FindStored(std::string_view key) const {
    if (observer_ != nullptr) observer_->OnRead(key);
    return table_.Find(key);
  }
  // Prefetches keys that will be looked up soon (DenseTable). Worthwhile only in a database so
  // large that lookups wait for memory.
  bool is_large() const { return table_.size() >= kLargeSize; }
  size_t PrefetchPlace(std::string_view key) const { return table_.PrefetchPlace(key); }
  void PrefetchAtPlace(size_t hash) const { table_.PrefetchAtPlace(hash); }
  // By position, for random picks and iteration: 0 <= position < size(), in an order that depends
  // on the commands only.
  Entry& at(size_t position) { return table_.at(position); }
  const Entry& at(size_t position) const { return table_.at(position); }
  // One step of a SCAN over the keys: DenseTable::Scan.
  template <typename Visit>
  uint64_t Scan(uint64_t cursor, size_t count, Visit visit) const {
    return table_.Scan(cursor, count, visit);
  }

  // Adds a key without expiry. It must not exist.
  Entry& Add(std::string_view key, Value value) {
    if (observer_ != nullptr) observer_->OnWrite(key);
    if (lazy_ != nullptr) {
      if (Entry* hidden = table_.Find(key)) return Reuse(*hidden, std::move(value));
    }
    return table_.Append(Entry(key, std::move(value)));
  }
  // Adds many keys.
  class Appender;
  // Removes a key with its expiry. Returns false if it does not exist. A key that Find hides is
  // removed too, unless it has expired already.
  bool Remove(std::string_view key);
  // Removes a key that has an expiry.
  void RemoveExpiring(Entry& entry);
  // Removes all keys. The database must not be walked.
  void Clear();

  // Sets or replaces the expiry. The key exists up to and including `deadline_ms`.
  void SetExpiry(Entry& entry, int64_t deadline_ms);
  // Returns false if the key had no expiry.
  bool ClearExpiry(Entry& entry);
  // Returns nullopt if the key has no expiry.
  std::optional<int64_t> DeadlineOf(const Entry& entry) const;

  // The deadlines of the fields of hashes; null while no hash has had one.
  FieldDeadlines* field_deadlines() const { return field_deadlines_.get(); }
  FieldDeadlines& NeedFieldDeadlines() {
    if (field_deadlines_ == nullptr) field_deadlines_ = std::make_unique<FieldDeadlines>();
    return *field_deadlines_;
  }
  // Those of one hash; nullopt if it is not tracked.
  std::optional<FieldDeadlines::List> FieldDeadlinesOf(std::string_view key) const {
    return field_deadlines_ == nullptr ? std::nullopt : field_deadlines_->ListOf(key);
  }
  // To be called when a key's value is replaced.
  void ForgetFieldDeadlines(std::string_view key) {
    if (field_deadlines_ != nullptr) field_deadlines_->ForgetKey(key);
  }

  // Lazy expiry; null: the engine removes expired keys before each command. It must outlive the
  // database, or be replaced before.
  void SetLazyExpiry(LazyExpiry* lazy) { lazy_ = lazy; }
  bool expires_lazily() const { return lazy_ != nullptr; }
  // True if the deadline is before `now_ms`.
  bool IsExpired(const Entry& entry, int64_t now_ms) const {
    return entry.expires() && *DeadlineOf(entry) < now_ms;
  }
  // Makes an expired key gone: missing for every function but at(), Scan() and size(). Entries do
  // not move; RemoveGone frees it.
  void MarkGone(Entry& entry) { SetExpiry(entry, kGoneMillis); }
  void RemoveGone(std::string_view key);

  // Sets a key's accounted size; accounted_bytes() is the sum.
  void Account(Entry& entry, size_t bytes);
  uint64_t accounted_bytes() const { return accounted_bytes_; }

  // A random key with an expiry, chosen by `rng`; null if there is none. O(1) unless almost all
  // keys that had an expiry are gone.
  Entry* DrawExpiring(base::Rng& rng);

  // The first key, in the order (deadline, order of setting), whose deadline is before `now_ms`;
  // null if there is none. `now_ms` must not decrease between calls.
  Entry* FirstExpired(int64_t now_ms);
  // Prefetches the memory that removing the next expired keys will touch, for several keys at once,
  // because removing them one by one would wait for memory at each step. To be called after
  // FirstExpired has returned a key. Returns the number of keys, at least one.
  size_t PrefetchExpired() const;
  // The first millisecond at which FirstExpired has to be called again; nullopt if no key has an
  // expiry. It may find no key then. O(1).
  std::optional<int64_t> NextExpiryCheck() const;
  // The first millisecond at which FirstExpired finds a key; nullopt if no key has an expiry. Not
  // O(1): see ExpiryWheel::Earliest.
  std::optional<int64_t> NextExpiry() const;

 private:
  friend class DatabaseWalk;
  static constexpr size_t kLargeSize = 1 << 14;
  static constexpr int64_t kGoneMillis = std::numeric_limits<int64_t>::min();

  // Adding an entry never moves another one.
  using Table = DenseTable<Entry, DenseTable<Entry>::kBlockEntries>;

  bool IsGone(const Entry& entry) const {
    return entry.expires() && *DeadlineOf(entry) == kGoneMillis;
  }
  bool Hides(Entry& entry);
  Entry& Reuse(Entry& hidden, Value value);
  void RemoveAt(size_t position);
  // Tells the observer that the entry at `position` will be removed, and the walks that the last
  // one will move there.
  void ReportRemoval(size_t position);
  void ForgetAccount(size_t position);

  Table table_;
  ExpiryWheel wheel_;
  std::unique_ptr<FieldDeadlines> field_deadlines_;
  // The accounted sizes by position; missing ones are 0. A separate column, because few engines
  // have a maxmemory.
  std::vector<uint32_t> accounts_;
  uint64_t accounted_bytes_ = 0;
  AccessObserver* observer_ = nullptr;  // The first of the walks, if there are any.
  DatabaseWalk* walks_ = nullptr;       // A list.
  LazyExpiry* lazy_ = nullptr;
};

// Adds the keys of a file to a database without an observer, and does not wait for memory at each
// (DenseTable::Appender). The database must not be used otherwise before Index.
class Database::Appender {
 public:
  explicit Appender(Database& db) : db_(&db), entries_(db.table_) {
    assert(db.observer_ == nullptr && db.lazy_ == nullptr);
  }

  // As in DenseTable::Appender.
  void Expect(uint64_t keys) { entries_.Expect(keys); }
  bool full() const { return entries_.full(); }
  std::optional<size_t> Index() { return entries_.Index(); }
  // Adds a key without expiry. The entry is valid until the next call.
  Entry& Add(std::string_view key, Value value) { return entries_.Append(key, std::move(value)); }
  // Sets the expiry of the key that was added last. To be called once for a key.
  void SetExpiry(int64_t deadline_ms) {
    const size_t position = db_->table_.size() - 1;
    Entry& entry = db_->table_.at(position);
    assert(!entry.expires());
    entry.expiry_node_ = db_->wheel_.Add(deadline_ms, static_cast<uint32_t>(position));
  }

 private:
  Database* db_;
  Table::Appender entries_;
};

// Decides what happens to a key that has an expiry when a command looks it up, while keys expire
// lazily.
class LazyExpiry {
 public:
  virtual ~LazyExpiry() = default;
  // Returns true if the deadline has passed: the key is missing for the command. It may call
  // MarkGone.
  virtual bool Hides(Database& db, Database::Entry& entry) = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_KEYSPACE_DATABASE_H_
