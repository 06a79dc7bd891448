// PoolLedger: decides which connection of a pool a borrower gets, without I/O, threads or a clock.
//
// Internal to SyncPool. It keeps the numbers of the connections, not the connections: its owner
// opens, checks and closes them as the ledger says.
//
//   PoolLedger ledger(limits, Backoff(base_us, cap_us, rng));
//   for (const uint64_t id : ledger.TakeExpired(now_us)) Close(id);
//   const PoolGrant grant = ledger.Borrow(now_us);
//   if (grant.kind == PoolGrant::Kind::kOpen) Open(grant.id);     // NoteOpened() or NoteFailure().
//   if (grant.kind == PoolGrant::Kind::kCheck) Check(grant.id);   // Dead: Drop(grant.id),
//   Borrow().
//   ...
//   ledger.Return(grant.id, now_us);
//
// * The connection that was returned last is borrowed first, so that the others can expire.
// * A connection that was idle for `max_idle_us`, or was opened `max_lifetime_us` ago, expires; one
//   that is borrowed expires when it is returned.
// * A connection that was idle for `check_after_us` is checked before it is borrowed.
// * No more than `size` connections are open or being opened.
// * After failures in a row the next attempt to open a connection is made only after a wait, and no
//   more than one at a time (backoff.h). A connection that is returned ends the row.
//
// Thread-safety: one thread at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_POOL_POOL_LEDGER_H_
#define REDOUBLE_BACKENDS_REDIS_NET_POOL_POOL_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "redouble/backends/redis/fsm/backoff.h"

namespace redouble::inline v0_1::redis {

// The limits of a pool.
struct PoolLimits {
  size_t size = 1;
  // Microseconds; kNeverUs (backoff.h) for no limit.
  int64_t max_idle_us = 0;
  int64_t max_lifetime_us = 0;
  int64_t check_after_us = 0;
};

// What a borrower has to do.
struct PoolGrant {
  enum class Kind : uint8_t {
    kReuse,  // Use connection `id`.
    kCheck,  // Use connection `id` if it answers.
    kOpen,   // Open a connection and call it `id`.
    kWait,   // All connections are borrowed.
    kPause,  // No connection may be opened before `until_us`.
  };

  Kind kind = Kind::kWait;
  uint64_t id = 0;
  // With kPause; kNeverUs: until the attempt under way has ended.
  int64_t until_us = 0;
};

class PoolLedger {
 public:
  PoolLedger(PoolLimits limits, Backoff backoff) : limits_(limits), backoff_(backoff) {}

  // Lends a connection. Call TakeExpired with the same time first. O(1); O(borrowed connections)
  // after a failure.
  PoolGrant Borrow(int64_t now_us);

  // Takes a connection back. Returns false if it has expired: it is forgotten, and the caller
  // closes it.
  bool Return(uint64_t id, int64_t now_us);
  // A connection was opened.
  void NoteOpened(uint64_t id);
  // Forgets a borrowed connection that could not be opened, or was lost before it was of use. It
  // counts as one failure with others that began before the last failure.
  void NoteFailure(uint64_t id, int64_t now_us);
  // Forgets a borrowed connection that cannot be used any more for another reason.
  void Drop(uint64_t id) { borrowed_.erase(id); }

  // Forgets the idle connections that have expired, and returns them. O(idle connections).
  std::vector<uint64_t> TakeExpired(int64_t now_us);

  // Forgets all idle connections, and returns them.
  std::vector<uint64_t> TakeIdle();

  size_t borrowed() const { return borrowed_.size(); }
  size_t idle() const { return idle_.size(); }

 private:
  struct Idle {
    uint64_t id;
    int64_t opened_us;
    int64_t since_us;
  };

  struct Borrowed {
    int64_t opened_us;
    bool opening;
  };

  bool IsOld(int64_t opened_us, int64_t now_us) const;
  bool IsOpening() const;

  const PoolLimits limits_;
  Backoff backoff_;
  int64_t failed_us_ = 0;    // When the last failure was noted.
  int64_t retry_at_us_ = 0;  // No connection is opened before.
  uint64_t last_id_ = 0;
  std::map<uint64_t, Borrowed> borrowed_;  // By id.
  std::vector<Idle> idle_;                 // In the order of their return.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_POOL_POOL_LEDGER_H_
