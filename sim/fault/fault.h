// Faults as data: what can go wrong in a world, and when it shall.
//
// A FaultPlan is a list of rules. Each time an actor's request gets its turn, the rules are asked
// in order, and the first that fires is inflicted in place of the request's plain way to the
// server. The kinds are one table, in fault.cc; scenario files, explored worlds and the
// documentation take their names from it.
//
//   // Every third INCR of actor "a" or so is executed, but its reply is lost.
//   FaultRule rule{.fault = Fault::kDropReply, .actor = "a", .command = "INCR",
//                  .probability = 0.3};
//
// Thread-safety: a plan belongs to one world; the table is constant.
#ifndef REDOUBLE_SIM_FAULT_FAULT_H_
#define REDOUBLE_SIM_FAULT_FAULT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "core/base/rng.h"
#include "core/store/store.h"
#include "sim/world/decisions.h"

namespace redouble::sim {

enum class Fault : uint8_t {
  kDropRequest,
  kDropReply,
  kDelay,
  kDuplicate,
  kErrorReply,
  kDisconnect,
  kCrash,
  kSkewClock,
  kStepClock,
  kFlush,
  kRestart,
  kRestartFromSnapshot,
  kRestartLosingTail,
  kFailover,
  kEvict,
};

// On whom a fault falls.
enum class FaultScope : uint8_t { kRequest, kActor, kServer };

// A row of the table.
struct FaultSpec {
  Fault fault;
  std::string_view name;  // "drop_request"
  FaultScope scope;
  std::string_view effect;  // A sentence for the documentation.
};

// All rows, in the order of the enum.
std::span<const FaultSpec> AllFaults();
const FaultSpec& SpecOf(Fault fault);
// The row of that name; null when there is none.
const FaultSpec* FindFaultSpec(std::string_view name);

// One fault, which requests it may fall on, and how often.
struct FaultRule {
  Fault fault;

  // Which requests: each condition that is set must hold. A request of several commands matches
  // when one of its commands does.
  std::string actor = {};                     // By name.
  std::string command = {};                   // By the command's name, in any case: "XADD".
  std::string key = {};                       // One of its keys matches this glob: "budget:*".
  absl::Time from = absl::InfinitePast();     // Not before this moment of the world's clock.
  absl::Time until = absl::InfiniteFuture();  // Before this moment.

  // How often: the n-th match (counted from 1) when `nth` is set, else each match with
  // `probability`; never more than `limit` times.
  int64_t nth = 0;
  double probability = 1;
  int64_t limit = INT64_MAX;

  // kDelay: for how long. kCrash: how long the actor stays down, for ever when infinite.
  // kSkewClock: by how much the actor's clock is ahead from now on. kStepClock: by how much it
  // jumps. kRestartLosingTail: how much of the past is lost.
  absl::Duration duration = absl::ZeroDuration();
  // kRestartFromSnapshot: the moment whose data come back.
  absl::Time snapshot = absl::InfinitePast();
  // kFailover: how many of the last writes are lost. kEvict: how many keys go.
  int64_t count = 1;
  // kErrorReply: the text, code first.
  std::string error = "OOM command not allowed when used memory > 'maxmemory'.";
};

class FaultPlan {
 public:
  FaultPlan() = default;
  explicit FaultPlan(std::vector<FaultRule> rules);

  // The rule that fires for this request; null when none does. Counts the match in each rule that
  // was asked; a rule with a probability between 0 and 1 asks `decisions`.
  const FaultRule* Draw(std::string_view actor, const store::Request& request, absl::Time now,
                        DecisionSource& decisions);
  // Whether any rule inflicts `fault`.
  bool Has(Fault fault) const;
  bool empty() const { return states_.empty(); }
  // How often faults were inflicted.
  int64_t inflicted() const { return inflicted_; }

 private:
  struct State {
    FaultRule rule;
    int64_t matches = 0;
    int64_t fired = 0;
  };

  static bool Fires(State& state, DecisionSource& decisions);

  std::vector<State> states_;
  int64_t inflicted_ = 0;
};

// Swarm testing: a run that may suffer everything suffers a bit of everything each time. Draws
// which of the rules are on in this run (each with probability 1/2), and for those that have a
// probability how often: between a tenth of it and all of it.
std::vector<FaultRule> DrawSwarm(std::span<const FaultRule> rules, base::Rng& rng);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_FAULT_FAULT_H_
