#include "redouble/sim/world_file/world_step.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/nearest_word.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::sim {
namespace {

using Names = std::vector<std::string>;

absl::Status Wrong(std::string_view path, std::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(base::ToAbsl(path), ": ", base::ToAbsl(message)));
}

std::optional<double> NumberIn(const Json& value) {
  double number = 0;
  if (value.is_number()) return value.get<double>();
  if (value.is_string() && absl::SimpleAtod(value.get_ref<const std::string&>(), &number)) {
    return number;
  }
  return std::nullopt;
}

std::string TextOf(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// What stands between the braces of ${name} or ${name[index]}.
struct Reference {
  explicit Reference(std::string_view text) : name(text) {
    const size_t bracket = text.find('[');
    if (bracket == std::string_view::npos || !text.ends_with(']')) return;
    int64_t number;
    const std::string_view digits = text.substr(bracket + 1, text.size() - bracket - 2);
    if (!absl::SimpleAtoi(base::ToAbsl(digits), &number)) return;
    name = text.substr(0, bracket);
    index = number;
  }

  // The value, or the element of the array; null if it is not there.
  Json In(const BoundValues& bound) const {
    const auto found = bound.find(name);
    if (found == bound.end()) return Json();
    if (!index) return found->second;
    if (!found->second.is_array()) return Json();
    const auto size = static_cast<int64_t>(found->second.size());
    const int64_t position = *index < 0 ? *index + size : *index;
    if (position < 0 || position >= size) return Json();
    return found->second[static_cast<size_t>(position)];
  }

  std::string_view name;
  std::optional<int64_t> index = {};  // Negative: counts from the end.
};

// Calls `visit` for each ${...} in the text.
template <typename Visit>
void VisitReferences(std::string_view text, Visit visit) {
  constexpr std::string_view kBegin = "${";
  size_t begin = text.find(kBegin);
  while (begin != std::string_view::npos) {
    const size_t end = text.find('}', begin);
    if (end == std::string_view::npos) return;
    const size_t name = begin + kBegin.size();
    visit(begin, end + 1, Reference(text.substr(name, end - name)));
    begin = text.find(kBegin, end);
  }
}

Names ReferencesIn(const Json& json) {
  Names names;
  if (json.is_string()) {
    VisitReferences(
        json.get_ref<const std::string&>(),
        [&](size_t, size_t, const Reference& reference) { names.emplace_back(reference.name); });
  } else if (json.is_structured()) {
    for (const Json& part : json) {
      for (std::string& name : ReferencesIn(part)) names.push_back(std::move(name));
    }
  }
  return names;
}

// What the parser knows while it reads the steps of one actor.
struct Context {
  const OperationTable& operations;
  const StepServers& servers;
  Names bound;  // What earlier steps bind.
};

bool Contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status CheckBound(std::string_view name, const Context& context, std::string_view path) {
  if (Contains(context.bound, name)) return absl::OkStatus();
  return Wrong(path, absl::StrCat("no earlier step binds \"", base::ToAbsl(name), "\"",
                                  base::DidYouMean(name, context.bound)));
}

struct ComparisonRow {
  std::string_view name;
  StepCondition::Comparison comparison;
};

constexpr std::array kComparisons = {
    ComparisonRow{"is", StepCondition::Comparison::kIs},
    ComparisonRow{"is_not", StepCondition::Comparison::kIsNot},
    ComparisonRow{"at_least", StepCondition::Comparison::kAtLeast},
    ComparisonRow{"at_most", StepCondition::Comparison::kAtMost},
};

absl::StatusOr<StepCondition> ParseCondition(const Json& json, const std::string& path,
                                             const Context& context) {
  ArgumentReader fields(json, path);
  StepCondition condition{fields.String("name"), StepCondition::Comparison::kIs, Json()};
  int given = 0;
  for (const ComparisonRow& row : kComparisons) {
    const Json* value = fields.FindOrNull(row.name);
    if (value == nullptr) continue;
    ++given;
    condition.comparison = row.comparison;
    condition.value = *value;
  }
  if (given != 1) fields.Refuse("", "expected one of is, is_not, at_least, at_most");
  if (condition.comparison >= StepCondition::Comparison::kAtLeast && !NumberIn(condition.value)) {
    fields.Refuse("", "at_least and at_most expect a number");
  }
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  REDOUBLE_RETURN_IF_ERROR(CheckBound(condition.name, context, absl::StrCat(path, "/name")));
  return condition;
}

absl::StatusOr<BatchStep> ParseBatch(const Json& json, const std::string& path) {
  ArgumentReader fields(json, path);
  BatchStep batch{fields.String("kind") == "transaction", {}, fields.BoolOr("may_fail", false)};
  fields.OptionalString("note");
  const Json& commands = fields.Any("commands");
  if (!commands.is_array() || commands.empty()) {
    fields.Refuse("commands", R"(expected commands: [["SET", "p", "1"], ["SET", "q", "1"]])");
  } else {
    for (size_t i = 0; i < commands.size(); ++i) {
      const Json wrapped{{"command", commands[i]}};
      ArgumentReader one(wrapped);
      batch.commands.push_back(one.Strings("command"));
      if (one.Finish().ok() && !batch.commands.back().empty()) continue;
      fields.Refuse("commands", absl::StrCat("number ", i, " is no array of strings"));
    }
  }
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  return batch;
}

absl::StatusOr<std::vector<WorldStep>> ParseActorSteps(const Json& json, const std::string& path,
                                                       Context& context);

absl::StatusOr<RepeatStep> ParseRepeat(const Json& json, const std::string& path,
                                       Context& context) {
  ArgumentReader fields(json, path);
  fields.String("kind");
  fields.OptionalString("note");
  RepeatStep repeat{
      fields.IntegerOr("times", std::numeric_limits<int64_t>::max()), std::nullopt, {}};
  if (repeat.times < 1) fields.Refuse("times", "expected 1 at least");
  const Json& steps = fields.Any("steps");
  const Json* until = fields.Find("until");
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  REDOUBLE_ASSIGN_OR_RETURN(repeat.steps,
                            ParseActorSteps(steps, absl::StrCat(path, "/steps"), context));
  if (until != nullptr) {
    REDOUBLE_ASSIGN_OR_RETURN(repeat.until,
                              ParseCondition(*until, absl::StrCat(path, "/until"), context));
  }
  return repeat;
}

absl::StatusOr<ListenStep> ParseListen(const Json& json, const std::string& path,
                                       const StepServers& servers) {
  ArgumentReader fields(json, path);
  if (!servers.cluster_masters.empty()) {
    fields.Refuse("", "no connection receives the pushes of all servers of a cluster");
  }
  fields.String("kind");
  fields.OptionalString("note");
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  return ListenStep();
}

absl::StatusOr<MoveSlotStep> ParseMoveSlot(const Json& json, const std::string& path,
                                           const StepServers& servers) {
  ArgumentReader fields(json, path);
  fields.String("kind");
  fields.OptionalString("note");
  MoveSlotStep move{fields.String("key"), fields.String("from"), fields.String("to")};
  if (servers.cluster_masters.empty()) {
    fields.Refuse("", R"(only a world with "cluster": true has slots to move)");
  } else {
    for (const auto& [name, master] : {std::pair("from", &move.from), std::pair("to", &move.to)}) {
      if (Contains(servers.cluster_masters, *master)) continue;
      fields.Refuse(name, absl::StrCat("there is no master \"", *master, "\"",
                                       base::DidYouMean(*master, servers.cluster_masters)));
    }
    if (move.from == move.to) fields.Refuse("to", "expected another master than \"from\"");
  }
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  return move;
}

// A world has no schedule and no expectations: its steps are a subset of a scenario's.
absl::Status CheckStep(const Step& step, bool in_actor) {
  if (const auto* call = std::get_if<CallStep>(&step.action)) {
    if (call->expectation.result || call->expectation.error) {
      return absl::InvalidArgumentError("a world says by invariants what must come of a call");
    }
    return absl::OkStatus();
  }
  if (const auto* command = std::get_if<CommandStep>(&step.action)) {
    if (command->reply) {
      return absl::InvalidArgumentError("a world says by invariants what must come of a command");
    }
    return absl::OkStatus();
  }
  if (std::holds_alternative<AdvanceStep>(step.action)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a step of kind \"", step.kind, "\" has no place ",
                                                 in_actor ? "in an actor" : "in a set-up",
                                                 "; call, command and advance have"));
}

