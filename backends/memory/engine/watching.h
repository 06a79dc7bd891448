// Watching: the keys that sessions WATCH, and the transactions that a change makes fail.
//
// The engine calls Touch for each change of a key; EXEC of a touched session returns nil. As in
// Redis, expiry and eviction of a watched key count as changes.
//
// Thread-safety: one thread.
// Source: Redis 7.0 WATCH.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_WATCHING_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_WATCHING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "redouble/backends/memory/engine/blocking.h"

namespace redouble::memory {

class Database;

class Watching {
 public:
  using Key = Blocking::Key;

  // Returns false if the session watches the key already. `is_expired`: the key is expired but
  // still stored (LazyExpiry), so that its end is no change for the session.
  bool Watch(SessionCore& session, int db, std::string_view key, bool is_expired);
  void Unwatch(SessionCore& session, const Key& key);

  bool has_watchers() const { return !watchers_.empty(); }
  // Makes the transactions of all sessions that watch the key fail.
  void Touch(int db, std::string_view key);
  // Touch for a key that has expired.
  void TouchExpired(int db, std::string_view key);
  // Touch for all watched keys that exist in `before` or in `after`, which may be null (FLUSHDB,
  // SWAPDB).
  void TouchAll(int db, const Database& before, const Database* after);
  // True if the session watches a key that has expired since, but is still stored.
  bool HasExpired(const SessionCore& session, const Key& key, const Database& database,
                  int64_t now_ms) const;

 private:
  struct Watcher {
    SessionCore* session;
    bool saw_expired;
  };

  absl::btree_map<Key, std::vector<Watcher>> watchers_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_WATCHING_H_
