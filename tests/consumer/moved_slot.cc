// A consumer's simulated cluster: two clients count on three masters while slots move between them.
// Exits with 0 if nothing is lost.

#include <iostream>
#include <string>

#include "redouble/sim.h"
#include "redouble/sim_cluster.h"
#include "redouble/store.h"

namespace base = redouble::base;
namespace sim = redouble::sim;
namespace store = redouble::store;

int main() {
  sim::World world({.seed = 7, .servers = {{.name = "b"}, {.name = "c"}}, .cluster = true});
  world.Spawn("mover", [](sim::Actor& actor) { return sim::MoveSlots(actor); },
              {.daemon = true, .spared = true});
  for (const char* name : {"alice", "bob"}) {
    world.Spawn(name, [](sim::Actor& actor) -> base::Task<void> {
      sim::ClusterStore redis(actor);
      for (int visit = 0; visit < 20; ++visit) {
        co_await actor.clock().Sleep(absl::Milliseconds(50));
        (void)co_await store::Incr(redis, "visits");
      }
    });
  }
  (void)world.Run();
  const auto nodes = world.ConnectToAll();
  const std::string visits = base::Run(store::Get(*nodes, "visits")).value().value_or("none");
  std::cout << "visits: " << visits << "\n";
  return visits == "40" ? 0 : 1;
}