// Parses the steps that scenarios have, too.
absl::StatusOr<std::vector<WorldStep>> ParsePlain(const Json& json, std::string_view path,
                                                  const OperationTable& operations, bool in_actor) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<Step> steps, ParseSteps(json, path, operations));
  std::vector<WorldStep> parsed;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (const absl::Status status = CheckStep(steps[i], in_actor); !status.ok()) {
      return Wrong(absl::StrCat(base::ToAbsl(path), "/", i), base::ToStd(status.message()));
    }
    if (auto* call = std::get_if<CallStep>(&steps[i].action)) {
      parsed.push_back(WorldStep{std::move(*call)});
    } else if (auto* command = std::get_if<CommandStep>(&steps[i].action)) {
      parsed.push_back(WorldStep{std::move(*command)});
    } else {
      parsed.push_back(WorldStep{std::get<AdvanceStep>(steps[i].action)});
    }
  }
  return parsed;
}

constexpr std::array<std::string_view, 5> kOwnKinds = {"pipeline", "transaction", "repeat",
                                                       "listen", "move_slot"};

bool IsOwnKind(const Json& step) {
  const Json kind = step.is_object() ? step.value("kind", Json()) : Json();
  return kind.is_string() &&
         std::find(kOwnKinds.begin(), kOwnKinds.end(), kind.get<std::string>()) != kOwnKinds.end();
}

