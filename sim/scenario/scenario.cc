#include "redouble/sim/scenario/scenario.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/json/json_reading.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/nearest_word.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/json/reply_json.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/scenario/keyspace.h"

namespace redouble::inline v0_1::sim {
namespace {

// What earlier steps have established.
struct ParseState {
  const OperationTable* operations;
  std::set<std::string, std::less<>> started;  // Calls that are not finished yet.
  std::set<std::string, std::less<>> finished;
};

// A step's fields and the state that its parser needs.
struct StepReader {
  ArgumentReader& fields;
  std::string path;
  ParseState& state;

  std::string At(std::string_view name) const {
    return absl::StrCat(path, base::ToAbsl(base::PointerPart(name)));
  }
};

using StepAction = decltype(Step::action);
using StepResult = absl::StatusOr<StepAction>;

absl::Status Wrong(std::string_view path, std::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(base::ToAbsl(path), ": ", base::ToAbsl(message)));
}

bool IsCodeName(const std::string& text) {
  constexpr int kLastCode = static_cast<int>(absl::StatusCode::kUnauthenticated);
  for (int code = 1; code <= kLastCode; ++code) {
    if (text == absl::StatusCodeToString(static_cast<absl::StatusCode>(code))) return true;
  }
  return false;
}

std::optional<store::ErrorKind> FindErrorKind(std::string_view name) {
  for (const store::ErrorKind kind :
       {store::ErrorKind::kServer, store::ErrorKind::kNotSent, store::ErrorKind::kOutcomeUnknown,
        store::ErrorKind::kProtocol}) {
    if (store::ErrorKindName(kind) == name) return kind;
  }
  return std::nullopt;
}

absl::StatusOr<Json> ParseErrorExpectation(const Json& json, std::string_view path) {
  ArgumentReader fields(json, path);
  const std::optional<std::string> code = fields.OptionalString("code");
  const std::optional<std::string> kind = fields.OptionalString("kind");
  const bool has_message = fields.OptionalString("message").has_value();
  const bool has_part = fields.OptionalString("contains").has_value();
  if (code && !IsCodeName(*code)) {
    fields.Refuse("code", absl::StrCat("no status code: ", *code, "; one is UNAVAILABLE"));
  }
  if (kind && !FindErrorKind(*kind)) {
    fields.Refuse("kind", "expected \"server\", \"not sent\", \"outcome unknown\" or \"protocol\"");
  }
  if (!code && !kind && !has_message && !has_part) {
    fields.Refuse("", "says nothing; expected code, kind, message or contains");
  }
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  return json;
}

absl::StatusOr<CallExpectation> ParseCallExpectation(StepReader& step) {
  CallExpectation expectation;
  const Json* result = step.fields.FindOrNull("expect");
  const Json* error = step.fields.Find("expect_error");
  if (result != nullptr && error != nullptr) {
    return Wrong(step.At("expect_error"), "a call has a result or an error, not both");
  }
  if (result != nullptr) expectation.result = *result;
  if (error != nullptr) {
    REDOUBLE_ASSIGN_OR_RETURN(Json parsed, ParseErrorExpectation(*error, step.At("expect_error")));
    expectation.error = std::move(parsed);
  }
  return expectation;
}

absl::StatusOr<OperationCall> ParseOperation(StepReader& step, std::string_view default_client) {
  OperationCall call;
  call.client = step.fields.OptionalString("client").value_or(std::string(default_client));
  call.name = step.fields.String("operation");
  const Json* arguments = step.fields.Find("arguments");
  call.arguments = arguments == nullptr ? Json::object() : *arguments;
  if (!call.arguments.is_object()) {
    step.fields.Refuse("arguments", base::Expected("an object", call.arguments));
  }
  call.operation = step.state.operations->Find(call.name);
  if (call.operation == nullptr) {
    const std::vector<std::string> known = step.state.operations->Names();
    step.fields.Refuse("operation", absl::StrCat("unknown operation \"", call.name, "\"",
                                                 base::DidYouMean(call.name, known), "; known: ",
                                                 known.empty() ? std::string("none")
                                                               : absl::StrJoin(known, ", ")));
  }
  return call;
}

StepResult ParseCall(StepReader& step) {
  REDOUBLE_ASSIGN_OR_RETURN(OperationCall call, ParseOperation(step, kDefaultClient));
  REDOUBLE_ASSIGN_OR_RETURN(CallExpectation expectation, ParseCallExpectation(step));
  return StepAction(CallStep{std::move(call), std::move(expectation)});
}

StepResult ParseStart(StepReader& step) {
  const std::string name = step.fields.String("call");
  if (step.state.started.contains(name) || step.state.finished.contains(name)) {
    step.fields.Refuse("call", absl::StrCat("\"", name, "\" was started before"));
  }
  REDOUBLE_ASSIGN_OR_RETURN(OperationCall call, ParseOperation(step, name));
  step.state.started.insert(name);
  return StepAction(StartStep{name, std::move(call)});
}

// Reads the name of a started call.
std::string ParseStartedCall(StepReader& step) {
  std::string name = step.fields.String("call");
  if (!step.state.started.contains(name)) {
    step.fields.Refuse(
        "call", absl::StrCat("\"", name, "\" is not under way",
                             step.state.finished.contains(name) ? ": it was finished before"
                                                                : ": no start step names it"));
  }
  return name;
}

StepResult ParseRelease(StepReader& step) {
  ReleaseStep release;
  release.call = ParseStartedCall(step);
  const Json* sends = step.fields.Find("sends");
  if (sends == nullptr) return StepAction(std::move(release));
  Json normalized = Json::array();
  if (!sends->is_array() || sends->empty()) {
    return Wrong(step.At("sends"), R"(expected commands such as [["GET", "k"]])");
  }
  for (size_t i = 0; i < sends->size(); ++i) {
    REDOUBLE_ASSIGN_OR_RETURN(
        Json words, NormalizeValue("list", (*sends)[i], absl::StrCat(step.At("sends"), "/", i)));
    normalized.push_back(std::move(words));
  }
  release.sends = std::move(normalized);
  return StepAction(std::move(release));
}

StepResult ParseFinish(StepReader& step) {
  FinishStep finish;
  finish.call = ParseStartedCall(step);
  REDOUBLE_ASSIGN_OR_RETURN(finish.expectation, ParseCallExpectation(step));
  step.state.started.erase(finish.call);
  step.state.finished.insert(finish.call);
  return StepAction(std::move(finish));
}

StepResult ParseCommand(StepReader& step) {
  CommandStep command;
  command.client = step.fields.OptionalString("client").value_or(std::string(kDefaultClient));
  command.words = step.fields.Strings("command");
  if (command.words.empty()) step.fields.Refuse("command", "a command has at least a name");
  command.may_fail = step.fields.BoolOr("may_fail", false);
  const Json* reply = step.fields.FindOrNull("expect");
  if (reply != nullptr) {
    REDOUBLE_ASSIGN_OR_RETURN(Json normalized, NormalizeReplyJson(*reply, step.At("expect")));
    command.reply = std::move(normalized);
  }
  return StepAction(std::move(command));
}

StepResult ParseAdvance(StepReader& step) {
  AdvanceStep advance;
  const std::optional<std::string> by = step.fields.OptionalString("by");
  advance.to = step.fields.OptionalTime("to");
  if (by.has_value() == advance.to.has_value()) {
    step.fields.Refuse("", "expected either \"by\" or \"to\"");
  }
  absl::Duration duration;
  if (by) {
    const bool parsed = absl::ParseDuration(*by, &duration);
    const bool whole = duration == absl::Floor(duration, absl::Microseconds(1));
    if (!parsed || duration <= absl::ZeroDuration() || duration == absl::InfiniteDuration() ||
        !whole) {
      step.fields.Refuse("by", absl::StrCat("expected a duration such as \"1m30s\" or \"1ms\", in "
                                            "whole microseconds, got \"",
                                            *by, "\""));
    }
    advance.by = duration;
  }
  return StepAction(std::move(advance));
}

StepResult ParseFault(StepReader& step) {
  FaultStep fault;
  const std::string name = step.fields.String("fault");
  fault.fault = FindFaultSpec(name, FaultSite::kScenario);
  const std::optional<std::string> in_flight = step.fields.OptionalString("in_flight");
  if (fault.fault == nullptr) {
    const auto append_name = [](std::string* out, const FaultSpec* spec) {
      absl::StrAppend(out, base::ToAbsl(spec->name));
    };
    step.fields.Refuse(
        "fault", absl::StrCat("unknown fault \"", name, "\"; known: ",
                              absl::StrJoin(FaultsOf(FaultSite::kScenario), ", ", append_name)));
    return StepAction(std::move(fault));
  }
  if (!in_flight) return StepAction(std::move(fault));
  fault.in_flight = FindErrorKind(*in_flight);
  if (!fault.fault->breaks_connections) {
    step.fields.Refuse("in_flight", "this fault leaves connections alone");
  } else if (fault.in_flight != store::ErrorKind::kNotSent &&
             fault.in_flight != store::ErrorKind::kOutcomeUnknown) {
    step.fields.Refuse("in_flight", "expected \"not sent\" or \"outcome unknown\"");
  }
  return StepAction(std::move(fault));
}

absl::StatusOr<KeyExpectation> ParseKey(const Json& json, std::string_view path) {
  ArgumentReader fields(json, path);
  KeyExpectation key;
  key.type = fields.String("type");
  const Json& value = fields.Any("value");
  key.ttl_ms = fields.OptionalInteger("ttl_ms");
  key.ttl = fields.OptionalInteger("ttl");
  if (key.ttl_ms && key.ttl) fields.Refuse("ttl", "given beside ttl_ms; one says it all");
  if (key.ttl_ms.value_or(0) < 0)
    fields.Refuse("ttl_ms", "leave it out when the key never expires");
  if (key.ttl.value_or(0) < 0) fields.Refuse("ttl", "leave it out when the key never expires");
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  REDOUBLE_ASSIGN_OR_RETURN(
      Json normalized, NormalizeValue(key.type, value, absl::StrCat(base::ToAbsl(path), "/value")));
  key.value = std::move(normalized);
  return key;
}

StepResult ParseKeyspace(StepReader& step) {
  KeyspaceStep keyspace;
  keyspace.subset = step.fields.BoolOr("subset", false);
  const Json& keys = step.fields.Any("keys");
  if (!keys.is_object()) {
    step.fields.Refuse("keys", base::Expected("an object", keys));
    return StepAction(std::move(keyspace));
  }
  for (const auto& [name, json] : keys.items()) {
    const std::string path = absl::StrCat(step.At("keys"), base::PointerPart(name));
    const absl::StatusOr<std::string> key = DecodeBytes(name);
    if (!key.ok() || keyspace.keys.contains(*key)) {
      step.fields.Add(Wrong(
          path, key.ok() ? "the same key under two names" : base::ToStd(key.status().message())));
      continue;
    }
    std::optional<KeyExpectation>& expectation = keyspace.keys[*key];
    if (json.is_null()) continue;
    absl::StatusOr<KeyExpectation> parsed = ParseKey(json, path);
    step.fields.Add(parsed.status());
    if (parsed.ok()) expectation = *std::move(parsed);
  }
  return StepAction(std::move(keyspace));
}

struct KindRow {
  std::string_view kind;
  StepResult (*parse)(StepReader& step);
};

constexpr std::array kKinds = {
    KindRow{"call", ParseCall},       KindRow{"command", ParseCommand},
    KindRow{"advance", ParseAdvance}, KindRow{"fault", ParseFault},
    KindRow{"start", ParseStart},     KindRow{"step", ParseRelease},
    KindRow{"finish", ParseFinish},   KindRow{"expect_keyspace", ParseKeyspace},
};

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (const std::string_view kind : StepKinds()) names.emplace_back(kind);
  return names;
}

