// ClusterView: makes the engine one node of a simulated Redis Cluster.
//
// Code that works on a single redis-server fails in a cluster if a command, script or transaction
// uses keys of several hash slots, or of a slot that another node serves. With a view the engine
// refuses what a cluster node refuses, so that a test finds such code without a cluster. By default
// the engine is the only node and serves every slot; CROSSSLOT is then the only new error. With
// more nodes, keys of other nodes' slots return MOVED; no server listens at those addresses.
//
//   EngineOptions options;
//   options.cluster = ClusterOptions();       // One node, all slots.
//   Engine engine(clock, options);
//   // MGET {run1}:a {run2}:b
//   // (error) CROSSSLOT Keys in request don't hash to the same slot
//
// A view never changes. There are no migrations but those of `migrates_in_scripts`, so ASK and
// TRYAGAIN do not occur, and the subcommands of CLUSTER that would change the topology return an
// error.
//
// Thread-safety: constant after construction.
// Source: Redis 7.0 Cluster specification; getNodeByQuery and CLUSTER of redis-server 7.0.15.
#ifndef REDOUBLE_BACKENDS_MEMORY_CLUSTER_CLUSTER_VIEW_H_
#define REDOUBLE_BACKENDS_MEMORY_CLUSTER_CLUSTER_VIEW_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {

// Slots from `first` to `last`, both inclusive.
struct SlotRange {
  int first = 0;
  int last = base::kClusterSlots - 1;
};

// The address of a cluster node. An empty id is replaced by one derived from host and port.
struct ClusterAddress {
  std::string id = {};  // 40 lower-case hexadecimal digits.
  std::string host = "127.0.0.1";
  int port = 6379;
};

// A master and its replicas.
struct ClusterShard {
  ClusterAddress master;
  std::vector<SlotRange> slots = {SlotRange()};
  std::vector<ClusterAddress> replicas = {};
};

struct ClusterOptions {
  // A slot that two shards name belongs to the first one; slots outside of 0..16383 are ignored.
  // The cluster is down while a slot belongs to no shard, as with cluster-require-full-coverage.
  std::vector<ClusterShard> shards = {ClusterShard()};
  // The index of the shard whose master is the engine; the last shard if there are fewer.
  size_t self = 0;
  // Whether the slot of each script migrates while it runs, as CLUSTER SETSLOT MIGRATING begins it.
  // A node runs a script, or a transaction with scripts, if it has all its keys then, and refuses
  // the script a key that was deleted meanwhile, after what it has written. Others wait for the end
  // of the migration: they run as if there were none.
  bool migrates_in_scripts = false;
};

class ClusterView {
 public:
  // The result of a check of a request's keys.
  enum class Verdict : uint8_t {
    kServes,
    kCrossSlot,  // The keys are of several slots.
    kNotServed,  // No node serves their slot.
    kDown,       // Some slot has no node, so the whole cluster is down.
    kMoved,      // Another node serves their slot.
  };
  static constexpr int kNoSlot = -1;

  // The keys of a command, or of all commands of a transaction.
  class Keys {
   public:
    explicit Keys(const ClusterView& view) : view_(view) {}

    // Adds the keys, or shard channels, of a command. `arguments` are the words after its name, the
    // subcommand included. Adds nothing if the keys cannot be determined from the arguments; the
    // command's handler then returns the error.
    void Add(const store::CommandSpec& spec, std::span<const std::string_view> arguments);
    Verdict verdict() const;
    // The slot of the first key; kNoSlot if there was none.
    int slot() const { return slot_; }

   private:
    const ClusterView& view_;
    int slot_ = kNoSlot;
    bool crosses_ = false;
  };

  explicit ClusterView(ClusterOptions options);

  const std::vector<ClusterShard>& shards() const { return shards_; }
  // The index of the engine's own shard.
  size_t self() const { return self_; }
  // The index of the shard that serves `slot`, which must be valid; kNobody if no shard serves it.
  static constexpr int16_t kNobody = -1;
  int16_t ShardOf(int slot) const { return shard_of_[static_cast<size_t>(slot)]; }
  // The number of slots that belong to a shard.
  int assigned_slots() const { return assigned_slots_; }
  bool migrates_in_scripts() const { return migrates_in_scripts_; }
  bool is_up() const { return assigned_slots_ == base::kClusterSlots; }

  // The error text: "MOVED 3443 127.0.0.1:7001". `verdict` must not be kServes.
  std::string ErrorText(Verdict verdict, int slot) const;

 private:
  std::vector<ClusterShard> shards_;
  size_t self_;
  bool migrates_in_scripts_;
  int assigned_slots_ = 0;
  std::array<int16_t, base::kClusterSlots> shard_of_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_CLUSTER_CLUSTER_VIEW_H_
