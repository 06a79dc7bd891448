#include "redouble/tests/golden/relayna/relayna_domain.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/text.h"
#include "redouble/core/store/errors.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/relayna/relayna_operations.h"
#include "redouble/tests/golden/relayna/relayna_stream.h"
#include "redouble/tests/golden/replay/race.h"
#include "redouble/tests/golden/studio/studio_domain.h"

namespace redouble::inline v0_1::golden {
namespace {

using Words = std::vector<std::string>;
using Commands = std::vector<const RecordedCommand*>;

// The recorder kept this many bytes of a message.
constexpr size_t kRecordedMessageBytes = 200;
// The time zone of the server on which the table of timestamps was recorded.
constexpr int kSearchZoneSeconds = 7 * 60 * 60;

Commands CommandsOf(const RecordedStep& step) {
  Commands commands;
  for (const RecordedCommand& command : step.commands) commands.push_back(&command);
  return commands;
}

bool Is(const RecordedCommand& command, std::string_view name) {
  return absl::EqualsIgnoreCase(command.words.front(), base::ToAbsl(name));
}

// Returns the `index`-th command with that name; nullptr if there are fewer.
const Words* Find(const Commands& commands, std::string_view name, size_t index = 0) {
  for (const RecordedCommand* command : commands) {
    if (Is(*command, name) && index-- == 0) return &command->words;
  }
  return nullptr;
}

Json ParseOrNull(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json() : json;
}

// Returns the number after EX, or null.
Json TtlOf(const Words& set) {
  const auto ex = std::find(set.begin(), set.end(), "EX");
  int64_t seconds = 0;
  if (ex == set.end() || ex + 1 == set.end() || !absl::SimpleAtoi(*(ex + 1), &seconds)) return {};
  return seconds;
}

std::optional<int64_t> LastIndexOf(const Words* words) {
  int64_t last = 0;
  if (words == nullptr || words->size() < 4 || !absl::SimpleAtoi(words->back(), &last)) {
    return std::nullopt;
  }
  return last;
}

// Returns the part of a key before `rest`.
std::optional<std::string> PrefixOf(const std::string& key, const std::string& rest) {
  const size_t found = key.find(rest);
  if (found == key.npos) return std::nullopt;
  return key.substr(0, found);
}

std::string TextOf(const Json& arguments, const char* name) {
  return arguments.contains(name) && arguments[name].is_string()
             ? arguments[name].get<std::string>()
             : std::string();
}

// Reads the options of a bounded log from its commands; `log` is the index of the log in the step.
struct LogNames {
  std::string marker;
  std::string list;
  const char* maxlen;
};

Json LogOptions(const Commands& commands, size_t log, const LogNames& names) {
  Json options = Json::object();
  if (const Words* set = Find(commands, "SET", log)) {
    if (const auto prefix = PrefixOf((*set)[1], names.marker)) options["prefix"] = *prefix;
    options["ttl_seconds"] = TtlOf(*set);
  }
  if (const auto last = LastIndexOf(Find(commands, "LTRIM", log))) {
    options[names.maxlen] = *last + 1;
  }
  for (const std::string_view read : {"LRANGE", "LINDEX"}) {
    const Words* words = Find(commands, read, log);
    if (words == nullptr) continue;
    if (const auto prefix = PrefixOf((*words)[1], names.list)) options["prefix"] = *prefix;
    if (const auto last = LastIndexOf(words)) options[names.maxlen] = *last + 1;
  }
  return options;
}

// Reads the options of status and observation stores: a log for each task, and possibly the feed.
void AddHistoryOptions(Json& arguments, const Commands& commands) {
  std::string task_id = TextOf(arguments, "task_id");
  if (arguments.contains("fields")) {
    task_id = std::string(python::Strip(TextOf(arguments["fields"], "task_id")));
  }
  arguments.update(
      LogOptions(commands, 0, {":event:" + task_id, ":history:" + task_id, "history_maxlen"}));
  for (const char* name : {"parent", "task_id"}) {
    if (Find(commands, "SMEMBERS") == nullptr || !arguments.contains(name)) continue;
    arguments["parent_task_id"] = arguments[name];
    arguments.erase(name);
  }
  if (const Words* children = Find(commands, "SMEMBERS")) {
    if (const auto prefix = PrefixOf((*children)[1], ":children:")) arguments["prefix"] = *prefix;
  }
  if (Find(commands, "SET", 1) != nullptr) {
    arguments["feed"] = LogOptions(commands, 1, {":event:", ":feed", "feed_maxlen"});
  }
}

// Reads the options of the DLQ and the workflow contracts: the prefix before `name`, and a TTL.
void AddPrefixAndTtl(Json& arguments, const Commands& commands, const std::string& name) {
  for (const RecordedCommand* command : commands) {
    if (command->words.size() < 2) continue;
    if (const auto prefix = PrefixOf(command->words[1], name)) arguments["prefix"] = *prefix;
    if (Is(*command, "SET") && !absl::StrContains(command->words[1], ":replay-lock:")) {
      arguments["ttl_seconds"] = TtlOf(command->words);
    }
    int64_t seconds = 0;
    if (Is(*command, "EXPIRE") && absl::SimpleAtoi(command->words[2], &seconds)) {
      arguments["ttl_seconds"] = seconds;
    }
  }
}

// Adds the record of a preparing step that gives only its id.
void AddRecord(Json& arguments, const Commands& commands) {
  const Words* set = Find(commands, "SET");
  if (set == nullptr || arguments.contains("record")) return;
  arguments = Json{{"record", ParseOrNull((*set)[2])}};
}

// Adds the time of a replay, and the broker's answer: a replay that ended after reading the record,
// with an error of no known class, failed in the broker.
void AddBroker(Json& arguments, const RecordedStep& step, const Commands& commands) {
  if (step.now) arguments["now"] = *step.now;
  if (const Words* set = Find(commands, "SET", 1)) {
    const Json record = ParseOrNull((*set)[2]);
    if (record.is_object() && record.contains("replayed_at")) {
      arguments["now"] = record["replayed_at"];
    }
  }
  if (!step.error || Find(commands, "GET") == nullptr || Find(commands, "GET", 1) != nullptr) {
    return;
  }
  const std::string type = TextOf(*step.error, "type");
  if (type == "DLQReplayConflict" || type == "ValidationError" || type == "ResponseError") return;
  arguments["publish_error"] = {{"type", type}, {"message", TextOf(*step.error, "message")}};
}

// Adds the time and target of a replay, which the recorder did not write into the arguments.
void AddReplay(Json& arguments, const Commands& commands) {
  const Words* set = Find(commands, "SET");
  if (set == nullptr || arguments.contains("replayed_at")) return;
  const Json record = ParseOrNull((*set)[2]);
  if (!record.is_object()) return;
  arguments["replayed_at"] = record.value("replayed_at", Json());
  arguments["target_queue_name"] = record.value("replay_target_queue_name", Json());
}

Json Configured(const std::string& operation, Json arguments, const Commands& commands) {
  if (operation.starts_with("status.") || operation.starts_with("observation.")) {
    AddHistoryOptions(arguments, commands);
  } else if (operation.starts_with("feed.")) {
    arguments.update(LogOptions(commands, 0, {":event:", ":feed", "feed_maxlen"}));
  } else if (operation.starts_with("dlq.")) {
    if (operation == "dlq.add") AddRecord(arguments, commands);
    if (operation == "dlq.mark_replayed") AddReplay(arguments, commands);
    AddPrefixAndTtl(arguments, commands, ":dlq:");
  } else if (operation.starts_with("workflow.") && operation != "workflow.signature") {
    AddPrefixAndTtl(arguments, commands, ":workflow:");
    // A marker without EXPIRE was set by a store without TTL.
    if (operation == "workflow.mark_inflight" && Find(commands, "EXPIRE") == nullptr) {
      arguments["ttl_seconds"] = Json();
    }
  }
  return arguments;
}

std::string WithoutRemark(std::string_view op) {
  return std::string(absl::StripAsciiWhitespace(base::ToAbsl(op.substr(0, op.find('(')))));
}

const sim::OperationTable& Operations() {
  static const sim::OperationTable& table =
      *new sim::OperationTable(scenarios::RelaynaOperations());
  return table;
}

// Returns the operation of a step by its method: "A.claim_replay"; nullopt for an unknown method.
std::optional<std::string> OperationOf(std::string_view op) {
  std::string name = WithoutRemark(op);
  if (name == "parse" || Operations().Find(name) != nullptr) return name;
  const std::string method = MethodOf(op);
  if (absl::StrContains(method, "signature")) return "workflow.signature";
  if (method.starts_with("replay")) return "dlq.replay_message";
  for (const std::string_view family : {"status.", "dlq.", "workflow.", "feed.", "observation."}) {
    name = std::string(family) + method;
    if (Operations().Find(name) != nullptr) return name;
  }
  return std::nullopt;
}

// Returns the part of a key after `name`, or nullopt.
std::optional<std::string> RestOf(const std::string& key, std::string_view name) {
  const size_t found = key.find(name);
  if (found == key.npos) return std::nullopt;
  return key.substr(found + name.size());
}

// Returns the first command that names a key, or nullptr.
const RecordedCommand* FirstOnAKey(const Commands& commands) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [](const auto* command) { return command->words.size() > 1; });
  return found == commands.end() ? nullptr : *found;
}

