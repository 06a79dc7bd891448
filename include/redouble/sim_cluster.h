// The client of an actor in a world that is a Redis Cluster, and the move of a slot.
//
//   sim::World world({.servers = {{.name = "b"}}, .cluster = true});
//   world.Spawn("a", [](sim::Actor& actor) -> base::Task<void> {
//     sim::ClusterStore store(actor);
//     co_await store::Set(store, "user:7", "Ada");
//   });
//
// It is separate from redouble/sim.h because it uses the live clients' library. For CMake and
// pkg-config it belongs to the library `testing`.
//
// Thread-safety: one thread for each world.
#ifndef REDOUBLE_SIM_CLUSTER_H_
#define REDOUBLE_SIM_CLUSTER_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/core/store/cluster/slot_move.h"
#include "redouble/sim/cluster/actor_client.h"
#include "redouble/sim/cluster/cluster_store.h"
#include "redouble/sim/cluster/slot_mover.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_SIM_CLUSTER_H_