// Reads the step's kind; records what is wrong with it.
const KindRow* ParseKind(ArgumentReader& fields) {
  const std::vector<std::string> known = KindNames();
  const std::optional<std::string> kind = fields.OptionalString("kind");
  if (!kind) {
    fields.Refuse("kind", absl::StrCat("is missing; known: ", absl::StrJoin(known, ", ")));
    return nullptr;
  }
  const auto row = std::find_if(kKinds.begin(), kKinds.end(),
                                [&](const KindRow& one) { return one.kind == *kind; });
  if (row != kKinds.end()) return &*row;
  fields.Refuse("kind", absl::StrCat("unknown kind \"", *kind, "\"", base::DidYouMean(*kind, known),
                                     "; known: ", absl::StrJoin(known, ", ")));
  return nullptr;
}

absl::StatusOr<Step> ParseStep(const Json& json, std::string path, ParseState& state) {
  ArgumentReader fields(json, path);
  if (!json.is_object()) return fields.Finish();
  StepReader reader{fields, path, state};
  const KindRow* row = ParseKind(fields);
  if (row == nullptr) {
    // Without a kind, all fields would be unknown.
    for (const auto& field : json.items()) fields.Find(field.key());
    return fields.Finish();
  }
  fields.OptionalString("note");
  StepResult action = row->parse(reader);
  fields.Add(action.status());
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  return Step{std::string(row->kind), *std::move(action)};
}