// Recognizes an operation on the DLQ by the first key that its commands name.
std::optional<Plan::Call> DlqCallOf(const Commands& commands, const RecordedCommand& first) {
  Plan::Call call = {.actor = "", .operation = "", .arguments = Json::object()};
  const std::string& key = first.words[1];
  if (const auto id = RestOf(key, ":dlq:record:"); id && Is(first, "GET")) {
    call.operation = Find(commands, "SET") == nullptr ? "dlq.get" : "dlq.mark_replayed";
    call.arguments["dlq_id"] = *id;
  } else if (const auto locked = RestOf(key, ":dlq:replay-lock:")) {
    const bool marks = Find(commands, "SET", 1) != nullptr;
    call.operation = Is(first, "DEL") ? "dlq.release_replay_claim"
                     : marks          ? "dlq.replay_message"
                                      : "dlq.claim_replay";
    call.arguments["dlq_id"] = *locked;
  } else if (const Words* push = Find(commands, "LPUSH");
             push != nullptr && absl::StrContains((*push)[1], ":dlq:records")) {
    call.operation = "dlq.add";
  } else {
    return std::nullopt;
  }
  return call;
}

// Recognizes an operation on a workflow contract by its first command; the step has its arguments.
std::string ContractOperationOf(const RecordedCommand& first) {
  if (Is(first, "SET")) return "workflow.acquire_dedup";
  if (Is(first, "HSET")) return "workflow.mark_inflight";
  if (Is(first, "HDEL")) return "workflow.clear_inflight";
  return "workflow.release_dedup";
}

