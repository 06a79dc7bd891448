// SlotMap: the master of each slot of a Redis Cluster.
//
// A client with a slot map sends each command to the right node at once, instead of following a
// redirection. The map is the reply to CLUSTER SLOTS, corrected by each MOVED until the next reply.
//
//   absl::StatusOr<SlotMap> map = SlotMap::FromReply(reply, asked);
//   if (const TcpAddress* master = map->MasterOf(base::KeySlot("user:7"))) ...
//
// Thread-safety: a plain value.
//
// Source: Redis 7.0 CLUSTER SLOTS; Redis Cluster specification, "Client first connection and
// handling of redirections".
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_SLOT_MAP_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_SLOT_MAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::redis {

class SlotMap {
 public:
  // An empty map: no node serves a slot.
  SlotMap() { owner_.fill(kNobody); }

  // Parses the reply of the node at `asked` to CLUSTER SLOTS. An endpoint that is nil, empty or "?"
  // means the host of `asked`, as Redis's documentation requires.
  //
  // Errors: the server's own if the reply is an error (from a server without cluster support); a
  // protocol error for any other reply: a slot outside 0 to 16383, a range that ends before it
  // begins, an invalid port. Overlapping ranges, which nodes that disagree can produce, are not an
  // error: the later one wins.
  static absl::StatusOr<SlotMap> FromReply(const store::Reply& reply, const TcpAddress& asked);

  // The master of the slot, 0 to 16383; null if the slot is not served. Valid until the map
  // changes. O(1).
  const TcpAddress* MasterOf(int slot) const;

  // Applies a MOVED redirection: `master` serves the slot.
  void Move(int slot, const TcpAddress& master);

  // The masters that serve a slot, in the order of their first slot. O(slots).
  std::vector<TcpAddress> Masters() const;

  // The replicas, in the order of the reply.
  const std::vector<TcpAddress>& replicas() const { return replicas_; }

  // The replicas of the slot's master; empty if the slot is not served. Valid until the map
  // changes. O(1).
  std::span<const TcpAddress> ReplicasOf(int slot) const;

  // The number of slots that have a master.
  int assigned_slots() const;

 private:
  static constexpr int16_t kNobody = -1;

  int16_t IndexOf(const TcpAddress& master);
  absl::Status AddRange(const store::Reply& row, const TcpAddress& asked);

  std::vector<TcpAddress> masters_;  // May include masters that lost their last slot.
  std::vector<std::vector<TcpAddress>> replicas_of_;  // By the index of their master.
  std::vector<TcpAddress> replicas_;                  // All.
  std::array<int16_t, base::kClusterSlots> owner_;
};

// What a node says about its cluster.
struct ClusterView {
  // Parses the replies of the node at `asked` to CLUSTER SLOTS and CLUSTER INFO, as one array. An
  // error instead of CLUSTER INFO, which a user may lack the permission for, leaves the defaults.
  // Errors: as SlotMap::FromReply; a protocol error if the reply is not such a pair; Unavailable,
  // of kind "not sent", if no slot is assigned.
  static absl::StatusOr<ClusterView> FromReplies(const store::Reply& replies,
                                                 const TcpAddress& asked);

  SlotMap map = {};
  // False if the node says that the cluster is down, as a node without a majority does.
  bool is_up = true;
  // cluster_current_epoch: it grows with each failover and each moved slot, so a greater epoch
  // means a newer map. nullopt: unknown.
  std::optional<int64_t> epoch = std::nullopt;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_SLOT_MAP_H_
