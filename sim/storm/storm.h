// Storm: a random workload for a system, run in a simulated world under random faults.
//
// Use it to look for faults that are not known yet. Where a world file has a few actors and one
// hazard, a storm has actors of every role, operations drawn from a seed, and faults of every kind
// of which each run draws a part. At the end the faults stop, a last actor brings the system to
// rest, and the system's promises are judged (sim/storm/promise.h).
//
// A system's storm implements `Storm` and describes itself:
//
//   StormSystem GatewayStorm() {
//     return {.name = "gateway", .promises = {...}, .roles = {{"gateway", 2, 4, 6}}, ...};
//   }
//
// sim/storm/storm_run.h runs it.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_STORM_STORM_H_
#define REDOUBLE_SIM_STORM_STORM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/storm/promise.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {

// A kind of actor.
struct StormRole {
  std::string name;
  // How many actors of the role a run has, and how many operations each of them. With `least` 0 and
  // `most` of 3 or more, half of the runs have none and the others at least 3, who have
  // kSharedOperations operations together at most, or one each.
  int least = 1;
  int most = 1;
  int operations = 0;  // At most; at least one.
  // Runs until the end of the world, such as a sweeper.
  bool daemon = false;
};

// So that runs with many actors of a role do not become long.
inline constexpr int kSharedOperations = 20;

// The operations of one actor: a seed for each. What is left out does not change the others, so a
// failing run can be made smaller.
struct StormActor {
  size_t role;
  int number;  // Among the actors of the role.
  std::vector<uint64_t> operations;
};
using StormPlan = std::vector<StormActor>;

// The operations that are left to an actor. A restarted actor continues with the next one.
class StormWork {
 public:
  explicit StormWork(std::vector<uint64_t> operations) : operations_(std::move(operations)) {}

  // The random numbers of the next operation; nullopt after the last one.
  std::optional<base::Rng> Next() {
    if (next_ == operations_.size()) return std::nullopt;
    return base::Rng(operations_[next_++]);
  }

 private:
  const std::vector<uint64_t> operations_;
  size_t next_ = 0;
};

// How a storm runs.
struct StormVariant {
  // All options that remove hazards are on.
  bool hardened = false;
  // How the system's keys are spelled. In the cluster layout the world's server refuses commands
  // with keys of several slots.
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
  // With the cluster layout: the world's servers are so many masters of a Redis Cluster, whose
  // slots move while the actors use them; at least two. 0: one server. If the system has the fault
  // `failover`, each master has a replica, and `promote` takes the place of `failover`: a replica
  // takes over, and writes that it had not applied are lost.
  int masters = 0;
  // Wraps the store of every actor, so that a test can break a promise; may be empty.
  std::function<std::unique_ptr<store::Store>(store::Store& inner)> wrap = {};
};

// The workload of one run. Actors share it; it outlives them.
class Storm {
 public:
  virtual ~Storm() = default;

  // What an actor does, from its start or restart on: the operations of `work`, one after another.
  // `store` is the actor's store.
  virtual base::Task<void> Act(Actor& actor, store::Store& store, size_t role, StormWork& work) = 0;
  // Brings the system to rest. All actors but daemons have ended, and no fault happens any more.
  virtual base::Task<void> Drain(Actor& actor, store::Store& store) = 0;
  // Looks at the server, and at what actors have done, after every step.
  virtual void Observe() {}
  // Judges the run, after Drain.
  virtual void Judge(Verdicts& verdicts) = 0;
};

// A system under storms.
struct StormSystem {
  std::string name;
  std::vector<Promise> promises;
  std::vector<StormRole> roles;
  // The faults of which each run draws a part. Those that need split events happen in such runs.
  std::vector<FaultRule> faults;
  // When the worlds start: before a boundary that matters, such as the end of a day.
  absl::Time start = WorldOptions().start;
  // The remedies that the cluster layout cannot have: there no option removes their hazards.
  std::set<std::string> documented_layout_only = {};
  std::function<std::unique_ptr<Storm>(World& world, const StormVariant& variant)> make = {};

  // "docs/systems/gateway.md".
  std::string Page() const { return "docs/systems/" + name + ".md"; }
};

// A fault that happens to every request with this probability, `limit` times at most; `duration` is
// the parameter of those that have one.
FaultRule StormFault(Fault fault, double probability, int64_t limit = INT64_MAX,
                     absl::Duration duration = absl::ZeroDuration());

// Every fault of a request or an actor: lost, late and doubled requests and replies, error replies,
// crashes, partitions, and clocks that step. For the faults of a storm.
std::vector<FaultRule> ClientFaults();
// Every fault of the server: it loses some of its data, or all.
std::vector<FaultRule> ServerFaults();

// Draws the actors and operations of a run.
StormPlan DrawPlan(const StormSystem& system, base::Rng& rng);
// How many operations a plan has.
size_t OperationsOf(const StormPlan& plan);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_STORM_H_