// Recognizes the operation of an actor in a race by its commands; nullopt if it is not known.
std::optional<Plan::Call> CallOf(const RaceRecord::Actor& actor, const RecordedStep& step) {
  const Commands& commands = actor.commands;
  const RecordedCommand* first = FirstOnAKey(commands);
  if (first == nullptr) return std::nullopt;
  std::optional<Plan::Call> call = DlqCallOf(commands, *first);
  const Words* push = Find(commands, "LPUSH");
  if (push != nullptr && absl::StrContains((*push)[1], ":history:")) {
    call = {.actor = "", .operation = "status.set_history", .arguments = Json::object()};
    call->arguments["task_id"] = *RestOf((*push)[1], ":history:");
    call->arguments["event"] = ParseOrNull((*push)[2]);
  } else if (!call && step.arguments.contains("dedup_key_fields")) {
    call = {.actor = "", .operation = ContractOperationOf(*first), .arguments = step.arguments};
  }
  if (!call) return std::nullopt;
  call->actor = actor.name;
  call->arguments = Configured(call->operation, std::move(call->arguments), commands);
  if (call->operation == "dlq.replay_message") AddBroker(call->arguments, step, commands);
  return call;
}

std::optional<Plan> RacePlan(const RecordedStep& step) {
  const RaceRecord race = ReadRace(step);
  if (race.actors.empty()) return std::nullopt;
  Plan plan;
  std::set<std::string> foreign;
  for (const RaceRecord::Actor& actor : race.actors) {
    std::optional<Plan::Call> call = CallOf(actor, step);
    if (!call) {
      call = ForeignCall(actor.name, actor.commands);
      foreign.insert(actor.name);
    }
    plan.calls.push_back(*std::move(call));
  }
  plan.turns = race.turns;
  EndAsRecorded(*step.result, foreign, plan);
  return plan;
}

// Plans a contract operation that is killed after its first command.
Plan CrashPlan(const RecordedStep& step) {
  Plan plan;
  Json arguments = step.arguments;
  // The command that was never sent would have set the TTL.
  AddPrefixAndTtl(arguments, CommandsOf(step), ":workflow:");
  plan.calls.push_back({"A", "workflow.mark_inflight", std::move(arguments)});
  plan.turns.assign(step.commands.size(), {"A", false});
  plan.ends_in_crash = true;
  plan.record = [then = step.result->value("then", Json())](const auto& trips, const Json&) {
    Json executed = Json::array();
    for (const Plan::Trip& trip : trips) executed.push_back(trip.description);
    return Json{{"executed", std::move(executed)}, {"then", then}};
  };
  return plan;
}

