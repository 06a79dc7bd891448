// Scenario: a replay as data, and the parser of its JSON file.
//
// A scenario is a start time and a list of steps: operations of a system, commands, time, faults,
// and what must come of them. scenarios/README.md describes the format with an example per kind of
// step; this is the same thing in C++, read strictly: an unknown field, a name given twice, an
// operation that the system does not have, a started call that is never finished are all refused,
// and the error says where:
//
//   scenarios/gateway/x.json: step 3: /steps/3/keys/visits/ttl_ms: expected an integer, got "70"
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

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/store/errors.h"
#include "sim/scenario/fault.h"
#include "sim/scenario/operation.h"

namespace redouble::sim {

// The system of files that have commands only.
inline constexpr std::string_view kCommandsOnly = "redis";

// The client that calls and commands belong to when a step names none.
inline constexpr std::string_view kDefaultClient = "main";

// What must come of an operation. Neither: any success.
struct CallExpectation {
  std::optional<Json> result;
  // Some of "code", "kind", "message" (exact) and "contains" (part of the message).
  std::optional<Json> error;
};

// An operation with its arguments, on a client's connection.
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

// {"kind": "start", "call": "first", ...}: starts an operation that sends nothing until told.
struct StartStep {
  std::string call;
  OperationCall operation;
};

// {"kind": "step", "call": "first"}: lets a started call send the command or batch that it holds.
struct ReleaseStep {
  std::string call;
  // What it must be about to send, one command per element, MULTI and EXEC included; none: any.
  std::optional<Json> sends;
};

// {"kind": "finish", "call": "first"}: lets a started call send all that is left.
struct FinishStep {
  std::string call;
  CallExpectation expectation;
};

// {"kind": "command", "command": ["GET", "k"], "expect": "v"}
struct CommandStep {
  std::string client;
  std::vector<std::string> words;
  // As reply_json.h says, normalized. None: any reply but an error.
  std::optional<Json> reply;
};

// {"kind": "advance", "by": "1m30s"} or {"kind": "advance", "to": "2026-05-10T00:00:00Z"}
struct AdvanceStep {
  std::optional<absl::Duration> by;
  std::optional<absl::Time> to;
};

// {"kind": "fault", "fault": "restart", "in_flight": "outcome unknown"}
struct FaultStep {
  const FaultKind* fault;
  std::optional<store::ErrorKind> in_flight;
};

// What one key must be.
struct KeyExpectation {
  std::string type;
  Json value;                     // Normalized.
  std::optional<int64_t> ttl_ms;  // As PTTL.
  std::optional<int64_t> ttl;     // As TTL: seconds, rounded. Neither: the key never expires.
};

// {"kind": "expect_keyspace", "keys": {...}}
struct KeyspaceStep {
  // By key, not encoded; none: the key must not exist.
  std::map<std::string, std::optional<KeyExpectation>> keys;
  // Whether there may be other keys.
  bool subset;
};

struct Step {
  std::string kind;
  std::variant<CallStep, StartStep, ReleaseStep, FinishStep, CommandStep, AdvanceStep, FaultStep,
               KeyspaceStep>
      action;
};

struct Scenario {
  std::string file;  // As given to ParseScenario.
  std::string name;
  std::string description;
  std::string system;
  absl::Time start;
  uint64_t seed;
  std::vector<Step> steps;
};

// Reads a scenario. `file` is put before each error. `systems` must outlive the scenario; a
// scenario of the system "redis" has commands only.
// Errors: InvalidArgument, as above, for the first thing that is wrong.
absl::StatusOr<Scenario> ParseScenario(std::string_view text, std::string_view file,
                                       const SystemTable& systems);

// Reads a list of steps that stands in a file of another kind, at the JSON pointer `path`. Errors
// as ParseScenario's, without the file.
absl::StatusOr<std::vector<Step>> ParseSteps(const Json& steps, std::string_view path,
                                             const OperationTable& operations);

// The kinds of step, in the order of scenarios/README.md.
std::vector<std::string_view> StepKinds();

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SCENARIO_SCENARIO_H_