// Removes the fields that all steps of an actor may have, and puts another step in the place of one
// that scenarios do not have; its own parser replaces it.
Json PlainSteps(const Json& json) {
  Json plain = json;
  for (Json& step : plain) {
    if (!step.is_object()) continue;
    if (IsOwnKind(step)) step = Json{{"kind", "advance"}, {"by", "1us"}};
    step.erase("as");
    step.erase("if");
    step.erase("server");
  }
  return plain;
}

// Reads the server that a step names.
absl::Status ParseServer(const Json& json, const std::string& path, const Names& servers,
                         WorldStep& step) {
  if (!json.contains("server")) return absl::OkStatus();
  const std::string place = absl::StrCat(path, "/server");
  const bool sends = std::holds_alternative<CallStep>(step.action) ||
                     std::holds_alternative<CommandStep>(step.action) ||
                     std::holds_alternative<BatchStep>(step.action);
  if (!sends) return Wrong(place, "this kind sends nothing to a server");
  if (!json["server"].is_string()) return Wrong(place, "expected the name of a server");
  step.server = json["server"].get<std::string>();
  if (Contains(servers, step.server)) return absl::OkStatus();
  return Wrong(place, absl::StrCat("there is no server \"", step.server, "\"",
                                   base::DidYouMean(step.server, servers)));
}

absl::Status CheckKind(const Json& step, const std::string& path) {
  if (!step.is_object() || IsOwnKind(step) || !step.contains("kind")) return absl::OkStatus();
  Names known = {"call", "command", "advance"};
  known.insert(known.end(), kOwnKinds.begin(), kOwnKinds.end());
  const std::string kind = TextOf(step["kind"]);
  const std::vector<std::string_view> scenario = StepKinds();
  if (std::find(scenario.begin(), scenario.end(), kind) != scenario.end()) return absl::OkStatus();
  return Wrong(absl::StrCat(path, "/kind"),
               absl::StrCat("unknown kind \"", kind, "\"", base::DidYouMean(kind, known),
                            "; known: ", absl::StrJoin(known, ", ")));
}

// Parses what a step of any kind may have, and checks the names that it uses.
absl::Status ParseNames(const Json& json, const std::string& path, Context& context,
                        WorldStep& step) {
  if (json.contains("if")) {
    REDOUBLE_ASSIGN_OR_RETURN(step.condition,
                              ParseCondition(json["if"], absl::StrCat(path, "/if"), context));
  }
  if (!std::holds_alternative<RepeatStep>(step.action)) {
    for (const char* place : {"command", "commands", "arguments"}) {
      if (!json.contains(place)) continue;
      for (const std::string& name : ReferencesIn(json[place])) {
        REDOUBLE_RETURN_IF_ERROR(CheckBound(name, context, absl::StrCat(path, "/", place)));
      }
    }
  }
  if (!json.contains("as")) {
    if (!std::holds_alternative<ListenStep>(step.action)) return absl::OkStatus();
    return Wrong(absl::StrCat(path, "/as"), "expected the name that pushes are bound to");
  }
  const bool has_value = !std::holds_alternative<AdvanceStep>(step.action) &&
                         !std::holds_alternative<RepeatStep>(step.action) &&
                         !std::holds_alternative<MoveSlotStep>(step.action);
  if (!has_value || !json["as"].is_string() || json["as"].get<std::string>().empty()) {
    return Wrong(absl::StrCat(path, "/as"),
                 has_value ? "expected a name" : "this kind has no value that could be bound");
  }
  step.as = json["as"].get<std::string>();
  context.bound.push_back(step.as);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<WorldStep>> ParseActorSteps(const Json& json, const std::string& path,
                                                       Context& context) {
  if (!json.is_array()) return Wrong(path, "expected an array of steps");
  for (size_t i = 0; i < json.size(); ++i) {
    REDOUBLE_RETURN_IF_ERROR(CheckKind(json[i], absl::StrCat(path, "/", i)));
  }
  REDOUBLE_ASSIGN_OR_RETURN(
      std::vector<WorldStep> steps,
      ParsePlain(PlainSteps(json), path, context.operations, /*in_actor=*/true));
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string place = absl::StrCat(path, "/", i);
    if (IsOwnKind(json[i])) {
      Json own = json[i];
      own.erase("as");
      own.erase("if");
      own.erase("server");
      if (own["kind"] == "repeat") {
        REDOUBLE_ASSIGN_OR_RETURN(steps[i].action, ParseRepeat(own, place, context));
      } else if (own["kind"] == "listen") {
        REDOUBLE_ASSIGN_OR_RETURN(steps[i].action, ParseListen(own, place, context.servers));
      } else if (own["kind"] == "move_slot") {
        REDOUBLE_ASSIGN_OR_RETURN(steps[i].action, ParseMoveSlot(own, place, context.servers));
      } else {
        REDOUBLE_ASSIGN_OR_RETURN(steps[i].action, ParseBatch(own, place));
      }
    }
    REDOUBLE_RETURN_IF_ERROR(ParseServer(json[i], place, context.servers.all, steps[i]));
    REDOUBLE_RETURN_IF_ERROR(ParseNames(json[i], place, context, steps[i]));
  }
  return steps;
}

}  // namespace

