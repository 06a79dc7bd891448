// SlotMover and MasterKiller: what happens to the cluster of live tests while they use it, chosen
// by the environment variable REDOUBLE_LIVE_WHILE:
//
//   (unset)    nothing
//   moving     slots move from master to master all the time, those with keys first
//   failover   each test loses a master in one of its first commands, and its replica takes over
//
// Thread-safety: one thread, beside the thread of the unrest itself.
#ifndef REDOUBLE_BACKENDS_TESTING_CLUSTER_UNREST_H_
#define REDOUBLE_BACKENDS_TESTING_CLUSTER_UNREST_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::tests {

enum class Unrest : uint8_t { kNone, kMoving, kFailover };

// Aborts the program if the variable has an unknown value.
Unrest WantedUnrest();

// Moves slots until it is destroyed.
class SlotMover {
 public:
  // The cluster must outlive the object, and its slots be those of its start.
  SlotMover(redis::SpawnedCluster& cluster, size_t masters, uint64_t seed);
  // Prints "[cluster moved] N slots with keys".
  ~SlotMover();

  SlotMover(const SlotMover&) = delete;
  SlotMover& operator=(const SlotMover&) = delete;

  // No slot moves while the lock lives.
  std::unique_lock<std::mutex> Calm() { return std::unique_lock(moving_); }

 private:
  void Run();
  // The slot of a random key that may move now: it has not moved lately, and ExpiresNow() is false.
  // nullopt if there is no such key among a random one of each master.
  absl::StatusOr<std::optional<int>> SlotWithKeys();
  // Whether a key of the slot expires with the next millisecond. MIGRATE would give it another one.
  absl::StatusOr<bool> ExpiresNow(int slot);
  // Moves such a slot, or any slot if there is none, to another master.
  absl::Status MoveOne();

  redis::SpawnedCluster& cluster_;
  const size_t masters_;
  base::Rng rng_;
  std::vector<size_t> owners_;  // By slot.
  std::deque<int> moved_;       // The last slots.
  int64_t with_keys_ = 0;
  std::mutex moving_;
  std::condition_variable ended_;
  bool ends_ = false;   // Guarded by moving_.
  std::thread thread_;  // The last member: it uses the others.
};

// Kills one master, once, and has its replica take over.
class MasterKiller {
 public:
  // Draws the master, the command, and whether the master dies before that command is sent, when
  // its replica has all its writes, or at any moment of the command. `node(i + masters)` must be
  // the replica of `node(i)`.
  MasterKiller(redis::SpawnedCluster& cluster, size_t masters, base::Rng rng);
  ~MasterKiller();

  MasterKiller(const MasterKiller&) = delete;
  MasterKiller& operator=(const MasterKiller&) = delete;

  // To be called before each command of the test. Prints "[cluster killed] between commands" or
  // "[cluster killed] at any moment" when it does.
  void BeforeCommand();
  // Waits until the replica has taken over, if a master was killed.
  void WaitUntilTaken();
  bool has_killed() const { return has_killed_; }

 private:
  void Kill();
  // Waits until the replica has all writes of the master.
  absl::Status WaitForReplica();
  void TakeOver();

  redis::SpawnedCluster& cluster_;
  const size_t masters_;
  const size_t master_;
  const bool between_commands_;
  int64_t commands_left_;
  bool has_killed_ = false;
  std::thread thread_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_BACKENDS_TESTING_CLUSTER_UNREST_H_
