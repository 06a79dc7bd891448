// Golden: what was recorded of a system on a real Redis, in one form for all five systems.
//
// A golden is a JSON file that holds operations with their arguments, results, raw commands and
// replies, and the keyspace that they left. Each system's recorder wrote its own shape; here they
// become one: steps of commands, each with what is known of its outcome. README.md describes the
// shapes and the rules; this is the same thing in C++, read strictly: a member that a shape does
// not have, or one that it lacks, is refused with its JSON path and what was expected there.
//
//   absl::StatusOr<Golden> golden = ParseGolden(text, "x.json", System::kGateway);
//   golden->steps[0].commands[2].words;  // {"EXPIRE", "rl:req:...", "70"}
//
// Texts of a golden are the bytes themselves, in UTF-8; sim's "bytes:" form is not known here.
//
// Thread-safety: values.
#ifndef REDOUBLE_TESTS_GOLDEN_GOLDEN_H_
#define REDOUBLE_TESTS_GOLDEN_GOLDEN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sim/scenario/operation.h"

namespace redouble::golden {

using sim::Json;

enum class System { kGateway, kOrchestrator, kRelayna, kKorvet, kThreescale };

// The system called `name` ("gateway"); none for any other name.
std::optional<System> FindSystem(std::string_view name);
// "gateway"
std::string_view SystemName(System system);
// All names, as a command line lists them: "gateway|orchestrator|...".
std::string SystemNames();

struct RecordedCommand {
  std::string path;        // A JSON pointer into the file: "/ops/0/commands/2".
  std::string connection;  // Empty: the main one.
  std::vector<std::string> words;
  std::optional<Json> reply;  // None: it was not recorded.
  std::string reply_path;     // Where it stands.
  std::string script = {};    // The name that "EVAL @name" gave; empty for any other command.
};

struct RecordedKey {
  std::string type;
  Json value;
  int64_t ttl;  // As TTL: whole seconds, -1 for none.
};
using RecordedKeyspace = std::map<std::string, RecordedKey>;

// An operation, or whatever else the recorder did in one go.
struct RecordedStep {
  std::string path;  // "/ops/0" or "/steps/0".
  std::string op;    // Empty where the recorder names none.
  Json arguments = Json::object();
  std::optional<Json> result;
  std::optional<Json> error;  // Of a shape that keeps errors apart from results.
  std::vector<RecordedCommand> commands;
  std::optional<absl::Duration> at;          // Since the start.
  std::optional<std::string> now;            // The time of the step, of a shape that has it.
  std::optional<RecordedKeyspace> keyspace;  // Behind the step.
  Json messages = Json::array();  // {"conn": "@ui", "message": [...]}, what subscribers got.
};

struct Golden {
  std::string file;
  std::string name;
  System system;
  absl::Time start;  // The first time that an operation names.
  std::vector<RecordedStep> steps;
  std::optional<RecordedKeyspace> keyspace;  // Behind the last step; none: only the steps' own.
  // The members of a file that is a table of inputs and outputs: "rows" and their like.
  std::map<std::string, Json> tables;
  std::optional<Json> published;  // {"channel": ..., "message": ...} in order.
  // Members that say how the recorded system was configured, of a shape that has them.
  Json settings = Json::object();
  // The keyspace as the seed's own format of keys has it, where that is another one.
  std::optional<RecordedKeyspace> seed_keyspace = std::nullopt;
};

// Scripts by name, which commands "EVAL @name" stand for.
using Scripts = std::map<std::string, std::string, std::less<>>;

// Reads a golden of the system's shape. `scripts` are those of scripts.json beside the file, for
// the system that has one. InvalidArgument ("/ops/0: expected the member \"op\"") for anything
// else.
absl::StatusOr<Golden> ParseGolden(std::string_view text, std::string_view file, System system,
                                   const Scripts& scripts = {});

// Reads a scripts.json: an object of texts. InvalidArgument for anything else.
absl::StatusOr<Scripts> ParseScripts(std::string_view text);

// The name of the file that holds the scripts of the goldens beside it.
inline constexpr std::string_view kScriptsFile = "scripts.json";

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_GOLDEN_H_
