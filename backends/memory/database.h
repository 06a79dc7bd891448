// Database: one numbered keyspace: keys, values, expiries, and who watches them.
//
// Commands reach it through CommandContext (command_context.h), which also records changes. Keys
// whose deadline has passed are removed by the engine before a command runs (engine.h), so that
// nothing here ever has to ask whether a key is still alive.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_DATABASE_H_
#define REDOUBLE_BACKENDS_MEMORY_DATABASE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/memory/expiry_wheel.h"
#include "backends/memory/values/compact_string.h"
#include "backends/memory/values/dense_table.h"
#include "backends/memory/values/value.h"

namespace redouble::memory {

class Database {
 public:
  // One key and what belongs to it.
  class Entry {
   public:
    Entry(std::string_view key, Value initial) : value(std::move(initial)), key_(key) {}

    std::string_view key() const { return key_.view(); }
    bool expires() const { return expiry_node_ != ExpiryWheel::kNoNode; }

    Value value;
    // When the key was last used, for OBJECT IDLETIME: milliseconds since the epoch.
    int64_t used_ms = 0;

   private:
    friend class Database;
    CompactString key_;
    ExpiryWheel::NodeId expiry_node_ = ExpiryWheel::kNoNode;
  };

  size_t size() const { return table_.size(); }
  // How many keys have an expiry.
  size_t expiring() const { return wheel_.size(); }

  // Null when the key does not exist. Entries stay where they are until a key is removed.
  Entry* Find(std::string_view key) { return table_.Find(key); }
  const Entry* Find(std::string_view key) const { return table_.Find(key); }
  // By position, for random picks and iteration: 0 <= position < size(), in an order that depends
  // on nothing but the commands.
  Entry& at(size_t position) { return table_.at(position); }
  // One step of a scan over the keys; see DenseTable::Scan.
  template <typename Visit>
  uint64_t Scan(uint64_t cursor, size_t count, Visit visit) const {
    return table_.Scan(cursor, count, visit);
  }

  // Adds a key that does not exist yet, without expiry.
  Entry& Add(std::string_view key, Value value) {
    return table_.Append(Entry(key, std::move(value)));
  }
  // Removes a key with its expiry; false when it does not exist.
  bool Remove(std::string_view key);
  void Clear();

  // Sets or replaces the expiry. The key lives up to and including `deadline_ms`.
  void SetExpiry(Entry& entry, int64_t deadline_ms);
  // False when the key had none.
  bool ClearExpiry(Entry& entry);
  // The deadline; none when the key does not expire.
  std::optional<int64_t> DeadlineOf(const Entry& entry) const;

  // The first key, in the order (deadline, order of setting), whose deadline is before `now_ms`;
  // null when there is none. Times must not decrease.
  Entry* FirstExpired(int64_t now_ms);
  // No key expires before this moment: the first millisecond at which FirstExpired has to be asked
  // again; none when no key expires.
  std::optional<int64_t> NextExpiryCheck() const;

 private:
  DenseTable<Entry> table_;
  ExpiryWheel wheel_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_DATABASE_H_
