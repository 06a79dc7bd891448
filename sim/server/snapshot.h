// Snapshot: a copy of an engine's data that can be restored any number of times.
//
// Use it (SIM SNAPSHOT, SIM RESTORE) to start each test from the same state.
//
//   const Snapshot before = Snapshot::Take(engine);
//   ...
//   before.Restore(engine);  // Restores the keys, their expiries, the time and the random state.
//
// Taking and restoring copy every value: linear in the size of the data. Scripts, functions,
// options and connections are not part of a snapshot.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_SNAPSHOT_H_
#define REDOUBLE_SIM_SERVER_SNAPSHOT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::sim {

class Snapshot {
 public:
  static Snapshot Take(memory::Engine& engine);
  // Restores data and time. The time is set without running the timers in between. Transactions
  // that watch existing keys fail; blocked commands are served if the restored data allow it. Must
  // not be called from within a command.
  void Restore(memory::Engine& engine) const { RestoreAt(now_us_, engine); }
  // Like Restore, but sets the time to `time_us`; keys keep their deadlines.
  void RestoreAt(int64_t time_us, memory::Engine& engine) const;

 private:
  struct Key {
    std::string name;
    memory::Value value;
    memory::EvictionRecord eviction;
    std::optional<int64_t> deadline_ms;
  };

  Snapshot(int64_t now_us, const base::Rng& rng) : now_us_(now_us), rng_(rng) {}

  int64_t now_us_;
  base::Rng rng_;
  std::vector<std::vector<Key>> databases_;
};

// Returns the SHA-256 of the time and of every key with its value and expiry, in hexadecimal. Equal
// states have equal hashes, in every process. O(n log n) in the number of keys.
std::string HashOfState(memory::Engine& engine);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_SNAPSHOT_H_
