// SlotMap: which node of a Redis Cluster serves which slot, as a node told it.
//
// Why it exists: a cluster is 16,384 slots, and a client that knows their masters sends each
// command where it belongs at once instead of being sent on. The map is what CLUSTER SLOTS answers,
// corrected by each MOVED until the next answer.
//
//   absl::StatusOr<SlotMap> map = SlotMap::FromReply(reply, asked);
//   if (const TcpAddress* master = map->MasterOf(base::KeySlot("user:7"))) ...
//
// Thread-safety: a plain value.
//
// Source: Redis 7.0 CLUSTER SLOTS; Redis Cluster specification, "Client first connection and
// handling of redirections".
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_SLOT_MAP_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_SLOT_MAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/redis/options.h"
#include "core/base/crc.h"
#include "core/store/reply.h"

namespace redouble::redis {

class SlotMap {
 public:
  // Knows no node and no slot.
  SlotMap() { owner_.fill(kNobody); }

  // Reads the answer of CLUSTER SLOTS that the node at `asked` gave. A node that does not know its
  // own host, or an endpoint that is nil, stands for the host that was asked, as Redis's
  // documentation demands.
  //
  // Errors: the server's, when the answer is one (a server without cluster support says so); a
  // protocol error for anything that is no such answer: a slot outside 0 to 16383, a range that
  // ends before it begins, a port that is none. Ranges that overlap, which nodes that disagree can
  // produce, are no error: the later one wins.
  static absl::StatusOr<SlotMap> FromReply(const store::Reply& reply, const TcpAddress& asked);

  // Who serves the slot, 0 to 16383; null when nobody does. Good until the map changes. O(1).
  const TcpAddress* MasterOf(int slot) const;

  // A node said that `master` serves the slot.
  void Move(int slot, const TcpAddress& master);

  // The masters that serve a slot, in the order of the first that each serves. O(slots).
  std::vector<TcpAddress> Masters() const;

  // Replicas as told, in the order of the answer. They are only asked for the map.
  const std::vector<TcpAddress>& replicas() const { return replicas_; }

  // How many slots have a master.
  int assigned_slots() const;

 private:
  static constexpr int16_t kNobody = -1;

  int16_t IndexOf(const TcpAddress& master);
  absl::Status AddRange(const store::Reply& row, const TcpAddress& asked);

  std::vector<TcpAddress> masters_;  // Also some that lost their last slot.
  std::vector<TcpAddress> replicas_;
  std::array<int16_t, base::kClusterSlots> owner_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_SLOT_MAP_H_
