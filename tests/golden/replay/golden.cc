#include "redouble/tests/golden/replay/golden.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "redouble/core/base/json/json_reading.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::golden {
namespace {

using base::PointerPart;

constexpr std::array<std::pair<System, std::string_view>, 5> kSystems = {{
    {System::kGateway, "gateway"},
    {System::kOrchestrator, "orchestrator"},
    {System::kRelayna, "relayna"},
    {System::kKorvet, "korvet"},
    {System::kThreescale, "threescale"},
}};

// The start of files without a time of their own.
constexpr std::string_view kDefaultStart = "2026-01-01T12:00:00Z";

std::string At(std::string_view path, std::string_view name) {
  return absl::StrCat(base::ToAbsl(path), PointerPart(name));
}

std::string At(std::string_view path, size_t index) {
  return absl::StrCat(base::ToAbsl(path), "/", index);
}

absl::Status Wrong(std::string_view path, std::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(path.empty() ? "the file" : base::ToAbsl(path),
                                                 ": expected ", base::ToAbsl(expected)));
}

absl::Status Wrong(std::string_view path, std::string_view expected, const Json& got) {
  return Wrong(path, absl::StrCat(base::ToAbsl(expected), ", got ", base::Abbreviated(got)));
}

// The members of an object: required and optional ones.
struct Members {
  std::vector<std::string_view> required;
  std::vector<std::string_view> optional;
  // Other members are remarks of the recorder for people.
  bool others = false;
};

std::string Describe(const Members& members) {
  const auto quoted = [](std::string* out, std::string_view name) {
    absl::StrAppend(out, "\"", base::ToAbsl(name), "\"");
  };
  std::string text = absl::StrJoin(members.required, ", ", quoted);
  if (!members.optional.empty()) {
    absl::StrAppend(&text, " and maybe ", absl::StrJoin(members.optional, ", ", quoted));
  }
  return text;
}

