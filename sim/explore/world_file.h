// WorldFile: a small simulated system as data, without a schedule: what redouble explore runs.
//
//   {
//     "name": "Two requests at the edge of one budget are both let in",
//     "description": "Each checks before either reserves.",
//     "source": "gateway.md 7 R3",
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
// Steps are those of scenarios (scenarios/README.md): "call", "command" and "advance", without
// expectations; an actor's "advance" is a sleep. Invariants: invariant.h. Faults: the rows of
// sim/fault/fault.h with the fields of FaultRule (durations as "1m30s", moments in RFC 3339;
// "for" is `duration`). What "hardened" gives for an operation is merged into the arguments of its
// calls when the hardened world is asked for; "$actor" stands for the name of the actor that calls.
// Where the remedy is another operation, "hardened_actors" has, by actor, the steps that it takes
// instead of its own:
//
//   "hardened_actors": {"first": [{"kind": "call", "operation": "approve", "arguments": {...}}]}
//
// A file that redouble explore wrote has a "violation" too, which redouble replay repeats:
//
//   "violation": {"seed": 7, "decisions": [0, 2], "hardened": false, "swarm": false,
//                 "broke": "results: ...", "trace_hash": "..."}
//
// Thread-safety: values.
#ifndef REDOUBLE_SIM_EXPLORE_WORLD_FILE_H_
#define REDOUBLE_SIM_EXPLORE_WORLD_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sim/explore/invariant.h"
#include "sim/fault/fault.h"
#include "sim/scenario/operation.h"
#include "sim/scenario/scenario.h"

namespace redouble::sim {

struct WorldActor {
  std::string name;
  std::vector<Step> steps;
};

// A violation that was found, to be repeated.
struct RecordedViolation {
  uint64_t seed;
  std::vector<uint32_t> decisions;
  bool hardened;
  bool swarm;
  std::string broke;  // What Violation::status says.
  std::string trace_hash;
};

struct WorldFile {
  std::string file;
  std::string name;
  std::string description;
  std::string source;
  std::string system;
  absl::Time start;
  std::vector<Step> setup;
  std::vector<WorldActor> actors;
  std::vector<FaultRule> faults;
  std::vector<std::shared_ptr<const WorldInvariant>> invariants;
  // Rare places that runs should reach: what holds there, in the terms of invariants.
  std::vector<std::shared_ptr<const WorldInvariant>> probes;
  // By operation, what the hardened world adds to its arguments; null when there is no such option.
  Json hardened;
  // The actors of the hardened world that do something else, with what they do.
  std::vector<WorldActor> hardened_actors;
  std::optional<RecordedViolation> violation;
  // The whole file, to be written again with a violation.
  Json json;

  // The file says how the hazard is removed.
  bool has_remedy() const { return hardened.is_object() || !hardened_actors.empty(); }
  // The steps of that actor in the hardened world, where they are others; null where they are not.
  const WorldActor* FindHardenedActor(std::string_view name) const;
};

// Whether the text is a world's rather than a scenario's: an object with "actors". Text that is no
// JSON is not.
bool IsWorldFile(std::string_view text);

// Reads a world. `file` is put before each error; `systems` must outlive the result.
// Errors: InvalidArgument, for the first thing that is wrong, with its JSON pointer.
absl::StatusOr<WorldFile> ParseWorldFile(std::string_view text, std::string_view file,
                                         const SystemTable& systems);

// The text of the file with this violation in it.
std::string WithViolation(const WorldFile& world, const RecordedViolation& violation);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_EXPLORE_WORLD_FILE_H_