absl::StatusOr<Scenario> ParseJson(const Json& json, const SystemTable& systems) {
  static const OperationTable* const kNoOperations = new OperationTable();
  ArgumentReader fields(json);
  if (!json.is_object()) return fields.Finish();
  Scenario scenario;
  scenario.name = fields.String("name");
  scenario.description = fields.String("description");
  const std::optional<std::string> system_name = fields.OptionalString("system");
  scenario.system = system_name.value_or("");
  scenario.start = fields.Time("start");
  const int64_t seed = fields.IntegerOr("seed", 0);
  scenario.seed = static_cast<uint64_t>(seed);
  scenario.compatibility = ReadCompatibility(fields);
  const Json& steps = fields.Any("steps");
  if (scenario.start < absl::UnixEpoch()) fields.Refuse("start", "is before 1970");
  if (seed < 0) fields.Refuse("seed", "is negative");
  if (!steps.is_array() || steps.empty()) fields.Refuse("steps", "expected at least one step");
  const auto system = systems.find(scenario.system);
  const OperationTable* operations = kNoOperations;
  if (system != systems.end()) {
    operations = &system->second;
  } else if (scenario.system != kCommandsOnly) {
    fields.Refuse("system", UnknownSystem(system_name, systems));
    operations = nullptr;
  }
  // Without a system, every operation would be unknown.
  if (operations != nullptr && steps.is_array()) {
    absl::StatusOr<std::vector<Step>> parsed = ParseSteps(steps, "/steps", *operations);
    fields.Add(parsed.status());
    if (parsed.ok()) scenario.steps = *std::move(parsed);
  }
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  return scenario;
}

}  // namespace

