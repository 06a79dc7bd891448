// The fault table, and rules that say when a fault happens.
//
// A fault is something that goes wrong on purpose: a lost reply, a crashed client, a restarted
// server. This file holds the one table of all faults; each row says what the fault does, which
// parameters it takes and where it can be injected:
//
//   * worlds (sim/world/world.h) and world files (sim/world_file/world_file.h): every fault;
//   * scenarios ({"kind": "fault", "fault": "restart"}, scenarios/README.md): faults of the server;
//   * `redouble serve` (SIM FAULT, docs/serve.md): faults between a client and the server;
//   * any store::Store (sim/fault/faulty_store.h): faults of a request.
//
// A FaultRule says which requests a fault applies to and how often. A FaultPlan is a list of rules:
// for each request, the rules are tried in order and the first one that fires is injected.
//
//   // About every third INCR of actor "a" is executed, but its reply is lost.
//   FaultRule rule{.fault = Fault::kDropReply, .actor = "a", .command = "INCR",
//                  .probability = 0.3};
//
// A generated page lists the table (FaultsPage in sim/fault/fault_page.h).
//
// Thread-safety: the table is constant. A FaultPlan may be used by one thread at a time.
#ifndef REDOUBLE_SIM_FAULT_FAULT_H_
#define REDOUBLE_SIM_FAULT_FAULT_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/decision/decisions.h"

namespace redouble::inline v0_1::sim {

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
  kGiveUp,
  kCrashInFlight,
  kPartitionRequests,
  kPartitionReplies,
  kPromote,
};

// What a fault affects: one request, the actor that sends it, or the server.
enum class FaultScope : uint8_t { kRequest, kActor, kServer };

// "request", "actor", "server".
std::string_view FaultScopeName(FaultScope scope);

// Where a fault can be injected.
enum class FaultSite : uint8_t {
  kWorld,     // A simulated world or a world file.
  kScenario,  // A step of a scenario.
  kServer,    // SIM FAULT of `redouble serve`.
  kStore,     // FaultyStore.
};

// The member of FaultRule that a fault reads.
enum class FaultParameter : uint8_t {
  kNone,
  kDuration,  // `duration`; "for" in world files.
  kSnapshot,  // `snapshot`.
  kCount,     // `count`.
  kError,     // `error`; the argument after the command in SIM FAULT.
  kServer,    // `server`.
};

// The parameter's name in world files; empty for kNone.
std::string_view FaultParameterName(FaultParameter parameter);

// A row of the table.
struct FaultSpec {
  Fault fault;
  std::string_view name;  // "drop_request"
  FaultScope scope;
  std::string_view effect;  // A sentence for help texts and for the documentation.
  FaultParameter parameter = FaultParameter::kNone;
  // A fault of a world that is also offered by scenarios, by SIM FAULT, or by FaultyStore.
  bool in_scenarios = false;
  bool in_server = false;
  bool in_stores = false;
  // All connections of the server break.
  bool breaks_connections = false;
  // The server has the data of an earlier time.
  bool restores_data = false;
  // Only in worlds with split events (Events::kSplit in sim/world/world.h).
  bool needs_split_events = false;
  // The earlier name in SIM FAULT, still accepted there; empty if there was no other name.
  std::string_view alias = {};

  bool AppliesTo(FaultSite site) const;
};

// All rows, in the order of the enum.
std::span<const FaultSpec> AllFaults();
// The rows that apply to `site`, in the order of the enum.
std::vector<const FaultSpec*> FaultsOf(FaultSite site);
const FaultSpec& SpecOf(Fault fault);
// Returns the row with exactly that name, or null.
const FaultSpec* FindFaultSpec(std::string_view name);
// Returns the row with that name among those that apply to `site`, or null.
const FaultSpec* FindFaultSpec(std::string_view name, FaultSite site);

// One fault, which requests it applies to, and how often.
struct FaultRule {
  Fault fault;

  // Which requests: every condition that is set must hold. A batch matches if any of its commands
  // matches `command` and `key`.
  std::string actor = {};                     // The actor's name.
  std::string command = {};                   // The command's name in any case: "XADD".
  std::string key = {};                       // A glob that one of its keys matches: "budget:*".
  absl::Time from = absl::InfinitePast();     // Inclusive, by the server's clock.
  absl::Time until = absl::InfiniteFuture();  // Exclusive.

  // How often: the n-th match, counted from 1, if `nth` is not zero; otherwise each match with
  // `probability`. At most `limit` times.
  int64_t nth = 0;
  double probability = 1;
  int64_t limit = INT64_MAX;

  // kDelay: how long the request is delayed. kCrash, kCrashInFlight: how long the actor stays down;
  // forever if infinite. kPartitionRequests, kPartitionReplies: how long the partition lasts.
  // kSkewClock: how far the actor's clock is ahead from then on. kStepClock: how far it
  // jumps. kRestartLosingTail: how much of the most recent time is lost.
  absl::Duration duration = absl::ZeroDuration();
  // kRestartFromSnapshot: the time of the snapshot that is restored.
  absl::Time snapshot = absl::InfinitePast();
  // kFailover: how many of the last writes are lost. kEvict: how many keys are evicted.
  int64_t count = 1;
  // kPromote: the name of the replica that takes over.
  std::string server = {};
  // kErrorReply: the text of the error reply, code first.
  // lint: one-home: a fault plan works on any store, without the engine
  std::string error = "OOM command not allowed when used memory > 'maxmemory'.";
};

class FaultPlan {
 public:
  FaultPlan() = default;
  explicit FaultPlan(std::vector<FaultRule> rules);

  // Returns the rule that fires for this request, or null. Each rule that is tried counts the
  // match, also if it does not fire; a rule with a probability between 0 and 1 asks `decisions`.
  // The rule is owned by the plan.
  const FaultRule* Draw(std::string_view actor, const store::Request& request, absl::Time now,
                        DecisionSource& decisions);
  // Returns true if a rule that counts its matches (`nth`, `limit`) matches this request.
  bool Counts(std::string_view actor, const store::Request& request, absl::Time now) const;
  // Returns true if any rule injects `fault`.
  bool Has(Fault fault) const;
  // No rule fires any more. What was counted stays.
  void Stop() { stopped_ = true; }
  // Returns true if no rule can fire.
  bool empty() const { return states_.empty() || stopped_; }
  // By rule, how many requests it was tried for and matched.
  std::vector<int64_t> matches() const;
  // By name, how often each fault was injected; without those that were not.
  std::map<std::string, int64_t> injected_by_name() const;
  // How many faults were injected.
  int64_t injected() const { return injected_; }

 private:
  struct State {
    FaultRule rule;
    int64_t matches = 0;
    int64_t fired = 0;
  };

  static bool Fires(State& state, DecisionSource& decisions);

  std::vector<State> states_;
  int64_t injected_ = 0;
  bool stopped_ = false;
};

// Swarm testing: draws which of the rules are enabled in a run (each with probability 1/2), and
// scales the probability of an enabled rule by a factor between 0.1 and 1. Runs that each have a
// different subset of the faults find more than runs in which all faults compete.
std::vector<FaultRule> DrawSwarm(std::span<const FaultRule> rules, base::Rng& rng);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_FAULT_FAULT_H_
