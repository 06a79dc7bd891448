// Golden: a recording of a system on real Redis, in one form for all systems.
//
// A golden is a JSON file with operations, their arguments and results, raw commands with replies,
// and the resulting keyspace. Each system's recorder has its own format; all are converted to one
// form: steps of commands, with what is known about their outcome. README.md describes the formats
// and the rules. The parser is strict: an unknown or missing member is an error with its JSON path
// and the expected value.
//
//   absl::StatusOr<Golden> golden = ParseGolden(text, "x.json", System::kGateway);
//   golden->steps[0].commands[2].words;  // {"EXPIRE", "rl:req:...", "70"}
//
// The texts of a golden are the bytes themselves, in UTF-8; the "bytes:" form of sim/json/bytes.h
// has no meaning here.
//
// Thread-safety: values.
#ifndef REDOUBLE_TESTS_GOLDEN_REPLAY_GOLDEN_H_
#define REDOUBLE_TESTS_GOLDEN_REPLAY_GOLDEN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::golden {

using sim::Json;

enum class System { kGateway, kOrchestrator, kRelayna, kKorvet, kThreescale };

// Returns the system with that name ("gateway"), or nullopt.
std::optional<System> FindSystem(std::string_view name);
// Returns "gateway", ...
std::string_view SystemName(System system);
// Returns all names as a command line lists them: "gateway|orchestrator|...".
std::string SystemNames();

struct RecordedCommand {
  std::string path;        // A JSON pointer into the file: "/ops/0/commands/2".
  std::string connection;  // Empty: the main connection.
  std::vector<std::string> words;
  std::optional<Json> reply;  // Nullopt if it was not recorded.
  std::string reply_path;     // The path of the reply.
  std::string script = {};    // The name in "EVAL @name"; empty for any other command.
};

struct RecordedKey {
  std::string type;
  Json value;
  int64_t ttl;  // As TTL: whole seconds, -1 without TTL.
};
using RecordedKeyspace = std::map<std::string, RecordedKey>;

// An operation, or another unit of recording.
struct RecordedStep {
  std::string path;  // "/ops/0" or "/steps/0".
  std::string op;    // Empty if the recorder gave no name.
  Json arguments = Json::object();
  std::optional<Json> result;
  std::optional<Json> error;  // In formats with errors beside results.
  std::vector<RecordedCommand> commands;
  std::optional<absl::Duration> at;          // Since the start.
  std::optional<std::string> now;            // The time of the step, in formats that have it.
  std::optional<RecordedKeyspace> keyspace;  // After the step.
  Json messages = Json::array();  // {"conn": "@ui", "message": [...]}: what subscribers received.
};

struct Golden {
  std::string file;
  std::string name;
  System system;
  absl::Time start;  // The first time that an operation names.
  std::vector<RecordedStep> steps;
  std::optional<RecordedKeyspace> keyspace;  // After the last step; nullopt if only steps have one.
  // The members of a file that is a table of inputs and outputs: "rows" and similar.
  std::map<std::string, Json> tables;
  std::optional<Json> published;  // {"channel": ..., "message": ...} in order.
  // The configuration of the recorded system, in formats that have it.
  Json settings = Json::object();
  // The keyspace in the key format of the seed, if that differs.
  std::optional<RecordedKeyspace> seed_keyspace = std::nullopt;
};

// Scripts by name; the command "EVAL @name" runs the script with that name.
using Scripts = std::map<std::string, std::string, std::less<>>;

// Parses a golden in the system's format. `scripts` are those of the scripts.json beside the file,
// if the system has one. Errors: InvalidArgument ("/ops/0: expected the member \"op\"").
absl::StatusOr<Golden> ParseGolden(std::string_view text, std::string_view file, System system,
                                   const Scripts& scripts = {});

// Parses a scripts.json, an object of texts. Errors: InvalidArgument for anything else.
absl::StatusOr<Scripts> ParseScripts(std::string_view text);

// The name of the file with the scripts of the goldens beside it.
inline constexpr std::string_view kScriptsFile = "scripts.json";

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_REPLAY_GOLDEN_H_
