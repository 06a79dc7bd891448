// Watching: the keys that clients WATCH, and the transactions that a change makes fail.
//
// The engine calls Touch for each change of a key; EXEC of a client that watches it returns nil. As
// in Redis, expiry and eviction of a watched key count as changes. A session has one Watcher.
//
//   watching.Watch(watcher, 0, "balance", /*is_expired=*/false);
//   watching.Touch(0, "balance");
//   if (watcher.failed()) return Reply::NilArray();
//
// Thread-safety: one thread.
// Source: Redis 7.0 WATCH.
#ifndef REDOUBLE_BACKENDS_MEMORY_TRANSACTIONS_WATCHING_H_
#define REDOUBLE_BACKENDS_MEMORY_TRANSACTIONS_WATCHING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "redouble/backends/memory/blocking/blocking.h"
#include "redouble/backends/memory/keyspace/database.h"

namespace redouble::inline v0_1::memory {

// A client that watches keys.
class Watcher {
 public:
  Watcher() = default;
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // True if a watched key has changed: the client's transaction fails.
  bool failed() const { return failed_; }
  void Fail() { failed_ = true; }
  // After the end of a transaction, and after UNWATCH.
  void Reset() { failed_ = false; }

 private:
  bool failed_ = false;
};

class Watching {
 public:
  using Key = Blocking::Key;

  // Returns false if the client watches the key already. `is_expired`: the key is expired but
  // still stored (LazyExpiry), so its removal is not a change for the client.
  bool Watch(Watcher& watcher, int db, std::string_view key, bool is_expired);
  // The client must watch the key.
  void Unwatch(const Watcher& watcher, const Key& key);

  bool has_watchers() const { return !watched_.empty(); }
  // Makes the transactions of all clients that watch the key fail.
  void Touch(int db, std::string_view key);
  // Touch for a key that has expired.
  void TouchExpired(int db, std::string_view key);
  // Touch for all watched keys that exist in `before` or in `after`, which may be null (FLUSHDB,
  // SWAPDB). A key that is missing or expired before and after has not changed.
  void TouchAll(int db, const Database& before, const Database* after, int64_t now_ms);
  // True if `key`, which the client watches, has expired since then, but is still stored.
  bool HasExpired(const Watcher& watcher, const Key& key, const Database& database,
                  int64_t now_ms) const;

 private:
  struct Entry {
    Watcher* watcher;
    bool saw_expired;  // The client knows that the stored key has expired.
  };

  absl::btree_map<Key, std::vector<Entry>> watched_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_TRANSACTIONS_WATCHING_H_
