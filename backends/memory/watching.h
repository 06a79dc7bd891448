// Watching: which sessions WATCH which keys.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_WATCHING_H_
#define REDOUBLE_BACKENDS_MEMORY_WATCHING_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "backends/memory/blocking.h"

namespace redouble::memory {

class Database;

class Watching {
 public:
  using Key = Blocking::Key;

  // False when the session watches the key already.
  bool Watch(Session& session, int db, std::string_view key);
  void Unwatch(Session& session, const Key& key);

  bool anybody_watches() const { return !watchers_.empty(); }
  // Makes the transactions of all who watch the key fail.
  void Touch(int db, std::string_view key);
  // As Touch for the watched keys that exist in `before` or in `after` (may be null): FLUSHDB,
  // SWAPDB.
  void TouchAll(int db, const Database& before, const Database* after);

 private:
  absl::btree_map<Key, std::vector<Session*>> watchers_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_WATCHING_H_
