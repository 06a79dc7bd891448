// PoolLedger: decides which connection of a pool a borrower gets, without I/O, threads or a clock.
//
// Internal to SyncPool. It keeps the numbers of the connections, not the connections: its owner
// opens, checks and closes them as the ledger says.
//
//   PoolLedger ledger(limits);
//   for (const uint64_t id : ledger.TakeExpired(now_us)) Close(id);
//   const PoolGrant grant = ledger.Borrow(now_us);
//   if (grant.kind == PoolGrant::Kind::kOpen) Open(grant.id);     // If that fails: Drop(grant.id).
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
//
// Thread-safety: one thread at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_POOL_POOL_LEDGER_H_
#define REDOUBLE_BACKENDS_REDIS_NET_POOL_POOL_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

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
  };

  Kind kind = Kind::kWait;
  uint64_t id = 0;
};

class PoolLedger {
 public:
  explicit PoolLedger(PoolLimits limits) : limits_(limits) {}

  // Lends a connection. Call TakeExpired with the same time first. O(1).
  PoolGrant Borrow(int64_t now_us);

  // Takes a connection back. Returns false if it has expired: it is forgotten, and the caller
  // closes it.
  bool Return(uint64_t id, int64_t now_us);
  // Forgets a borrowed connection that could not be opened or cannot be used any more.
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

  bool IsOld(int64_t opened_us, int64_t now_us) const;

  const PoolLimits limits_;
  uint64_t last_id_ = 0;
  std::map<uint64_t, int64_t> borrowed_;  // When they were opened, by id.
  std::vector<Idle> idle_;                // In the order of their return.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_POOL_POOL_LEDGER_H_
