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
#include <vector>

#include "backends/memory/expiry_wheel.h"
#include "backends/memory/key_usage.h"
#include "backends/memory/values/compact_string.h"
#include "backends/memory/values/dense_table.h"
#include "backends/memory/values/value.h"
#include "core/base/rng.h"

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
    KeyUsage usage;

   private:
    friend class Database;
    BasicCompactString<19> key_;
    ExpiryWheel::NodeId expiry_node_ = ExpiryWheel::kNoNode;
  };
  static_assert(sizeof(Entry) == 48);

  size_t size() const { return table_.size(); }
  // How many keys have an expiry.
  size_t expiring() const { return wheel_.size(); }

  // Null when the key does not exist. Entries stay where they are until a key is removed.
  Entry* Find(std::string_view key) { return table_.Find(key); }
  const Entry* Find(std::string_view key) const { return table_.Find(key); }
  // For keys that will be looked up soon: see DenseTable. Worth it only when there are so many keys
  // that looking one up waits for memory.
  bool is_large() const { return table_.size() >= kLargeSize; }
  size_t PrefetchPlace(std::string_view key) const { return table_.PrefetchPlace(key); }
  void PrefetchAtPlace(size_t hash) const { table_.PrefetchAtPlace(hash); }
  // By position, for random picks and iteration: 0 <= position < size(), in an order that depends
  // on nothing but the commands.
  Entry& at(size_t position) { return table_.at(position); }
  const Entry& at(size_t position) const { return table_.at(position); }
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
  // Removes a key that expires.
  void RemoveExpiring(Entry& entry);
  void Clear();

  // Sets or replaces the expiry. The key lives up to and including `deadline_ms`.
  void SetExpiry(Entry& entry, int64_t deadline_ms);
  // False when the key had none.
  bool ClearExpiry(Entry& entry);
  // The deadline; none when the key does not expire.
  std::optional<int64_t> DeadlineOf(const Entry& entry) const;

  // Says how many bytes a key takes; accounted_bytes() is their sum.
  void Account(Entry& entry, size_t bytes);
  uint64_t accounted_bytes() const { return accounted_bytes_; }

  // A key that expires, drawn by `rng`; null when there is none. O(1) unless nearly all of those
  // that expired once have gone.
  Entry* DrawExpiring(base::Rng& rng);

  // The first key, in the order (deadline, order of setting), whose deadline is before `now_ms`;
  // null when there is none. Times must not decrease.
  Entry* FirstExpired(int64_t now_ms);
  // Asks the processor for what removing the next expired keys will touch, of some keys at once:
  // one by one, removal would wait for memory at every step of every key. To be called when
  // FirstExpired has given a key; gives how many keys it was done for, one at least.
  size_t PrefetchExpired() const;
  // No key expires before this moment: the first millisecond at which FirstExpired has to be asked
  // again; none when no key expires.
  std::optional<int64_t> NextExpiryCheck() const;
  // The first millisecond at which FirstExpired finds a key; none when no key expires. Not O(1):
  // see ExpiryWheel::Earliest.
  std::optional<int64_t> NextExpiry() const;

 private:
  static constexpr size_t kLargeSize = 1 << 14;

  // An entry never moves because another one is added.
  using Table = DenseTable<Entry, DenseTable<Entry>::kBlockEntries>;

  void RemoveAt(size_t position);
  void ForgetAccount(size_t position);

  Table table_;
  ExpiryWheel wheel_;
  // What keys count for against maxmemory, by position; those behind the end count for nothing. A
  // column of its own, because few engines ever have a maxmemory.
  std::vector<uint32_t> accounts_;
  uint64_t accounted_bytes_ = 0;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_DATABASE_H_
