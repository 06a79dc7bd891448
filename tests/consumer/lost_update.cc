// A consumer's exploration: two visitors read a counter and write it back, and one of them is lost.
// Exits with 0 if the explorer finds that schedule, and finds none in the version with INCR.

#include <iostream>
#include <string>

#include "redouble/sim.h"
#include "redouble/store.h"

namespace base = redouble::base;
namespace sim = redouble::sim;
namespace store = redouble::store;

namespace {

base::Task<void> ReadAndWrite(store::Store& redis) {
  const auto text = co_await store::Get(redis, "visits");
  const int visits = text.ok() && text->has_value() ? std::stoi(**text) : 0;
  const std::string next = std::to_string(visits + 1);
  (void)co_await store::Set(redis, "visits", next);
}

base::Task<void> Increment(store::Store& redis) { (void)co_await store::Incr(redis, "visits"); }

sim::Experiment TwoVisitors(base::Task<void> (*visit)(store::Store&)) {
  return [visit](sim::World& world) {
    for (const char* name : {"alice", "bob"}) {
      world.Spawn(
          name, [visit](sim::Actor& actor) -> base::Task<void> { co_await visit(actor.store()); });
    }
    world.AddFinalInvariant("both are counted", [&world] {
      const auto redis = world.engine().Connect();
      return base::Run(store::Get(*redis, "visits")).value() == "2";
    });
  };
}

}  // namespace

int main() {
  const bool finds_the_race = sim::Explore(TwoVisitors(ReadAndWrite)).violation.has_value();
  const bool finds_another = sim::Explore(TwoVisitors(Increment)).violation.has_value();
  std::cout << "GET and SET lose a visit: " << finds_the_race << "\n"
            << "INCR loses a visit: " << finds_another << "\n";
  return finds_the_race && !finds_another ? 0 : 1;
}
