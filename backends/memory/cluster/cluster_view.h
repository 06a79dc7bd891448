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
// The slots can change: CLUSTER ADDSLOTS and DELSLOTS assign them, and CLUSTER SETSLOT moves one
// from one node to another, as redis-cli --cluster reshard does. While a slot moves, the node that
// had it returns ASK for a key that it no longer has, and TRYAGAIN if it has only some of a
// command's keys; the other node serves the slot to clients that send ASKING. The nodes themselves
// do not change.
//
// Several engines can be the nodes of one cluster (sim/world/servers/cluster_bus.h). Each of them
// has a view of its own, and learns from the others which slots they serve; the newer epoch wins.
//
// Thread-safety: one thread.
// Source: Redis 7.0 Cluster specification; getNodeByQuery, clusterUpdateSlotsConfigWith and CLUSTER
// of redis-server 7.0.15.
#ifndef REDOUBLE_BACKENDS_MEMORY_CLUSTER_CLUSTER_VIEW_H_
#define REDOUBLE_BACKENDS_MEMORY_CLUSTER_CLUSTER_VIEW_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
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
  // The configuration epoch of its master; the index of the shard by default.
  std::optional<uint64_t> epoch = {};
};

struct ClusterOptions {
  // A slot that two shards name belongs to the first one; slots outside of 0..16383 are ignored.
  // The cluster is down while a slot belongs to no shard, as with cluster-require-full-coverage.
  std::vector<ClusterShard> shards = {ClusterShard()};
  // The index of the engine's shard; the last shard if there are fewer.
  size_t self = 0;
  // The index of the engine among the replicas of its shard; nullopt: it is the master.
  std::optional<size_t> self_replica = std::nullopt;
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
    kAsk,        // The slot is being moved, and the node that gets it has the keys.
    kTryAgain,   // The slot is being moved, and each of the two nodes can have some of the keys.
  };
  static constexpr int kNoSlot = -1;

  // What decides, beside its keys, whether a node serves a request.
  struct Sender {
    bool asking = false;         // ASKING was sent before it.
    bool reads_replica = false;  // READONLY was sent, and the request does not write.
    bool migrates = false;       // It is MIGRATE.
  };

  // Returns true if the node has the key.
  using HasKey = absl::FunctionRef<bool(std::string_view key)>;

  // The keys of a command, or of all commands of a transaction.
  class Keys {
   public:
    explicit Keys(const ClusterView& view) : view_(view) {}

    // Adds the keys, or shard channels, of a command. `arguments` are the words after its name, the
    // subcommand included; they must outlive the object. Adds nothing if the keys cannot be
    // determined from the arguments; the command's handler then returns the error. `has_key` is
    // asked about keys of a slot that is being moved, and with `migrates_in_scripts` about all.
    void Add(const store::CommandSpec& spec, std::span<const std::string_view> arguments,
             HasKey has_key);
    Verdict verdict(const Sender& sender) const;
    // False if `has_key` has missed a key.
    bool has_all() const { return !has_missing_keys_; }
    // The slot of the first key; kNoSlot if there was none.
    int slot() const { return slot_; }

   private:
    const ClusterView& view_;
    int slot_ = kNoSlot;
    std::string_view first_key_;  // Of a slot that is being moved.
    bool crosses_ = false;
    bool has_several_keys_ = false;
    bool has_missing_keys_ = false;
    bool has_present_keys_ = false;
  };

  explicit ClusterView(ClusterOptions options);

  const std::vector<ClusterShard>& shards() const { return shards_; }
  // The index of the engine's own shard.
  size_t self() const { return self_; }
  // Whether the engine is its shard's master, and its address.
  bool is_master() const { return !self_replica_.has_value(); }
  const ClusterAddress& address() const;

  // The index of the shard that serves `slot`, which must be valid; kNobody if no shard serves it.
  static constexpr int16_t kNobody = -1;
  int16_t ShardOf(int slot) const { return shard_of_[static_cast<size_t>(slot)]; }
  bool IsOwn(int slot) const { return ShardOf(slot) == static_cast<int16_t>(self_); }
  // The number of slots that belong to a shard.
  int assigned_slots() const { return assigned_slots_; }
  bool migrates_in_scripts() const { return migrates_in_scripts_; }
  bool is_up() const { return assigned_slots_ == base::kClusterSlots; }

  // The slots that this node gives to another one, or gets from it, and that node's shard.
  const std::map<int, size_t>& migrating() const { return migrating_; }
  const std::map<int, size_t>& importing() const { return importing_; }
  bool IsMoving(int slot) const { return migrating_.contains(slot) || importing_.contains(slot); }

  // CLUSTER SETSLOT MIGRATING, IMPORTING and STABLE.
  void SetMigrating(int slot, size_t to) { migrating_.insert_or_assign(slot, to); }
  void SetImporting(int slot, size_t from) { importing_.insert_or_assign(slot, from); }
  void SetStable(int slot) {
    migrating_.erase(slot);
    importing_.erase(slot);
  }
  void EndMigrating(int slot) { migrating_.erase(slot); }
  // Assigns the slot to a shard, or to kNobody. If this node was importing the slot and gets it, it
  // has ended that, and its epoch is the newest.
  void Assign(int slot, int16_t shard);

  // The configuration epoch of a shard. If two masters claim a slot, the one with the newer epoch
  // has it.
  uint64_t EpochOf(size_t shard) const { return epochs_[shard]; }
  // The newest epoch of all shards.
  uint64_t current_epoch() const;
  // Gives this node the newest epoch. Returns false if it has it already.
  bool BumpEpoch();
  // Gives this node an epoch that no other node must have.
  void SetEpoch(uint64_t epoch) { epochs_[self_] = epoch; }

  // Makes this node, a replica, the master of its shard. The former master becomes a replica.
  // `epoch` must be newer than the epochs of all shards.
  void TakeOver(uint64_t epoch);
  // Whether `sender`, a node of the same cluster, has slots, an epoch or a role that this node does
  // not know of and would accept. O(slots).
  bool HasNews(const ClusterView& sender) const;
  // Learns them. Returns the slots that this node has lost, if it is a master: it deletes their
  // keys.
  std::set<int> Learn(const ClusterView& sender);

  // The error text: "MOVED 3443 127.0.0.1:7001". `verdict` must not be kServes.
  std::string ErrorText(Verdict verdict, int slot) const;

 private:
  // Whether the slot becomes the sender's when this node hears the sender.
  bool IsTaken(int slot, const ClusterView& sender) const;
  // Whether this node has the epoch of another master, and is the one that takes a new epoch.
  bool Collides(const ClusterView& sender) const;
  void LearnNodes(const ClusterView& sender);
  std::string Redirection(std::string_view word, int slot, size_t shard) const;

  std::vector<ClusterShard> shards_;
  size_t self_;
  std::optional<size_t> self_replica_;
  bool migrates_in_scripts_;
  int assigned_slots_ = 0;
  std::array<int16_t, base::kClusterSlots> shard_of_;
  std::map<int, size_t> migrating_;
  std::map<int, size_t> importing_;
  std::vector<uint64_t> epochs_;  // By shard: what was heard last.
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_CLUSTER_CLUSTER_VIEW_H_
