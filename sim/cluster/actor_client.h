// ActorClient: the client of an actor in any world: a ClusterStore if the world is a Redis Cluster,
// and the actor's own connection otherwise.
//
//   sim::ActorClient client(actor);
//   co_await store::Set(client.store(), "user:7", "Ada");
//
// As ClusterStore, it must be destroyed before the actor's coroutine.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLUSTER_ACTOR_CLIENT_H_
#define REDOUBLE_SIM_CLUSTER_ACTOR_CLIENT_H_

#include <optional>

#include "redouble/core/store/store.h"
#include "redouble/sim/cluster/cluster_store.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {

class ActorClient {
 public:
  explicit ActorClient(Actor& actor) : actor_(actor) {
    if (actor.world().is_cluster()) cluster_.emplace(actor);
  }

  store::Store& store() {
    return cluster_ ? static_cast<store::Store&>(*cluster_) : actor_.store();
  }

 private:
  Actor& actor_;
  std::optional<ClusterStore> cluster_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLUSTER_ACTOR_CLIENT_H_