// Plans a step of a golden with `config`: the options of the stores, by the first word of the
// operation. The names and arguments of its operations are complete.
Plan PlanOfConfig(const Json& config, const RecordedStep& step) {
  Plan plan;
  if (step.op.starts_with("raw.")) return plan;
  Json arguments = step.arguments;
  const std::string family = step.op.substr(0, step.op.find('.'));
  if (config.contains(family)) arguments.update(config[family]);
  plan.calls.push_back({"main", step.op, std::move(arguments)});
  return plan;
}

absl::StatusOr<Plan> PlanStep(const Golden& golden, size_t index) {
  if (golden.settings.contains("config")) {
    return PlanOfConfig(golden.settings["config"], golden.steps[index]);
  }
  if (IsStudioGolden(golden)) return StudioPlan(golden, index);
  const RecordedStep& step = golden.steps[index];
  if (step.op.starts_with("raw.")) return Plan{};
  if (step.op == "race" && step.result && step.result->contains("executed")) {
    return CrashPlan(step);
  }
  if (step.op == "race") {
    if (std::optional<Plan> plan = RacePlan(step)) return *std::move(plan);
  } else if (const std::optional<std::string> operation = OperationOf(step.op)) {
    const Commands commands = CommandsOf(step);
    Json arguments = Configured(*operation, step.arguments, commands);
    if (*operation == "dlq.replay_message") AddBroker(arguments, step, commands);
    Plan plan;
    plan.calls.push_back({"main", *operation, std::move(arguments)});
    return plan;
  }
  return absl::UnimplementedError(absl::StrCat("nothing stands for \"", step.op, "\""));
}

std::string ErrorTypeOf(const absl::Status& status) {
  if (const std::optional<std::string> type = python::ErrorType(status)) return *type;
  return store::ErrorKindOf(status) == store::ErrorKind::kServer ? "ResponseError" : "Exception";
}

Json RecordError(const absl::Status& status) {
  return Json{{"type", ErrorTypeOf(status)}, {"message", std::string(status.message())}};
}

// The messages of pydantic differ from ours. Messages of Redis are inside those of the original's
// client, which adds the command and may be cut.
std::optional<Difference> CompareError(const RecordedStep& step, const absl::Status& status) {
  Json got = RecordError(status);
  const std::string recorded = TextOf(*step.error, "message");
  // The original's client removes this code from the message, and no other.
  const std::string message = got["message"].get<std::string>();
  const std::string_view text =
      std::string_view(message).substr(message.starts_with("ERR ") ? 4 : 0);
  if (got["type"] == "ValidationError" ||
      (got["type"] == "ResponseError" && (absl::StrContains(recorded, base::ToAbsl(text)) ||
                                          recorded.size() == kRecordedMessageBytes))) {
    got["message"] = recorded;
  }
  return CompareJson(*step.error, got, step.path + "/error");
}

Json IsoOrNull(const std::optional<absl::Time>& time,
               std::string (*format)(const python::DateTime&)) {
  return time ? Json(format(*time)) : Json();
}

// Runs the three parsers of the table of timestamps.
base::Task<sim::OperationResult> ParseTimestamps(sim::OperationContext, const Json& arguments) {
  sim::ArgumentReader reader(arguments);
  const std::string value = reader.String("value");
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  const auto utc = python::ParseTimestamp(value, absl::UTCTimeZone());
  const auto local = python::ParseTimestamp(value, absl::FixedTimeZone(kSearchZoneSeconds));
  co_return Json{{"events._parse_timestamp", IsoOrNull(utc, python::FormatIso)},
                 {"health._parse_datetime", IsoOrNull(utc, python::FormatIso)},
                 {"search._isoformat(_parse_datetime)", IsoOrNull(local, python::FormatIsoZ)}};
}

}  // namespace

std::string MethodOf(std::string_view op) {
  const std::string name = WithoutRemark(op);
  return name.substr(name.rfind('.') + 1);
}

Domain RelaynaDomain() {
  Domain domain;
  domain.operations = Operations();
  domain.operations.Add("parse", ParseTimestamps);
  domain.operations.Add("status.stream", StatusStream(ErrorTypeOf));
  AddStudioOperations(domain.operations);
  domain.canonical_commands = WithSortedTokens;
  domain.record_error = RecordError;
  domain.race_error = [](const absl::Status& status) {
    return Json{{"error", absl::StrCat(ErrorTypeOf(status), ": ", status.message())}};
  };
  domain.compare_error = CompareError;
  domain.plan = PlanStep;
  // The recorder marks what the seed does not have: the feed of later releases.
  domain.is_newer_than_seed = [](const Golden& golden) {
    return absl::StrContains(golden.name, "_head_");
  };
  return domain;
}

}  // namespace redouble::inline v0_1::golden
