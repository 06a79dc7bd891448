// WorldFile: a small simulated system as data, without a schedule: the input of `redouble explore`.
//
// Use it to describe a hazard: the actors' steps, the faults that may happen, and the invariants
// that must hold. The explorer searches for a schedule that violates an invariant.
//
//   {
//     "name": "Two requests at the edge of one budget are both admitted",
//     "description": "Both check the budget before either reserves.",
//     "source": "docs/systems/gateway.md R3",
//     "system": "gateway",
//     "start": "2026-05-09T14:03:02Z",
//     "setup": [{"kind": "call", "operation": "add_budget_spend", "arguments": {...}}],
//     "actors": {
//       "first": [{"kind": "call", "operation": "check_and_reserve_budget", "arguments": {...}}],
//       "second": [{"kind": "command", "command": ["GET", "k"]}, {"kind": "advance", "by": "5s"}]
//     },
//     "faults": [{"fault": "crash", "actor": "first", "probability": 0.2, "for": "10s"}],
//     "invariants": [{"kind": "results", "operation": "check_and_reserve_budget",
//                     "where": {"decision": "Allowed"}, "at_most": 1}],
//     "hardened": {"check_and_reserve_budget": {"atomic_check_and_reserve": true}}
//   }
//
// Steps: sim/world_file/world_step.h; an actor's "advance" is a sleep. Invariants:
// sim/world_file/invariant.h. Faults: the rows of sim/fault/fault.h with the members of FaultRule
// (durations as "1m30s", times in RFC 3339; "for" is `duration`). "hardened" lists, by operation,
// the arguments that the hardened world adds to its calls; the text "$actor" is replaced by the
// name of the calling actor. An actor that sends commands has no option: "hardened_actors" lists,
// by actor, the steps that replace its own:
//
//   "hardened_actors": {"first": [{"kind": "command", "command": ["SET", "k", "1", "NX"]}]}
//
// By default a request is one step of the schedule. These members make worlds finer
// (sim/world/world.h):
//
//   "events": "split", "clock_moves": 2, "request_timeout": "5s"
//
// "servers" lists further servers, which steps and invariants name; the first one is called "main".
// A replica applies the writes of its master later, at turns of its own. The fault "promote" makes
// it the master. Without a "server", a step goes to the current master:
//
//   "servers": {"other": {}, "replica": {"replica_of": "main"}},
//   "faults": [{"fault": "promote", "server": "replica", "nth": 3}]
//
// With "cluster", the masters are the nodes of a Redis Cluster. A step without a "server" is sent
// by a client that follows the slots (sim/cluster/cluster_store.h); the setup and the invariants
// see all nodes as one. The step "move_slot" moves a slot:
//
//   "cluster": true, "servers": {"other": {}},
//   "actors": {"mover": [{"kind": "move_slot", "key": "{b}", "from": "main", "to": "other"}], ...}
//
// "daemons" lists actors that do not keep the world running; they repeat their steps.
//
// A file written by `redouble explore` also has a "violation", which `redouble replay` repeats:
//
//   "violation": {"seed": 7, "decisions": [0, 2], "hardened": false, "swarm": false,
//                 "broke": "results: ...", "trace_hash": "..."}
//
// Thread-safety: values.
#ifndef REDOUBLE_SIM_WORLD_FILE_WORLD_FILE_H_
#define REDOUBLE_SIM_WORLD_FILE_WORLD_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/store/table/version.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/operations/operation.h"
#include "redouble/sim/world/world.h"
#include "redouble/sim/world_file/invariant.h"
#include "redouble/sim/world_file/world_step.h"

namespace redouble::inline v0_1::sim {

// An actor of a world file: its steps run in order, as one client.
struct WorldActor {
  std::string name;
  std::vector<WorldStep> steps;
  bool is_daemon = false;
};

// A violation that was found and can be repeated.
struct RecordedViolation {
  uint64_t seed;
  std::vector<uint32_t> decisions;
  bool hardened;
  bool swarm;
  std::string broke;  // Violation::status as text.
  std::string trace_hash;
};

struct WorldFile {
  std::string file;
  std::string name;
  std::string description;
  std::string source;
  std::string system;
  absl::Time start;
  std::vector<WorldStep> setup;
  std::vector<WorldActor> actors;
  // The version that it needs.
  std::optional<store::Version> compatibility;
  // As the members of WorldOptions.
  Events events = Events::kAtomic;
  int clock_moves = 0;
  absl::Duration request_timeout = absl::InfiniteDuration();
  std::vector<ServerOptions> servers;  // Replicas come last.
  bool cluster = false;
  std::vector<FaultRule> faults;
  std::vector<std::shared_ptr<const WorldInvariant>> invariants;
  // Conditions that at least some runs should reach, in the form of invariants.
  std::vector<std::shared_ptr<const WorldInvariant>> probes;
  // By operation, the arguments that the hardened world adds; null if there are none.
  Json hardened;
  // The actors that have other steps in the hardened world, with those steps.
  std::vector<WorldActor> hardened_actors;
  std::optional<RecordedViolation> violation;
  // The whole file, for WithViolation.
  Json json;

  // Returns true if the file describes how to remove the hazard.
  bool has_remedy() const { return hardened.is_object() || !hardened_actors.empty(); }
  // Returns the actor with its steps in the hardened world; null if they are the same.
  const WorldActor* FindHardenedActor(std::string_view name) const;
};

// Returns true if the text is a world rather than a scenario: a JSON object with "actors". Returns
// false if the text is not JSON.
bool IsWorldFile(std::string_view text);

// Parses a world file. Each error starts with `file`; `systems` must outlive the result. Errors:
// InvalidArgument for the first mistake, with its JSON pointer.
absl::StatusOr<WorldFile> ParseWorldFile(std::string_view text, std::string_view file,
                                         const SystemTable& systems);

// Returns the text of the file with this violation added.
std::string WithViolation(const WorldFile& world, const RecordedViolation& violation);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_FILE_WORLD_FILE_H_
