// What the subcommands of CLUSTER share: slots, and the nodes of the view, found by their ids.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_CLUSTER_NODES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_CLUSTER_NODES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/memory/cluster_view.h"
#include "backends/memory/command_context.h"
#include "core/base/crc.h"
#include "core/store/reply.h"

namespace redouble::memory {

// A node's bus listens so far above its port.
inline constexpr int kBusPortOffset = 10'000;

// What every subcommand says without a view.
store::Reply ClusterDisabled();
// "ERR Unknown node x"
store::Reply UnknownNode(std::string_view id);

inline bool IsSlot(int64_t slot) { return slot >= 0 && slot < base::kClusterSlots; }
// How many keys of the database are in the slot. O(keys).
int64_t CountKeysInSlot(CommandContext& context, int slot);

struct ClusterNode {
  size_t shard;
  bool is_master;
};
std::optional<ClusterNode> FindNode(const ClusterView& view, std::string_view id);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_CLUSTER_NODES_H_
