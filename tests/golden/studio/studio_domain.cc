#include "redouble/tests/golden/studio/studio_domain.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/studio/studio_operations.h"
#include "redouble/tests/golden/replay/off_record.h"
#include "redouble/tests/golden/studio/studio_race.h"
#include "redouble/tests/golden/studio/studio_recording.h"

namespace redouble::inline v0_1::golden {
namespace {

constexpr std::array<std::string_view, 6> kFamilies = {"registry.", "events.",       "ingest.",
                                                       "health.",   "health_store.", "search."};

// Returns "ingest.sync_service" for "ingest.sync_service (again)".
std::string OperationName(const RecordedStep& step) {
  std::string name = step.op.substr(0, step.op.find('('));
  absl::StripTrailingAsciiWhitespace(&name);
  return name;
}

// Returns the operation in the name that the recorder gave to a preparing step.
std::string PlainName(const RecordedStep& step) {
  const std::string name = OperationName(step);
  if (name == "seed.create") return "registry.create";
  if (name == "seed.insert_event") return "events.insert_event";
  return name;
}

// Returns the feed that is served at a step: the last one that the steps up to it name.
Json FeedAt(const Golden& golden, size_t index) {
  Json feed = Json::array();
  for (size_t i = 0; i <= index; ++i) {
    const Json& arguments = golden.steps[i].arguments;
    if (arguments.contains("feed")) feed = arguments["feed"];
    if (!arguments.contains("feed_cursors")) continue;
    feed = Json::array();
    for (const Json& cursor : arguments["feed_cursors"]) {
      feed.push_back({{"cursor", cursor},
                      {"task_id", "t1"},
                      {"event_type", "status.s"},
                      {"source_kind", "status"},
                      {"event_id", cursor},
                      {"payload", Json::object()}});
    }
  }
  return feed;
}

// Returns the service whose feed a step pulls.
Json PulledService(const Golden& golden, const RecordedStep& step) {
  const std::string id = SuffixBehind(step, "studio:events:pull-cursor:");
  if (!golden.keyspace) return ServiceNamed(id);
  const auto record = golden.keyspace->find("studio:services:by-id:" + id);
  if (record == golden.keyspace->end()) return ServiceNamed(id);
  return Json::parse(record->second.value.get<std::string>());
}

// Adds the answers of a service, read from what was recorded.
void AddAnswers(const RecordedStep& step, Json& arguments) {
  const Json result = step.result.value_or(Json::object());
  const Json record = JsonSetTo(step, "studio:services:by-id:");
  if (record.contains("capabilities") && !record["capabilities"].is_null()) {
    arguments["capabilities"] = record["capabilities"];
  } else if (step.error) {
    arguments["capability_error"] = (*step.error)["message"];
  } else if (result.contains("http_status") && result["http_status"]["error_detail"].is_string()) {
    arguments["capability_error"] = result["http_status"]["error_detail"];
  }
  if (!result.contains("worker_health")) return;
  const Json& health = result["worker_health"];
  if (health["detail"].is_string()) {
    arguments["worker_error"] = health["detail"];
  } else if (health["reported_at"].is_string()) {
    arguments["workers"] = {{"reported_at", health["reported_at"]}, {"workers", health["workers"]}};
  }
}

// Returns the changes of an update: the argument `changes`, the only object among the arguments, or
// all arguments except the id.
Json ChangesOf(const Json& arguments) {
  if (arguments.contains("changes")) return arguments;
  Json changes = arguments;
  changes.erase("service_id");
  if (changes.size() == 1 && changes.front().is_object() &&
      !changes.begin().key().ends_with("_config")) {
    changes = Json(changes.front());
  }
  return {{"service_id", arguments.value("service_id", "")}, {"changes", std::move(changes)}};
}

Json ArgumentsOf(const Golden& golden, size_t index) {
  const RecordedStep& step = golden.steps[index];
  const std::string name = PlainName(step);
  Json arguments = step.arguments;
  if (name == "registry.create" && !arguments.contains("record")) {
    arguments = {{"record", JsonSetTo(step, "studio:services:by-id:")}};
  } else if (name == "registry.update" && !arguments.contains("record")) {
    arguments = {{"record", RecordOfUpdate(golden, index, step.commands)}};
  } else if (name == "registry.update_service") {
    arguments = ChangesOf(arguments);
  } else if (step.op == "seed.insert_event") {
    arguments = {{"envelope", EnvelopeOf(JsonSetTo(step, "studio:events:event:"))}};
  } else if (name == "search.upsert_task_document" && !arguments.contains("service")) {
    arguments["service"] = ServiceOf(JsonSetTo(step, "studio:search:task:doc:"));
  } else if (name == "search.upsert_service_document" && !arguments.contains("service")) {
    arguments["service"] = RecordBefore(golden, index, arguments.value("service_id", ""));
  } else if (name == "ingest.sync_service") {
    arguments.erase("feed_cursors");
    arguments["feed"] = FeedAt(golden, index);
    if (!arguments.contains("service")) arguments["service"] = PulledService(golden, step);
  } else if (name == "health.refresh_health" || name == "registry.refresh_service") {
    AddAnswers(step, arguments);
  }
  if (IsPure(name)) return arguments;
  AddConfiguration(golden, step, arguments);
  if (name == "search.upsert_task_document" || name == "ingest.ingest_events") {
    AddTaskTtl(step, step.commands, arguments);
  }
  return arguments;
}

Plan::Call CallOf(std::string operation, Json arguments) {
  return {.actor = "off the record",
          .operation = std::move(operation),
          .arguments = std::move(arguments)};
}

Plan::Call SendCommands(std::vector<std::vector<std::string>> commands) {
  return CallOf("redis.commands", {{"commands", std::move(commands)}});
}

// Returns commands that create the keys that no recorded command created, either those of events or
// the others.
std::vector<std::vector<std::string>> CommandsOffRecord(const Golden& golden, bool of_events) {
  std::vector<std::vector<std::string>> commands;
  for (const auto& [key, entry] : KeysOffRecord(golden)) {
    if (key.starts_with("studio:events:") != of_events) continue;
    for (auto& words : CommandsThatCreate(key, entry)) commands.push_back(std::move(words));
    if (entry.ttl >= 0) commands.push_back({"EXPIRE", key, absl::StrCat(entry.ttl)});
  }
  return commands;
}

// Returns the first step that finds events which no recorded command inserted. In goldens without
// health they exist from the beginning.
size_t FirstStepWithEvents(const Golden& golden) {
  for (size_t i = 0; i < golden.steps.size(); ++i) {
    const RecordedStep& step = golden.steps[i];
    if (!step.result || !step.result->is_object()) continue;
    if (!step.result->contains("observation_freshness")) continue;
    if ((*step.result)["observation_freshness"]["latest_ingested_at"].is_string()) return i;
  }
  return 0;
}

// Returns the status of a service in the registry before a step, as the health documents have it.
std::string RegistryStatusBefore(const Golden& golden, size_t index) {
  std::string status = "registered";
  for (size_t i = 0; i < index; ++i) {
    const std::optional<Json>& result = golden.steps[i].result;
    if (result && result->is_object() && result->contains("registry_status")) {
      status = (*result)["registry_status"];
    }
  }
  return status;
}

void AddCallsBefore(const Golden& golden, size_t index, Plan& plan) {
  for (const bool of_events : {false, true}) {
    if (index != (of_events ? FirstStepWithEvents(golden) : 0)) continue;
    auto commands = CommandsOffRecord(golden, of_events);
    if (!commands.empty()) plan.before.push_back(SendCommands(std::move(commands)));
  }
  const RecordedStep& step = golden.steps[index];
  if (!step.result || !step.result->is_object() || !step.result->contains("registry_status"))
    return;
  const std::string status = (*step.result)["registry_status"];
  if (status == RegistryStatusBefore(golden, index)) return;
  plan.before.push_back(
      CallOf("registry.update_service",
             {{"service_id", step.arguments["service_id"]}, {"changes", {{"status", status}}}}));
}

// Adds the deletion of a service that a recorded command created, none deleted, and that does not
// exist at the end.
void AddCallsAfterwards(const Golden& golden, size_t index, Plan& plan) {
  if (index + 1 != golden.steps.size() || !golden.keyspace) return;
  for (const RecordedStep& step : golden.steps) {
    const Json record = JsonSetTo(step, "studio:services:by-id:");
    if (PlainName(step) != "registry.create_service" || !record.contains("service_id")) continue;
    const std::string id = record["service_id"];
    const std::string key = "studio:services:by-id:" + id;
    const bool deleted = std::any_of(golden.steps.begin(), golden.steps.end(),
                                     [&](const auto& one) { return HasCommand(one, "DEL", key); });
    if (golden.keyspace->contains(key) || deleted) continue;
    plan.afterwards.push_back(CallOf("registry.delete_service", {{"service_id", id}}));
  }
}

const sim::OperationTable& Operations() {
  static const sim::OperationTable& table = *new sim::OperationTable(scenarios::StudioOperations());
  return table;
}

// Returns the operation of a step by its name, or by its commands if it has none: a preparing step
// or one of an actor.
std::optional<Plan::Call> CallOfStep(const Golden& golden, size_t index) {
  const RecordedStep& step = golden.steps[index];
  const std::string name = PlainName(step);
  if (Operations().Find(name) != nullptr) {
    return Plan::Call{.actor = "A", .operation = name, .arguments = ArgumentsOf(golden, index)};
  }
  std::optional<Plan::Call> call = InferCall(golden, index, step.commands);
  if (call) call->actor = "A";
  return call;
}

base::Task<sim::OperationResult> SendAll(sim::OperationContext context, const Json& arguments) {
  for (const Json& words : arguments["commands"]) {
    const std::vector<std::string> texts = words;
    store::Command command = store::Command::Named(texts.front());
    command.AddAll(std::span(texts).subspan(1));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const store::Reply reply, co_await context.store.Execute(command));
    if (reply.is_error()) co_return absl::InvalidArgumentError(reply.text());
  }
  co_return Json();
}

bool IsTokenCommand(const Json& command) {
  return command.size() == 3 && (command[0] == "SADD" || command[0] == "SREM") &&
         command[1].get<std::string>().find(":service:token:") != std::string::npos;
}

}  // namespace

