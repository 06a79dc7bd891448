// Blocking: who waits for which key, and who is woken when.
//
// As Redis does it: a command that changes a key somebody waits for marks the key as ready, if
// anybody waits for a key (be it another one) of the type that it has, or had, at that moment;
// after the command (or the whole transaction or script) the ready keys are served in the order in
// which they became ready, by the type that they have then, and the clients of a key in the order
// in which they began to wait. What serving makes ready is served in the next round.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_BLOCKING_H_
#define REDOUBLE_BACKENDS_MEMORY_BLOCKING_H_

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
#include "backends/memory/database.h"
#include "core/store/key_type.h"

namespace redouble::memory {

class Session;

class Blocking {
 public:
  struct Key {
    int db;
    std::string name;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // Adds the session behind all that wait already for one of these keys, of this type.
  void Wait(Session& session, int db, std::span<const std::string> keys, store::KeyType type);
  // The session waits no more: to be called with what it waits for.
  void StopWaiting(Session& session, int db, std::span<const std::string> keys,
                   store::KeyType type);

  // True when a session waits for some key of this type.
  bool anybody_waits_for(store::KeyType type) const {
    return waiting_by_type_[static_cast<size_t>(type)] > 0;
  }
  // The key has got something of this type: remembers that if somebody waits for it.
  void MarkReady(int db, std::string_view key, store::KeyType type);
  // The key, in `database`, is about to go or to get another value: those who wait for a stream may
  // want to hear of that.
  void MarkGone(int db, std::string_view key, const Database& database);
  // All keys of `before` are about to go; `after` takes its place, none: nothing does.
  void MarkAllGone(int db, const Database& before, const Database* after);
  // All keys of `database` are new.
  void MarkAllReady(int db, const Database& database);

  // Takes the keys that are ready, in their order.
  std::vector<Key> TakeReady() {
    ready_set_.clear();
    return std::exchange(ready_, {});
  }
  bool any_ready() const { return !ready_.empty(); }
  // Those who wait for the key, first come first.
  std::vector<Session*> Waiters(const Key& key) const;

 private:
  using Waiting = absl::btree_map<Key, std::vector<Session*>>;

  // The first of the keys that somebody waits for in this database, or behind.
  Waiting::const_iterator FirstOf(int db) const { return waiting_.lower_bound(Key{db, ""}); }

  Waiting waiting_;
  std::array<size_t, store::kKeyTypes> waiting_by_type_ = {};
  std::vector<Key> ready_;
  absl::btree_set<Key> ready_set_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_BLOCKING_H_
