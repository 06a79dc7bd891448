// Domain: what the domain replay has to know of a system.
//
// Thread-safety: a value.
#ifndef REDOUBLE_TESTS_GOLDEN_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_DOMAIN_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/scenario/backend.h"
#include "sim/scenario/operation.h"
#include "tests/golden/difference.h"
#include "tests/golden/golden.h"
#include "tests/golden/raw_replay.h"

namespace redouble::golden {

// What a step stands for where its name and arguments do not say it all: calls of operations, and
// who has its turn when.
struct Plan {
  struct Call {
    std::string actor;  // Any name where there is one call only.
    std::string operation;
    Json arguments;
  };
  struct Turn {
    std::string actor;
    bool to_its_end = false;  // All that the actor still sends; otherwise one request.
  };
  // One request of an actor: "SET relayna:event:t1:e1 NX", "EXEC[LPUSH ...,LTRIM ...]".
  struct Trip {
    std::string actor;
    std::string description;
  };

  // None: the step's commands are sent as they are, and its result is not looked at.
  std::vector<Call> calls = {};
  // What the recorder did off the record, in front of the step and behind it: these calls run one
  // after the other, to their ends; neither their commands nor their results are compared.
  std::vector<Call> before = {};
  std::vector<Call> afterwards = {};
  // Empty: the calls run one after the other.
  std::vector<Turn> turns = {};
  // Calls that are not done after the last turn are killed there, and give no result.
  bool ends_in_crash = false;
  // The step's result of the requests sent and the results by actor, errors as RaceError records
  // them. Empty: the result or error of the only call.
  std::function<Json(const std::vector<Trip>& trips, const Json& results)> record = {};
};

// An operation that failed, among the results of several: {"error": "Type: message"}.
using RaceError = std::function<Json(const absl::Status& status)>;

// One replay of a golden, of those that a system wants.
struct Pass {
  std::string name;  // For the place of a difference: "fixed_width".
  // Makes the operations ready for it. May be empty.
  std::function<void()> begin = {};
  // False: the commands that the operations send differ from the recorded ones as they should.
  bool compares_commands = true;
  // What is left in the end, when that is not what the golden says.
  std::optional<RecordedKeyspace> keyspace = std::nullopt;
};

struct Domain {
  // By the names that goldens call them.
  sim::OperationTable operations;
  // How the system's goldens record an operation that failed so: as its result, or as its error
  // member where the shape has one.
  std::function<Json(const absl::Status& status)> record_error;
  // Checks a table of inputs and outputs against the system's own functions, every row; the backend
  // is begun. Empty: the system's goldens have none.
  std::function<std::optional<Difference>(const Golden& golden, sim::ScenarioBackend& backend)>
      check_tables = {};
  // What the step at an index stands for. Empty: the operation of its name, with its arguments.
  std::function<absl::StatusOr<Plan>(const Golden& golden, size_t index)> plan = {};
  // Goldens of something that the system's seed does not have, which are skipped. Empty: none.
  std::function<bool(const Golden& golden)> is_newer_than_seed = {};
  // Of a system with plans.
  RaceError race_error = {};
  // The replays of a golden, one after the other, each on an empty server. Empty: one.
  std::function<std::vector<Pass>(const Golden& golden)> passes = {};
  // Compares an error with what was recorded, in place of record_error, where texts differ that
  // need not be equal.
  std::function<std::optional<Difference>(const RecordedStep& step, const absl::Status& status)>
      compare_error = {};
  // The form of a step's commands in which they are compared, where the original leaves the order
  // of some to chance. Empty: as they are.
  std::function<Json(Json commands)> canonical_commands = {};

  // The three below are for a system whose recorder did not call the operations by their names.
  // The steps as operations of the table and raw ones. Empty: as they are recorded; then raw
  // commands can be the beginnings of operations further down.
  std::function<std::vector<RecordedStep>(const Golden& golden)> translate = {};
  // Compares the commands of an operation, arrays of their words. Empty: exactly.
  std::function<std::optional<Difference>(const Json& recorded, const Json& sent,
                                          std::string_view path)>
      compare_commands = {};
  // Compares what came of an operation with a recorded result. Empty: exactly.
  std::function<std::optional<Difference>(const Json& recorded, const sim::OperationResult& result,
                                          std::string_view path)>
      compare_result = {};
  // Of a system whose goldens record commands and no operations: what is done in place of those
  // that stand for one. The replay is the raw one then, with these in it.
  Substitute substitute = {};
};

Domain DomainOf(System system);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_DOMAIN_H_