bool StepCondition::Holds(const BoundValues& bound) const {
  const auto found = bound.find(name);
  const Json actual = found == bound.end() ? Json() : found->second;
  const std::optional<double> number = NumberIn(actual);
  switch (comparison) {
    case Comparison::kIs:
      return actual == value;
    case Comparison::kIsNot:
      return actual != value;
    case Comparison::kAtLeast:
      return number && *number >= *NumberIn(value);
    case Comparison::kAtMost:
      return number && *number <= *NumberIn(value);
  }
  return false;
}

absl::StatusOr<std::vector<WorldStep>> ParseWorldSteps(const Json& json, std::string_view path,
                                                       const OperationTable& operations,
                                                       bool in_actor, const StepServers& servers) {
  if (!json.is_array()) return Wrong(path, "expected an array of steps");
  if (in_actor) {
    Context context{operations, servers, {}};
    return ParseActorSteps(json, std::string(path), context);
  }
  Json plain = json;
  for (Json& step : plain) {
    if (step.is_object()) step.erase("server");
  }
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<WorldStep> steps,
                            ParsePlain(plain, path, operations, in_actor));
  for (size_t i = 0; i < steps.size(); ++i) {
    REDOUBLE_RETURN_IF_ERROR(
        ParseServer(json[i], absl::StrCat(base::ToAbsl(path), "/", i), servers.all, steps[i]));
  }
  return steps;
}

void VisitCalls(std::vector<WorldStep>& steps, const std::function<void(CallStep&)>& visit) {
  for (WorldStep& step : steps) {
    if (auto* call = std::get_if<CallStep>(&step.action)) visit(*call);
    if (auto* repeat = std::get_if<RepeatStep>(&step.action)) VisitCalls(repeat->steps, visit);
  }
}

void VisitCalls(const std::vector<WorldStep>& steps,
                const std::function<void(const CallStep&)>& visit) {
  for (const WorldStep& step : steps) {
    if (const auto* call = std::get_if<CallStep>(&step.action)) visit(*call);
    if (const auto* repeat = std::get_if<RepeatStep>(&step.action)) {
      VisitCalls(repeat->steps, visit);
    }
  }
}

void CollectNames(const std::vector<WorldStep>& steps, std::vector<std::string>& names) {
  for (const WorldStep& step : steps) {
    if (!step.as.empty()) names.push_back(step.as);
    if (const auto* repeat = std::get_if<RepeatStep>(&step.action)) {
      CollectNames(repeat->steps, names);
    }
  }
}

std::string SubstituteText(std::string_view text, const BoundValues& bound) {
  std::string result;
  size_t copied = 0;
  VisitReferences(text, [&](size_t begin, size_t end, const Reference& reference) {
    result += text.substr(copied, begin - copied);
    result += TextOf(reference.In(bound));
    copied = end;
  });
  return result += text.substr(copied);
}

Json Substitute(const Json& json, const BoundValues& bound) {
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    std::optional<Json> whole;
    VisitReferences(text, [&](size_t begin, size_t end, const Reference& reference) {
      if (begin == 0 && end == text.size()) whole = reference.In(bound);
    });
    return whole ? *std::move(whole) : Json(SubstituteText(text, bound));
  }
  Json result = json;
  if (json.is_structured()) {
    for (Json& part : result) part = Substitute(Json(part), bound);
  }
  return result;
}

}  // namespace redouble::inline v0_1::sim
