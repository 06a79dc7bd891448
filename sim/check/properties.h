// Properties of worlds: conditions over a whole run, added to a world as invariants.
//
// They are the kinds "linearizable", "serializable", "exactly_once" and "monotone" of world files
// (sim/world_file/invariant.h) for worlds in C++; "eventually" is World::AddEventually. A violation
// ends the run as that of any invariant.
//
//   const auto history = std::make_shared<sim::History>();
//   world.Spawn("a", [history](sim::Actor& actor) -> base::Task<void> {
//     sim::HistoryStore store(actor.store(), *history, actor.name());
//     co_await store::Incr(store, "n");
//   });
//   sim::AddLinearizable(world, "n counts", history, sim::CounterModel());
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CHECK_PROPERTIES_H_
#define REDOUBLE_SIM_CHECK_PROPERTIES_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "redouble/sim/check/history.h"
#include "redouble/sim/check/linearizability.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {

// The history must be linearizable at the end, on the keys that match the glob. `model` is one of
// sim/check/linearizability.h, or one's own, and must outlive the world.
// Observes the history.
void AddLinearizable(World& world, std::string name, std::shared_ptr<History> history,
                     const SequentialModel& model, std::string keys = "*");

// `value`, a number of the server's data, must not decrease from one step to the next.
void AddMonotone(World& world, std::string name, std::function<double()> value);

// Things that must be handled once each, such as the jobs of a queue.
class Deliveries {
 public:
  // The thing exists.
  void Expect(const std::string& id) { counts_.try_emplace(id, 0); }
  // The thing was handled.
  void Deliver(const std::string& id) { ++counts_[id]; }

  // OK, or the first thing, in byte order, that was not handled exactly once; with
  // `may_be_missing`, more than once.
  absl::Status Check(bool may_be_missing = false) const;

 private:
  std::map<std::string, int> counts_;
};

// Each thing must have been handled exactly once at the end; with `may_be_missing`, at most once.
void AddExactlyOnce(World& world, std::string name, std::shared_ptr<const Deliveries> deliveries,
                    bool may_be_missing = false);

// Returns the outcomes of all runs in which the actors of the world run one after another, without
// faults. `fill` fills a world and returns the function that tells its outcome, such as the data
// and the results of the actors as a text.
std::set<std::string> SerialOutcomes(
    const std::function<std::function<std::string()>(World&)>& fill, WorldOptions options = {});

// The outcome at the end must be one of those of serial runs.
void AddSerializable(World& world, std::string name, std::set<std::string> serial_outcomes,
                     std::function<std::string()> outcome);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CHECK_PROPERTIES_H_