bool IsStudioGolden(const Golden& golden) {
  return std::any_of(golden.steps.begin(), golden.steps.end(), [](const RecordedStep& step) {
    const bool named =
        std::any_of(kFamilies.begin(), kFamilies.end(),
                    [&](std::string_view family) { return step.op.starts_with(family); });
    return named || !SuffixBehind(step, "studio:").empty();
  });
}

void AddStudioOperations(sim::OperationTable& operations) {
  for (const std::string& name : Operations().Names()) {
    operations.Add(name, *Operations().Find(name));
  }
  operations.Add("redis.commands", SendAll);
}

absl::StatusOr<Plan> StudioPlan(const Golden& golden, size_t index) {
  const RecordedStep& step = golden.steps[index];
  Plan plan;
  if (step.op == "race") {
    REDOUBLE_ASSIGN_OR_RETURN(Plan race, StudioRace(golden, index));
    plan = std::move(race);
  } else if (!step.op.starts_with("raw")) {
    std::optional<Plan::Call> call = CallOfStep(golden, index);
    if (!call) {
      return absl::UnimplementedError(absl::StrCat("nothing stands for \"", step.op, "\""));
    }
    plan.calls.push_back(*std::move(call));
  }
  AddCallsBefore(golden, index, plan);
  AddCallsAfterwards(golden, index, plan);
  return plan;
}

Json WithSortedTokens(Json commands) {
  auto begin = std::find_if(commands.begin(), commands.end(), IsTokenCommand);
  while (begin != commands.end()) {
    const Json name = (*begin)[0];
    auto end = begin;
    while (end != commands.end() && IsTokenCommand(*end) && (*end)[0] == name) ++end;
    std::sort(begin, end, [](const Json& a, const Json& b) { return a[1] < b[1]; });
    begin = std::find_if(end, commands.end(), IsTokenCommand);
  }
  return commands;
}

}  // namespace redouble::inline v0_1::golden
