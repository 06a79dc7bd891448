// What the subcommands of CLUSTER share: the nodes of the view, found by their ids.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_CLUSTER_NODES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_CLUSTER_NODES_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "backends/memory/cluster_view.h"
#include "core/store/reply.h"

namespace redouble::memory {

// A node's bus listens so far above its port.
inline constexpr int kBusPortOffset = 10'000;

// What every subcommand says without a view.
store::Reply ClusterDisabled();
// "ERR Unknown node x"
store::Reply UnknownNode(std::string_view id);

struct ClusterNode {
  size_t shard;
  bool is_master;
};
std::optional<ClusterNode> FindNode(const ClusterView& view, std::string_view id);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_CLUSTER_NODES_H_
