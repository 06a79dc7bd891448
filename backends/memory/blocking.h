// Blocking: who waits for which key, and who is woken when.
//
// As Redis does it: a command that changes a key somebody waits for marks the key as ready; after
// the command (or the whole transaction or script) the ready keys are served in the order in which
// they became ready, and the clients of a key in the order in which they began to wait. What
// serving makes ready is served in the next round.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_BLOCKING_H_
#define REDOUBLE_BACKENDS_MEMORY_BLOCKING_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"

namespace redouble::memory {

class Session;

class Blocking {
 public:
  struct Key {
    int db;
    std::string name;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // Adds the session behind all that wait for the key already.
  void Wait(Session& session, int db, std::string_view key);
  // The session waits for the key no more.
  void StopWaiting(Session& session, int db, std::string_view key);

  bool anybody_waits() const { return !waiting_.empty(); }
  // Remembers that the key changed if somebody waits for it.
  void MarkReady(int db, std::string_view key);
  // All keys of the database may have changed (SWAPDB).
  void MarkAllReady(int db);

  // Takes the keys that are ready, in their order.
  std::vector<Key> TakeReady() {
    ready_set_.clear();
    return std::exchange(ready_, {});
  }
  bool any_ready() const { return !ready_.empty(); }
  // Those who wait for the key, first come first.
  std::vector<Session*> Waiters(const Key& key) const;

 private:
  absl::btree_map<Key, std::vector<Session*>> waiting_;
  std::vector<Key> ready_;
  absl::btree_set<Key> ready_set_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_BLOCKING_H_
