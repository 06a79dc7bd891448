// ClusterStore: an actor's client of a world that is a Redis Cluster.
//
// It routes requests to the nodes as redis::ClusterClient does, with the same machine
// (backends/redis/fsm/cluster/cluster_machine.h): it reads the slot map, follows MOVED and ASK,
// waits after TRYAGAIN, and refuses requests whose keys belong to several slots. Its connections
// are those of the actor, so each of its requests to a node is a step of the schedule, and faults
// concern it.
//
//   sim::World world({.servers = {{.name = "b"}, {.name = "c"}}, .cluster = true});
//   world.Spawn("a", [](sim::Actor& actor) -> base::Task<void> {
//     sim::ClusterStore store(actor);
//     co_await store::Set(store, "user:7", "Ada");
//   });
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLUSTER_CLUSTER_STORE_H_
#define REDOUBLE_SIM_CLUSTER_CLUSTER_STORE_H_

#include <memory>

#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {

class ClusterStore final : public store::Store {
 public:
  // Begins to read the slot map from the actor's main server, and then from the world's other
  // servers; requests wait for it. `options` are those of a live client; their addresses are not
  // used, and they must read from masters. Timeouts pass on the world's clock. As the actor's
  // connections, the store must be destroyed before the actor's coroutine.
  explicit ClusterStore(Actor& actor, redis::Options options = {});
  ~ClusterStore() override;

  void Submit(store::Request& request) override;

  // Redirections and map reads so far.
  const redis::ClusterCounters& counters() const;

 private:
  class Core;

  // A waiter may destroy the store while the core completes its request.
  const std::shared_ptr<Core> core_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLUSTER_CLUSTER_STORE_H_
