// Helpers for slots and nodes, shared by the subcommands of CLUSTER.
//
// The nodes are those of the engine's ClusterView (cluster/cluster_view.h); FindNode looks one up
// by its id.
//
// Thread-safety: one thread.
// Source: Redis 7.0 CLUSTER.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_CLUSTER_CLUSTER_NODES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_CLUSTER_CLUSTER_NODES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

// The offset of a node's cluster bus port from its client port.
inline constexpr int kBusPortOffset = 10'000;

// The error of every subcommand if cluster mode is off.
store::Reply ClusterDisabled();
// "ERR Unknown node x"
store::Reply UnknownNode(std::string_view id);

inline bool IsSlot(int64_t slot) { return slot >= 0 && slot < base::kClusterSlots; }
// Returns nullopt if the text is not a slot.
std::optional<int> ReadSlot(std::string_view text);
// The error for such a text.
store::Reply InvalidSlot();
// The number of the database's keys in the slot. O(keys).
int64_t CountKeysInSlot(CommandContext& context, int slot);

struct ClusterNode {
  size_t shard;
  bool is_master;
};
std::optional<ClusterNode> FindNode(const ClusterView& view, std::string_view id);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_CLUSTER_CLUSTER_NODES_H_
