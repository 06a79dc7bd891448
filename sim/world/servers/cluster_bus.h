// ClusterBus: the servers of a world as the nodes of one Redis Cluster.
//
// The masters share the slots evenly, in the order of the servers. Clients change the slots as in
// Redis, with CLUSTER SETSLOT and MIGRATE (core/store/cluster/slot_move.h moves a slot so). What
// one node learns by that, the others hear later, one at a time, when the world says so: until then
// they send clients to the former owner of the slot.
//
//   std::vector<memory::ClusterOptions> nodes = ClusterBus::Nodes({{"a"}, {"b"}, {"b2", "b"}});
//   ...                                            // Construct the servers with these options.
//   ClusterBus bus({&a, &b, &b2});
//   while (!bus.news().empty()) bus.Tell(bus.news().front());
//
// A node's address is its name and the port kServerPort. The bus carries no messages of PUBLISH.
//
// Thread-safety: one thread. No function may be called from within a command of a server.
// Source: Redis 7.0 Cluster specification.
#ifndef REDOUBLE_SIM_WORLD_SERVERS_CLUSTER_BUS_H_
#define REDOUBLE_SIM_WORLD_SERVERS_CLUSTER_BUS_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/sim/world/servers/world_server.h"

namespace redouble::inline v0_1::sim {

class ClusterBus {
 public:
  struct Node {
    std::string name;
    std::string master = {};  // Of a replica: a node before it. Empty for a master.
  };

  // Returns the options of each node's engine. The masters that the nodes name must exist.
  static std::vector<memory::ClusterOptions> Nodes(const std::vector<Node>& nodes);

  // The servers, in the order of their nodes. They must outlive the bus.
  explicit ClusterBus(std::vector<WorldServer*> servers);
  ~ClusterBus();
  ClusterBus(const ClusterBus&) = delete;
  ClusterBus& operator=(const ClusterBus&) = delete;

  // Calls `listener` after each change of what a node knows. Replaces the previous one.
  void SetListener(std::function<void()> listener) { listener_ = std::move(listener); }

  // What a server would learn from another one. Both are indexes of servers.
  struct News {
    size_t receiver;
    size_t sender;
  };
  // All news, by receiver and sender. Valid until the next change.
  std::span<const News> news() const { return news_; }
  // Lets the receiver learn it.
  void Tell(News news);

  // A replica has become the master of its shard, and the former master follows it at once.
  void TakeOver(const WorldServer& replica, const WorldServer& former);

 private:
  WorldServer& Find(const WorldServer& server) const;
  void OnChange();

  const std::vector<WorldServer*> servers_;
  std::function<void()> listener_;
  std::vector<News> news_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_SERVERS_CLUSTER_BUS_H_
