// WorldStep: one step of an actor of a world file.
//
// A world file's steps are the kinds "call", "command" and "advance" of scenarios
// (sim/scenario/scenario.h), without expectations, and five kinds of their own:
//
//   {"kind": "pipeline", "commands": [["SET", "p", "1"], ["SET", "q", "1"]]}
//   {"kind": "transaction", "commands": [["INCR", "n"], ["EXPIRE", "n", "60"]]}
//   {"kind": "repeat", "times": 3, "until": {"name": "job", "is_not": null}, "steps": [...]}
//   {"kind": "listen", "as": "news"}
//   {"kind": "move_slot", "key": "{user:7}", "from": "main", "to": "other"}
//
// "listen" binds each push that the actor's connection receives from then on, until the actor ends:
// the payload of a message, and any other push, such as an invalidated key, as an array.
//
// "move_slot" moves the slot of the key between two masters of a cluster: a request for each
// command that this takes (sim/cluster/slot_mover.h). A cluster has no "listen".
//
// A step that sends something may name the server that it goes to, if the world has several:
//
//   {"kind": "command", "command": ["GET", "k"], "server": "replica"}
//
// Each step may bind its reply, or its result, to a name, and may depend on what was bound before:
//
//   {"kind": "command", "command": ["RPOP", "jobs"], "as": "job"}
//   {"kind": "command", "command": ["SET", "done:${job}", "1"],
//    "if": {"name": "job", "is_not": null}}
//
// "${job}" means the text of the value, in the words of commands and in the arguments of
// calls; an argument that is nothing but "${job}" is the value itself. "${page[0]}" is the
// first element of an array, "${page[-1]}" the last one, and null if the array has no such element.
// A condition compares the value: "is", "is_not", "at_least" or "at_most". A request that got no
// reply, or an error reply, binds null. A repetition ends when "until" is true after a round, or
// after "times" rounds.
//
// Thread-safety: values.
#ifndef REDOUBLE_SIM_WORLD_FILE_WORLD_STEP_H_
#define REDOUBLE_SIM_WORLD_FILE_WORLD_STEP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/sim/operations/operation.h"
#include "redouble/sim/scenario/scenario.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {

// The values that one actor has bound, by name: the last one of each.
using BoundValues = std::map<std::string, Json, std::less<>>;

// A comparison with a bound value.
struct StepCondition {
  enum class Comparison { kIs, kIsNot, kAtLeast, kAtMost };
  std::string name;
  Comparison comparison;
  Json value;

  // Numbers are compared as numbers, also if they are texts. A value that is not bound is null.
  bool Holds(const BoundValues& bound) const;
};

struct WorldStep;

// {"kind": "pipeline", ...} or {"kind": "transaction", ...}
struct BatchStep {
  bool is_transaction;
  std::vector<std::vector<std::string>> commands;
  // As CommandStep::may_fail.
  bool may_fail = false;
};

// {"kind": "repeat", ...}
struct RepeatStep {
  int64_t times;
  std::optional<StepCondition> until;
  std::vector<WorldStep> steps;
};

// {"kind": "listen", ...}
struct ListenStep {};

// {"kind": "move_slot", ...}
struct MoveSlotStep {
  std::string key;
  std::string from;
  std::string to;
};

struct WorldStep {
  std::variant<CallStep, CommandStep, AdvanceStep, BatchStep, RepeatStep, ListenStep, MoveSlotStep>
      action;
  std::string as = {};  // Empty: the value is not bound.
  std::optional<StepCondition> condition = {};
  std::string server = {};  // Empty: the current master.
};

// The servers that steps can name.
struct StepServers {
  std::vector<std::string> all = {std::string(kMainServer)};
  std::vector<std::string> cluster_masters = {};  // Empty: the world is no cluster.
};

// Parses the steps of an actor, or of the setup if `in_actor` is false: these are calls, commands
// and advances without names and conditions. Errors:
// InvalidArgument with the JSON pointer, which begins with `path`; a name that no earlier step
// binds, or no server has, suggests the nearest one.
absl::StatusOr<std::vector<WorldStep>> ParseWorldSteps(const Json& json, std::string_view path,
                                                       const OperationTable& operations,
                                                       bool in_actor,
                                                       const StepServers& servers = {});

// Calls `visit` for each call of the steps, also of repeated ones.
void VisitCalls(std::vector<WorldStep>& steps, const std::function<void(CallStep&)>& visit);
void VisitCalls(const std::vector<WorldStep>& steps,
                const std::function<void(const CallStep&)>& visit);
// Adds the names that the steps bind.
void CollectNames(const std::vector<WorldStep>& steps, std::vector<std::string>& names);

// Returns the text with each ${name} and ${name[index]} replaced by its value.
std::string SubstituteText(std::string_view text, const BoundValues& bound);
// The same for every text in a JSON value.
Json Substitute(const Json& json, const BoundValues& bound);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_FILE_WORLD_STEP_H_
