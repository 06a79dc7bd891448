// Blocking: the sessions that are blocked on keys, and the keys that are ready to serve them.
//
// A command that changes a key marks it as ready, if any session is blocked on a key of the same
// type. After the command (or the whole transaction or script) the engine serves the ready keys in
// the order in which they became ready. The sessions of a key are served in the order in which they
// blocked. Keys that become ready while others are served are served in the next round. This is
// Redis's algorithm, so the order of wake-ups equals Redis's.
//
//   blocking.Wait(session, 0, keys, store::KeyType::kList);
//   blocking.MarkReady(0, "list", store::KeyType::kList);
//   for (const Blocking::Key& key : blocking.TakeReady()) Serve(blocking.Waiters(key));
//
// Thread-safety: one thread.
// Source: Redis 7.0 BLPOP, XREAD.
#ifndef REDOUBLE_BACKENDS_MEMORY_BLOCKING_BLOCKING_H_
#define REDOUBLE_BACKENDS_MEMORY_BLOCKING_BLOCKING_H_

#include <array>
#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/core/store/table/key_type.h"

namespace redouble::inline v0_1::memory {

class SessionCore;

class Blocking {
 public:
  struct Key {
    int db;
    std::string name;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // `gone_needs_reader`: a stream that is gone is noticed only if a session of XREADGROUP is
  // blocked on the key, as in Redis 7.2. In Redis 7.0 it suffices that any session is blocked on
  // any stream.
  explicit Blocking(bool gone_needs_reader = false) : gone_needs_reader_(gone_needs_reader) {}

  // Adds the session as the last waiter for each of the keys. `also_when_gone`: it also waits for
  // the removal of the stream (XREADGROUP).
  void Wait(SessionCore& session, int db, std::span<const std::string> keys, store::KeyType type,
            bool also_when_gone = false);
  // Removes the session. The arguments must equal those of Wait.
  void StopWaiting(SessionCore& session, int db, std::span<const std::string> keys,
                   store::KeyType type);

  // True if a session is blocked on any key of this type.
  bool has_waiters_for(store::KeyType type) const {
    return waiting_by_type_[static_cast<size_t>(type)] > 0;
  }
  // Marks the key as ready, now that it has a value of this type, if a session is blocked on it.
  void MarkReady(int db, std::string_view key, store::KeyType type);
  // To be called before the key in `database` is removed or gets another value: sessions that are
  // blocked on a stream (XREADGROUP) must then fail.
  void MarkGone(int db, std::string_view key, const Database& database);
  // MarkGone for all keys of `before`, which is replaced by `after`, or emptied if `after` is null.
  void MarkAllGone(int db, const Database& before, const Database* after);
  // MarkReady for all keys of `database`, which has replaced another one.
  void MarkAllReady(int db, const Database& database);

  // Removes and returns the ready keys, in order.
  std::vector<Key> TakeReady() {
    ready_set_.clear();
    return std::exchange(ready_, {});
  }
  bool any_ready() const { return !ready_.empty(); }
  // The sessions that are blocked on the key, first come first served.
  std::vector<SessionCore*> Waiters(const Key& key) const;

 private:
  struct Waiter {
    SessionCore* session;
    bool also_when_gone;
  };
  using Waiting = absl::btree_map<Key, std::vector<Waiter>>;

  // The first key of this database, or of a later one, that a session is blocked on.
  Waiting::const_iterator FirstOf(int db) const { return waiting_.lower_bound(Key{db, ""}); }

  bool IsAwaitedWhenGone(const Key& key) const;

  const bool gone_needs_reader_;
  Waiting waiting_;
  std::array<size_t, store::kKeyTypes> waiting_by_type_ = {};
  std::vector<Key> ready_;
  absl::btree_set<Key> ready_set_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_BLOCKING_BLOCKING_H_
