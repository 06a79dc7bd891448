// Scenario: a replay as data, and the parser of its JSON file.
//
// A scenario is a start time and a list of steps: operations of a system, commands, time, faults,
// and the expected results. scenarios/README.md describes the format with an example for each kind
// of step; these are the same steps in C++. Parsing is strict: an unknown field, a duplicate name,
// an operation that the system does not have, or a started call that is never finished is an error.
// All errors of a file are listed, a line for each, with its place:
//
//   x.json: step 3: /steps/3/keys/visits/ttl_ms: expected an integer, got "70"
//   x.json: step 5: /steps/5/comand: unknown; did you mean "command"?; known here: client, command,
//   expect, kind, note
//
//   absl::StatusOr<Scenario> scenario = ParseScenario(text, "x.json", systems);
//
// Thread-safety: values.
#ifndef REDOUBLE_SIM_SCENARIO_SCENARIO_H_
#define REDOUBLE_SIM_SCENARIO_SCENARIO_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/table/version.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::sim {

// The system name of scenarios that contain only commands.
inline constexpr std::string_view kCommandsOnly = "redis";

// The client of calls and commands that do not name one.
inline constexpr std::string_view kDefaultClient = "main";

// The expected outcome of an operation. If neither is set, any success is accepted.
struct CallExpectation {
  std::optional<Json> result;
  // An object with "code", "kind", "message" (exact) or "contains" (a part of the message).
  std::optional<Json> error;
};

// An operation with its arguments and the client whose connection it uses.
struct OperationCall {
  std::string client;
  std::string name;
  const Operation* operation;  // Owned by the SystemTable.
  Json arguments;
};

// {"kind": "call", ...}: runs an operation to its end.
struct CallStep {
  OperationCall call;
  CallExpectation expectation;
};

// {"kind": "start", "call": "first", ...}: starts an operation whose commands are held.
struct StartStep {
  std::string call;
  OperationCall operation;
};

// {"kind": "step", "call": "first"}: sends the command or batch that a started call holds.
struct ReleaseStep {
  std::string call;
  // The commands that it must be about to send, MULTI and EXEC included; nullopt accepts any.
  std::optional<Json> sends;
};

// {"kind": "finish", "call": "first"}: runs a started call to its end.
struct FinishStep {
  std::string call;
  CallExpectation expectation;
};

// {"kind": "command", "command": ["GET", "k"], "expect": "v"}
struct CommandStep {
  std::string client;
  std::vector<std::string> words;
  // As in sim/json/reply_json.h, normalized. Nullopt: any reply except an error.
  std::optional<Json> reply;
  // Without an expectation, an error reply is allowed as well.
  bool may_fail = false;
};

// {"kind": "advance", "by": "1m30s"} or {"kind": "advance", "to": "2026-05-10T00:00:00Z"}
struct AdvanceStep {
  std::optional<absl::Duration> by;
  std::optional<absl::Time> to;
};

// {"kind": "fault", "fault": "restart", "in_flight": "outcome unknown"}
struct FaultStep {
  const FaultSpec* fault;
  std::optional<store::ErrorKind> in_flight;
};

// The expected state of one key.
struct KeyExpectation {
  std::string type;
  Json value;                     // Normalized.
  std::optional<int64_t> ttl_ms;  // The reply of PTTL.
  // The reply of TTL: seconds, rounded. If neither is set, the key must not expire.
  std::optional<int64_t> ttl;
};

// {"kind": "expect_keyspace", "keys": {...}}
struct KeyspaceStep {
  // By key, not encoded; nullopt: the key must not exist.
  std::map<std::string, std::optional<KeyExpectation>> keys;
  // Other keys may exist.
  bool subset;
};

// One step: its `kind` in the file, and what it does.
struct Step {
  std::string kind;
  std::variant<CallStep, StartStep, ReleaseStep, FinishStep, CommandStep, AdvanceStep, FaultStep,
               KeyspaceStep>
      action;
};

struct Scenario {
  std::string file;  // As passed to ParseScenario.
  std::string name;
  std::string description;
  std::string system;
  absl::Time start;
  uint64_t seed;
  std::optional<store::Version> compatibility;  // The version that it needs.
  std::vector<Step> steps;
};

// Parses a scenario. Each error starts with `file`. `systems` must outlive the scenario; a scenario
// of the system "redis" contains only commands. Errors: InvalidArgument, as above.
absl::StatusOr<Scenario> ParseScenario(std::string_view text, std::string_view file,
                                       const SystemTable& systems);

// Parses a list of steps from a file of another kind, at the JSON pointer `path`. Errors as for
// ParseScenario, without the file.
absl::StatusOr<std::vector<Step>> ParseSteps(const Json& steps, std::string_view path,
                                             const OperationTable& operations);

// Reads the optional field "compatibility", such as "redis-8.0"; refuses an unknown version.
std::optional<store::Version> ReadCompatibility(ArgumentReader& fields);

// Returns what is wrong with a file's system, which is missing or not in `systems`, and the list of
// those that are.
std::string UnknownSystem(const std::optional<std::string>& name, const SystemTable& systems);

// Returns the error with `file` before each of its lines.
absl::Status WithFile(const absl::Status& status, std::string_view file);

// Returns the kinds of steps, in the order of scenarios/README.md.
std::vector<std::string_view> StepKinds();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SCENARIO_SCENARIO_H_
