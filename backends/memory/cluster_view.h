// ClusterView: the engine as one node of a simulated Redis Cluster.
//
// Code that works on one redis-server breaks in a cluster where a command, script or transaction
// names keys of several hash slots, or of a slot that another node serves. With a view the engine
// refuses what a node refuses, so that a test finds such code without a cluster. By default it is
// the only node and serves every slot: CROSSSLOT is then all that it adds. With more nodes, keys of
// the others' slots are answered with MOVED; there is nobody behind those addresses.
//
//   EngineOptions options;
//   options.cluster = ClusterOptions();       // One node, all slots.
//   Engine engine(clock, options);
//   // MGET {run1}:a {run2}:b
//   // (error) CROSSSLOT Keys in request don't hash to the same slot
//
// A view never changes: there are no migrations, so ASK and TRYAGAIN never come, and the
// subcommands of CLUSTER that would change it say that they do not.
//
// Source: Redis 7.0 Cluster specification; getNodeByQuery and CLUSTER of redis-server 7.0.15.
//
// Thread-safety: constant after construction.
#ifndef REDOUBLE_BACKENDS_MEMORY_CLUSTER_VIEW_H_
#define REDOUBLE_BACKENDS_MEMORY_CLUSTER_VIEW_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/crc.h"
#include "core/store/command_table.h"

namespace redouble::memory {

// Slots from `first` to `last`, both included.
struct SlotRange {
  int first = 0;
  int last = base::kClusterSlots - 1;
};

// Where a node of the cluster listens. An empty id stands for one made of host and port.
struct ClusterAddress {
  std::string id = {};  // 40 lower-case hexadecimal digits.
  std::string host = "127.0.0.1";
  int port = 6379;
};

// A master and the replicas that follow it.
struct ClusterShard {
  ClusterAddress master;
  std::vector<SlotRange> slots = {SlotRange()};
  std::vector<ClusterAddress> replicas = {};
};

struct ClusterOptions {
  // A slot that two shards name belongs to the first; slots outside 0..16383 do not exist. While
  // some slot belongs to nobody the cluster is down, as with cluster-require-full-coverage.
  std::vector<ClusterShard> shards = {ClusterShard()};
  // The shard whose master the engine is; the last one when there are fewer.
  size_t self = 0;
};

class ClusterView {
 public:
  // What a node says to the keys of a request.
  enum class Verdict : uint8_t {
    kServes,
    kCrossSlot,  // They are not all of one slot.
    kNotServed,  // Nobody serves their slot.
    kDown,       // Some slot has nobody, so nothing is served.
    kMoved,      // Another node serves their slot.
  };
  static constexpr int kNoSlot = -1;

  // The keys of a command, or of all commands of a transaction.
  class Keys {
   public:
    explicit Keys(const ClusterView& view) : view_(view) {}

    // The keys, or shard channels, of a command: its row, and what follows its name, the subcommand
    // included. Where keys cannot be told from the arguments the command has none; its handler
    // refuses it.
    void Add(const store::CommandSpec& spec, std::span<const std::string_view> arguments);
    Verdict verdict() const;
    // Of the first key; kNoSlot when there was none.
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
  // The index of the shard that serves `slot`, which must be one; kNobody when there is none.
  static constexpr int16_t kNobody = -1;
  int16_t ShardOf(int slot) const { return shard_of_[static_cast<size_t>(slot)]; }
  // How many slots have a shard.
  int assigned_slots() const { return assigned_slots_; }
  bool is_up() const { return assigned_slots_ == base::kClusterSlots; }

  // The error that a client is sent: "MOVED 3443 127.0.0.1:7001". `verdict` must not be kServes.
  std::string ErrorText(Verdict verdict, int slot) const;

 private:
  std::vector<ClusterShard> shards_;
  size_t self_;
  int assigned_slots_ = 0;
  std::array<int16_t, base::kClusterSlots> shard_of_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_CLUSTER_VIEW_H_
