// Domain: what the domain replay needs to know about a system.
//
// Thread-safety: a value.
#ifndef REDOUBLE_TESTS_GOLDEN_REPLAY_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_REPLAY_DOMAIN_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/sim/operations/operation.h"
#include "redouble/sim/scenario/backend.h"
#include "redouble/tests/golden/replay/difference.h"
#include "redouble/tests/golden/replay/golden.h"
#include "redouble/tests/golden/replay/raw_replay.h"

namespace redouble::inline v0_1::golden {

// How to replay a step whose name and arguments are not sufficient: the calls of operations, and
// the order of the actors' turns.
struct Plan {
  struct Call {
    std::string actor;  // Any name if there is only one call.
    std::string operation;
    Json arguments;
  };
  struct Turn {
    std::string actor;
    bool to_its_end = false;  // All remaining requests of the actor; otherwise one.
  };
  // One request of an actor: "SET relayna:event:t1:e1 NX", "EXEC[LPUSH ...,LTRIM ...]".
  struct Trip {
    std::string actor;
    std::string description;
  };

  // Empty: the commands of the step are sent unchanged, and its result is not compared.
  std::vector<Call> calls = {};
  // What the recorder did before and after the step without recording it. These calls run one after
  // another to their ends; their commands and results are not compared.
  std::vector<Call> before = {};
  std::vector<Call> afterwards = {};
  // Empty: the calls run one after another.
  std::vector<Turn> turns = {};
  // Calls that have not ended after the last turn are killed, and have no result.
  bool ends_in_crash = false;
  // Returns the result of the step from the requests sent and the results by actor, with errors in
  // the form of RaceError. Empty: the result or error of the only call.
  std::function<Json(const std::vector<Trip>& trips, const Json& results)> record = {};
};

// Returns a failure among several results: {"error": "Type: message"}.
using RaceError = std::function<Json(const absl::Status& status)>;

// One of the replays that a system needs of a golden.
struct Pass {
  std::string name;  // In the place of a difference: "fixed_width".
  // Prepares the operations. May be empty.
  std::function<void()> begin = {};
  // False if the commands of the operations differ from the recorded ones by design.
  bool compares_commands = true;
  // The keyspace at the end, if it differs from the golden's.
  std::optional<RecordedKeyspace> keyspace = std::nullopt;
};

struct Domain {
  // The operations, by their names in goldens.
  sim::OperationTable operations;
  // Returns a failed operation as the system's goldens record it: as its result, or as its error
  // member if the shape has one.
  std::function<Json(const absl::Status& status)> record_error;
  // Checks every row of a table of inputs and outputs against the system's own functions; the
  // backend has begun. Empty: the system's goldens have no tables.
  std::function<std::optional<Difference>(const Golden& golden, sim::ScenarioBackend& backend)>
      check_tables = {};
  // Returns the plan of the step at an index. Empty: the operation with the step's name and
  // arguments.
  std::function<absl::StatusOr<Plan>(const Golden& golden, size_t index)> plan = {};
  // Returns whether a golden records something that the system's seed does not have; it is then
  // skipped. Empty: no golden does.
  std::function<bool(const Golden& golden)> is_newer_than_seed = {};
  // For a system with plans.
  RaceError race_error = {};
  // Returns the replays of a golden; each runs on an empty server. Empty: one replay.
  std::function<std::vector<Pass>(const Golden& golden)> passes = {};
  // Compares an error with the recorded one, for systems whose texts may differ. Empty: by
  // record_error.
  std::function<std::optional<Difference>(const RecordedStep& step, const absl::Status& status)>
      compare_error = {};
  // Returns the commands of a step in a canonical order, if the original sends some in random
  // order. Empty: unchanged.
  std::function<Json(Json commands)> canonical_commands = {};

  // The next three are for a system whose recorder did not name the operations. Returns the steps
  // as operations of the table and raw commands. Empty: as recorded; raw commands may then be the
  // beginning of later operations.
  std::function<std::vector<RecordedStep>(const Golden& golden)> translate = {};
  // Compares the commands of an operation, arrays of words. Empty: they must be equal.
  std::function<std::optional<Difference>(const Json& recorded, const Json& sent,
                                          std::string_view path)>
      compare_commands = {};
  // Compares the result of an operation with a recorded one. Empty: they must be equal.
  std::function<std::optional<Difference>(const Json& recorded, const sim::OperationResult& result,
                                          std::string_view path)>
      compare_result = {};
  // For a system whose goldens record commands and no operations: replaces the commands that
  // represent an operation. The replay is the raw one with these replacements.
  Substitute substitute = {};
};

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_REPLAY_DOMAIN_H_