absl::Status CheckMembers(const Json& json, const Members& members, std::string_view path) {
  if (!json.is_object()) return Wrong(path, absl::StrCat("an object of ", Describe(members)), json);
  for (const std::string_view name : members.required) {
    if (!json.contains(name)) {
      return Wrong(path, absl::StrCat("the member \"", base::ToAbsl(name), "\" (the shape is ",
                                      Describe(members), ")"));
    }
  }
  if (members.others) return absl::OkStatus();
  for (const auto& [name, value] : json.items()) {
    const auto is_name = [&n = name](std::string_view known) { return known == n; };
    if (std::any_of(members.required.begin(), members.required.end(), is_name)) continue;
    if (std::any_of(members.optional.begin(), members.optional.end(), is_name)) continue;
    return Wrong(path,
                 absl::StrCat("no member \"", name, "\" (the shape is ", Describe(members), ")"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ReadWords(const Json& json, std::string_view path) {
  const auto is_text = [](const Json& word) { return word.is_string(); };
  if (!json.is_array() || json.empty() || !std::all_of(json.begin(), json.end(), is_text)) {
    return Wrong(path, "a command, an array of texts", json);
  }
  return json.get<std::vector<std::string>>();
}

absl::StatusOr<RecordedKeyspace> ReadKeyspace(const Json& json, std::string_view path) {
  if (!json.is_object()) return Wrong(path, "an object of keys", json);
  RecordedKeyspace keyspace;
  for (const auto& [key, entry] : json.items()) {
    const std::string entry_path = At(path, key);
    if (absl::Status status = CheckMembers(entry, {{"type", "value", "ttl"}, {}}, entry_path);
        !status.ok()) {
      return status;
    }
    if (!entry["type"].is_string()) return Wrong(At(entry_path, "type"), "a text", entry["type"]);
    if (!entry["ttl"].is_number_integer() || entry["ttl"] < -1) {
      return Wrong(At(entry_path, "ttl"), "whole seconds, or -1 for none", entry["ttl"]);
    }
    keyspace[key] = RecordedKey{entry["type"], entry["value"], entry["ttl"]};
  }
  return keyspace;
}

// Parses one kind of file.
class Parser {
 public:
  Parser(Golden& golden, const Scripts& scripts) : golden_(golden), scripts_(scripts) {}

  absl::Status Parse(const Json& file) {
    switch (golden_.system) {
      case System::kGateway:
      case System::kKorvet:
        return ParseRepliesFile(file);
      case System::kRelayna:
        return ParseMonitorFile(file);
      case System::kThreescale:
        return file.contains("steps") ? ParseRaceFile(file) : ParseRoundTripsFile(file);
      case System::kOrchestrator:
        return ParseTimelineFile(file);
    }
    return absl::InternalError("unknown system");
  }

 private:
  using StepReader = absl::Status (Parser::*)(const Json& json, RecordedStep& step);

  // Gateway and korvet: operations of commands with their replies; or a table.
  absl::Status ParseRepliesFile(const Json& file) {
    Members members{{"name", "ops", "keyspace"}, {"description", "rows"}};
    // A file without operations is a table; its check knows its columns.
    members.others = file.is_object() && file.contains("ops") && file["ops"].empty();
    REDOUBLE_RETURN_IF_ERROR(CheckMembers(file, members, ""));
    for (const auto& [name, value] : file.items()) {
      if (name == "ops" || name == "keyspace" || name == "name" || name == "description") continue;
      golden_.tables[name] = value;
    }
    return ParseCommon(file, "ops", &Parser::ReadRepliesStep);
  }

  absl::Status ReadRepliesStep(const Json& json, RecordedStep& step) {
    const Members members{{"op", "commands"}, {"args", "result", "note"}};
    REDOUBLE_RETURN_IF_ERROR(CheckMembers(json, members, step.path));
    REDOUBLE_RETURN_IF_ERROR(ReadOperation(json, step));
    if (step.arguments.contains("now")) NoteTime(step.arguments["now"]);
    const std::string path = At(step.path, "commands");
    if (!json["commands"].is_array()) return Wrong(path, "an array", json["commands"]);
    for (size_t i = 0; i < json["commands"].size(); ++i) {
      const Json& command = json["commands"][i];
      const std::string place = At(path, i);
      if (absl::Status status = CheckMembers(command, {{"cmd", "reply"}, {}}, place);
          !status.ok()) {
        return status;
      }
      REDOUBLE_RETURN_IF_ERROR(AddCommand(command["cmd"], At(place, "cmd"), step));
      NoteReply(command["reply"], place, At(place, "reply"), step.commands.back());
    }
    return absl::OkStatus();
  }

  // Relayna: operations with the output of MONITOR, and maybe the options of the stores.
  absl::Status ParseMonitorFile(const Json& file) {
    const Members members{{"name", "ops", "keyspace", "published"}, {"source", "notes", "config"}};
    REDOUBLE_RETURN_IF_ERROR(CheckMembers(file, members, ""));
    if (file.contains("config")) {
      if (!file["config"].is_object()) return Wrong("/config", "an object", file["config"]);
      golden_.settings["config"] = file["config"];
    }
    if (!file["published"].is_array()) {
      return Wrong("/published", "an array of messages", file["published"]);
    }
    golden_.published = file["published"];
    return ParseCommon(file, "ops", &Parser::ReadMonitorStep);
  }

  absl::Status ReadMonitorStep(const Json& json, RecordedStep& step) {
    const Members members{{"op", "args", "now", "commands"}, {}, /*others=*/true};
    REDOUBLE_RETURN_IF_ERROR(CheckMembers(json, members, step.path));
    REDOUBLE_RETURN_IF_ERROR(ReadOperation(json, step));
    NoteTime(json["now"]);
    if (json["now"].is_string()) step.now = json["now"];
    return AddCommands(json["commands"], At(step.path, "commands"), step);
  }

  // Threescale: operations with their round trips; a trip of several commands is a pipeline.
  absl::Status ParseRoundTripsFile(const Json& file) {
    const Members members{
        {"name", "ops", "keyspace"},
        {"source", "note", "redis", "memoizer", "config", "keyspace_seed_format"}};
    REDOUBLE_RETURN_IF_ERROR(CheckMembers(file, members, ""));
    for (const char* name : {"memoizer", "config"}) {
      if (file.contains(name)) golden_.settings[name] = file[name];
    }
    if (file.contains("keyspace_seed_format")) {
      REDOUBLE_ASSIGN_OR_RETURN(
          RecordedKeyspace keyspace,
          ReadKeyspace(file["keyspace_seed_format"], "/keyspace_seed_format"));
      golden_.seed_keyspace = std::move(keyspace);
    }
    return ParseCommon(file, "ops", &Parser::ReadRoundTripsStep);
  }

  absl::Status ReadRoundTripsStep(const Json& json, RecordedStep& step) {
    const Members members{{"op", "now", "args", "round_trips"}, {}, /*others=*/true};
    REDOUBLE_RETURN_IF_ERROR(CheckMembers(json, members, step.path));
    REDOUBLE_RETURN_IF_ERROR(ReadOperation(json, step));
    NoteTime(json["now"]);
    step.arguments["now"] = json["now"];
    const Json& trips = json["round_trips"];
    const std::string path = At(step.path, "round_trips");
    if (!trips.is_array()) return Wrong(path, "an array of round trips", trips);
    for (size_t i = 0; i < trips.size(); ++i) {
      REDOUBLE_ASSIGN_OR_RETURN(Json trip, WithoutElision(trips, i, At(path, i)));
      REDOUBLE_RETURN_IF_ERROR(AddCommands(trip, At(path, i), step));
    }
    return absl::OkStatus();
  }

  // A trip that ends with ["... N more"] repeats an earlier, shorter trip of the operation a whole
  // number of times. Returns it in full.
  static absl::StatusOr<Json> WithoutElision(const Json& trips, size_t index,
                                             std::string_view path) {
    const Json& trip = trips[index];
    const size_t shown = trip.is_array() && !trip.empty() ? trip.size() - 1 : 0;
    const Json& last = shown == 0 ? trip : trip.back();
    if (!last.is_array() || last.size() != 1 || !last[0].is_string()) return trip;
    absl::string_view text = last[0].get_ref<const std::string&>();
    size_t more = 0;
    if (!absl::ConsumePrefix(&text, "... ") || !absl::ConsumeSuffix(&text, " more") ||
        !absl::SimpleAtoi(text, &more)) {
      return trip;
    }
    const size_t size = shown + more;
    for (size_t i = 0; i < trips.size(); ++i) {
      const Json& unit = trips[i];
      if (i == index || !unit.is_array() || unit.size() < shown || size % unit.size() != 0) {
        continue;
      }
      if (!std::equal(trip.begin(), trip.begin() + shown, unit.begin())) continue;
      Json full = Json::array();
      while (full.size() < size) full.insert(full.end(), unit.begin(), unit.end());
      return full;
    }
    return Wrong(path, "another round trip that the commands left out repeat", last);
  }

  // Threescale's races: single commands of several clients.
  absl::Status ParseRaceFile(const Json& file) {
    const Members members{{"name", "steps", "keyspace"}, {"source", "note", "redis"}};
    REDOUBLE_RETURN_IF_ERROR(CheckMembers(file, members, ""));
    return ParseCommon(file, "steps", &Parser::ReadRaceStep);
  }

  absl::Status ReadRaceStep(const Json& json, RecordedStep& step) {
    const Members members{{"client", "command", "reply"}, {"note"}};
    REDOUBLE_RETURN_IF_ERROR(CheckMembers(json, members, step.path));
    if (!json["client"].is_string()) return Wrong(At(step.path, "client"), "a text", json);
    REDOUBLE_RETURN_IF_ERROR(AddCommand(json["command"], At(step.path, "command"), step));
    step.commands.back().connection = json["client"];
    NoteReply(json["reply"], step.path, At(step.path, "reply"), step.commands.back());
    return absl::OkStatus();
  }

  // Orchestrator: commands with replies, and the time and the keyspace of each step.
  absl::Status ParseTimelineFile(const Json& file) {
    const Members members{{"name", "steps"}, {"note", "redis_version"}};
    REDOUBLE_RETURN_IF_ERROR(CheckMembers(file, members, ""));
    return ParseCommon(file, "steps", &Parser::ReadTimelineStep);
  }

  absl::Status ReadTimelineStep(const Json& json, RecordedStep& step) {
    const Members members{{"at_ms", "commands", "replies", "keyspace"}, {"note", "deliveries"}};
    REDOUBLE_RETURN_IF_ERROR(CheckMembers(json, members, step.path));
    if (!json["at_ms"].is_number_integer() || json["at_ms"] < elapsed_ms_) {
      return Wrong(At(step.path, "at_ms"), "milliseconds, not before the step before",
                   json["at_ms"]);
    }
    elapsed_ms_ = json["at_ms"];
    step.at = absl::Milliseconds(elapsed_ms_);
    const Json& replies = json["replies"];
    REDOUBLE_RETURN_IF_ERROR(AddCommands(json["commands"], At(step.path, "commands"), step));
    if (!replies.is_array() || replies.size() != step.commands.size()) {
      return Wrong(At(step.path, "replies"), "an array with one reply per command", replies);
    }
    for (size_t i = 0; i < replies.size(); ++i) {
      RecordedCommand& command = step.commands[i];
      NoteReply(replies[i], command.path, At(At(step.path, "replies"), i), command);
    }
    REDOUBLE_ASSIGN_OR_RETURN(step.keyspace,
                              ReadKeyspace(json["keyspace"], At(step.path, "keyspace")));
    if (json.contains("deliveries")) step.messages = json["deliveries"];
    return absl::OkStatus();
  }

  // Parses what all files have: a name, steps, and in most of them a keyspace.
  absl::Status ParseCommon(const Json& file, std::string_view steps, StepReader read) {
    if (!file["name"].is_string()) return Wrong("/name", "a text", file["name"]);
    golden_.name = file["name"];
    const Json& list = file[std::string(steps)];
    const std::string path = At("", steps);
    if (!list.is_array()) return Wrong(path, "an array", list);
    for (size_t i = 0; i < list.size(); ++i) {
      RecordedStep& step = golden_.steps.emplace_back();
      step.path = At(path, i);
      REDOUBLE_RETURN_IF_ERROR((this->*read)(list[i], step));
    }
    if (!file.contains("keyspace")) return time_status_;
    REDOUBLE_ASSIGN_OR_RETURN(golden_.keyspace, ReadKeyspace(file["keyspace"], "/keyspace"));
    return time_status_;
  }

  static absl::Status ReadOperation(const Json& json, RecordedStep& step) {
    if (!json["op"].is_string()) return Wrong(At(step.path, "op"), "a text", json["op"]);
    step.op = json["op"];
    if (json.contains("args")) step.arguments = json["args"];
    if (!step.arguments.is_object()) {
      return Wrong(At(step.path, "args"), "an object", step.arguments);
    }
    if (json.contains("result")) step.result = json["result"];
    if (json.contains("error")) step.error = json["error"];
    return absl::OkStatus();
  }

  // The replay starts at the first time that a file names.
  void NoteTime(const Json& json) {
    if (!json.is_string()) return;
    const absl::StatusOr<absl::Time> time = base::ParseRfc3339(json.get_ref<const std::string&>());
    if (!time.ok()) {
      if (time_status_.ok()) time_status_ = Wrong("now", "an RFC 3339 time", json);
      return;
    }
    if (!has_time_) golden_.start = *time;
    has_time_ = true;
  }

  absl::Status AddCommands(const Json& json, std::string_view path, RecordedStep& step) {
    if (!json.is_array()) return Wrong(path, "an array of commands", json);
    for (size_t i = 0; i < json.size(); ++i) {
      REDOUBLE_RETURN_IF_ERROR(AddCommand(json[i], At(path, i), step));
    }
    return absl::OkStatus();
  }

  static void NoteReply(const Json& reply, std::string path, std::string reply_path,
                        RecordedCommand& command) {
    command.reply = reply;
    command.path = std::move(path);
    command.reply_path = std::move(reply_path);
  }

  // "@name" at the beginning names a connection; "EVAL @name" names a script.
  absl::Status AddCommand(const Json& json, std::string path, RecordedStep& step) {
    REDOUBLE_ASSIGN_OR_RETURN(std::vector<std::string> words, ReadWords(json, path));
    RecordedCommand command{std::move(path), "", std::move(words), std::nullopt, ""};
    if (golden_.system == System::kOrchestrator) {
      if (command.words[0].starts_with('@')) {
        command.connection = command.words[0];
        command.words.erase(command.words.begin());
      }
      if (command.words.empty()) return Wrong(command.path, "a command behind the connection");
      if (command.words.size() > 1 && command.words[0] == "EVAL" &&
          command.words[1].starts_with('@')) {
        const auto script = scripts_.find(command.words[1].substr(1));
        if (script == scripts_.end()) {
          return Wrong(command.path,
                       absl::StrCat("a script of ", base::ToAbsl(kScriptsFile), " beside the file"),
                       Json(command.words[1]));
        }
        command.script = script->first;
        command.words[1] = script->second;
      }
    }
    step.commands.push_back(std::move(command));
    return absl::OkStatus();
  }

  Golden& golden_;
  const Scripts& scripts_;
  bool has_time_ = false;
  absl::Status time_status_;
  int64_t elapsed_ms_ = 0;
};

}  // namespace

std::optional<System> FindSystem(std::string_view name) {
  for (const auto& [system, known] : kSystems) {
    if (known == name) return system;
  }
  return std::nullopt;
}

std::string_view SystemName(System system) {
  for (const auto& [known, name] : kSystems) {
    if (known == system) return name;
  }
  return {};
}

std::string SystemNames() {
  return absl::StrJoin(kSystems, "|", [](std::string* out, const auto& row) {
    absl::StrAppend(out, base::ToAbsl(row.second));
  });
}

absl::StatusOr<Golden> ParseGolden(std::string_view text, std::string_view file, System system,
                                   const Scripts& scripts) {
  REDOUBLE_ASSIGN_OR_RETURN(Json json, sim::ParseStrictJson(text));
  Golden golden{std::string(file), "", system, {}, {}, {}, {}, {}};
  golden.start = *base::ParseRfc3339(kDefaultStart);
  REDOUBLE_RETURN_IF_ERROR(Parser(golden, scripts).Parse(json));
  return golden;
}

absl::StatusOr<Scripts> ParseScripts(std::string_view text) {
  REDOUBLE_ASSIGN_OR_RETURN(Json json, sim::ParseStrictJson(text));
  if (!json.is_object()) return Wrong("", "an object of scripts", json);
  Scripts scripts;
  for (const auto& [name, script] : json.items()) {
    if (!script.is_string()) return Wrong(At("", name), "the text of a script", script);
    scripts[name] = script;
  }
  return scripts;
}

}  // namespace redouble::inline v0_1::golden