absl::StatusOr<std::vector<Step>> ParseSteps(const Json& steps, std::string_view path,
                                             const OperationTable& operations) {
  ParseState state{&operations, {}, {}};
  std::vector<Step> parsed;
  std::vector<std::string> errors;
  for (size_t i = 0; i < steps.size(); ++i) {
    absl::StatusOr<Step> step =
        ParseStep(steps[i], absl::StrCat(base::ToAbsl(path), "/", i), state);
    if (step.ok()) {
      parsed.push_back(*std::move(step));
      continue;
    }
    for (const absl::string_view line : absl::StrSplit(step.status().message(), '\n')) {
      errors.push_back(absl::StrCat("step ", i, ": ", line));
    }
  }
  if (!errors.empty()) return absl::InvalidArgumentError(absl::StrJoin(errors, "\n"));
  if (state.started.empty()) return parsed;
  return Wrong(path, absl::StrCat("the call \"", *state.started.begin(),
                                  "\" is started and never finished"));
}

std::optional<store::Version> ReadCompatibility(ArgumentReader& fields) {
  const std::optional<std::string> name = fields.OptionalString("compatibility");
  if (!name) return std::nullopt;
  const std::optional<store::Version> version = store::VersionNamed(*name);
  if (version) return version;
  std::vector<std::string> known;
  for (const store::VersionSpec& spec : store::AllVersions()) known.emplace_back(spec.name);
  fields.Refuse("compatibility",
                absl::StrCat("unknown version \"", *name, "\"", base::DidYouMean(*name, known),
                             "; known: ", absl::StrJoin(known, ", ")));
  return std::nullopt;
}

std::string UnknownSystem(const std::optional<std::string>& name, const SystemTable& systems) {
  std::vector<std::string> known = {std::string(kCommandsOnly)};
  for (const auto& [system, table] : systems) known.push_back(system);
  const std::string list = absl::StrCat("; known: ", absl::StrJoin(known, ", "));
  if (!name) return absl::StrCat("is missing", list);
  return absl::StrCat("unknown system \"", *name, "\"", base::DidYouMean(*name, known), list);
}

absl::Status WithFile(const absl::Status& status, std::string_view file) {
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(status.message(), '\n')) {
    lines.push_back(absl::StrCat(base::ToAbsl(file), ": ", line));
  }
  return absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

absl::StatusOr<Scenario> ParseScenario(std::string_view text, std::string_view file,
                                       const SystemTable& systems) {
  const absl::StatusOr<Json> json = ParseStrictJson(text);
  absl::StatusOr<Scenario> scenario =
      json.ok() ? ParseJson(*json, systems) : absl::StatusOr<Scenario>(json.status());
  if (!scenario.ok()) return WithFile(scenario.status(), file);
  scenario->file = std::string(file);
  return scenario;
}

std::vector<std::string_view> StepKinds() {
  std::vector<std::string_view> kinds;
  for (const KindRow& row : kKinds) kinds.push_back(row.kind);
  return kinds;
}

}  // namespace redouble::inline v0_1::sim
