#include "redouble/tests/golden/studio/studio_race.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "redouble/tests/golden/replay/race.h"
#include "redouble/tests/golden/studio/studio_recording.h"

namespace redouble::inline v0_1::golden {
namespace {

using Commands = std::vector<RecordedCommand>;

constexpr std::string_view kRecord = "studio:services:by-id:";
constexpr std::string_view kPair = "studio:services:by-env-url:";
constexpr std::string_view kTaskDocument = "studio:search:task:doc:";
constexpr std::string_view kTaskFilter = "studio:search:task:filter:";

// Removes the commands of the next request: one, or those of a transaction.
Commands TakeRequest(std::span<const RecordedCommand>& commands) {
  size_t count = commands.empty() ? 0 : 1;
  if (count == 1 && commands.front().words.front() == "MULTI") {
    while (count < commands.size() && commands[count - 1].words.front() != "EXEC") ++count;
  }
  Commands request(commands.begin(), commands.begin() + count);
  commands = commands.subspan(count);
  return request;
}

bool Is(const Commands& commands, size_t index, std::string_view name, std::string_view prefix) {
  return index < commands.size() && commands[index].words.front() == name &&
         commands[index].words.size() > 1 && commands[index].words[1].starts_with(prefix);
}

// Returns the record that an update wrote; if it was refused, the one it would have written, with
// the pair that it looked up.
Json UpdatedRecord(const Golden& golden, size_t index, const Commands& commands,
                   const std::string& service_id) {
  const Json written = JsonSetTo(commands, kRecord);
  if (!written.empty()) return written;
  Json record = RecordBefore(golden, index, service_id);
  const std::string pair = SuffixBehind(commands, kPair);
  const size_t colon = pair.find(':');
  if (colon != std::string::npos) {
    record["environment"] = pair.substr(0, colon);
    record["base_url"] = pair.substr(colon + 1);
  }
  return record;
}

}  // namespace

Json RecordOfUpdate(const Golden& golden, size_t index, std::span<const RecordedCommand> commands) {
  const Commands own(commands.begin(), commands.end());
  return UpdatedRecord(golden, index, own, SuffixBehind(commands, kRecord));
}

namespace {

Json ChangesBetween(const Json& before, const Json& after) {
  Json changes = Json::object();
  for (const auto& [name, value] : after.items()) {
    if (!before.contains(name) || before[name] != value) changes[name] = value;
  }
  return changes;
}

// Returns the event of an upsert, from the document of the task.
Json EventOf(const Json& document) {
  Json payload = Json::object();
  for (const char* name : {"status", "stage"}) {
    if (document[name].is_string()) payload[name] = document[name];
  }
  return {{"service_id", document["service_id"]},
          {"ingest_method", "pull"},
          {"ingested_at", document["latest_ingested_at"]},
          {"dedupe_key", ""},
          {"task_id", document["task_id"]},
          {"event_type", document["latest_event_type"]},
          {"source_kind", "status"},
          {"timestamp", document["latest_event_at"]},
          {"correlation_id", document["correlation_id"]},
          {"payload", std::move(payload)}};
}

class Inference {
 public:
  Inference(const Golden& golden, size_t index, const Commands& commands)
      : golden_(golden), index_(index), commands_(commands) {}

  // Recognizes the operation of the actor by its commands; nullopt if it is not known.
  std::optional<std::pair<std::string, Json>> Find() const {
    if (Is(commands_, 0, "SET", kRecord)) {
      return Call("registry.create", {{"record", JsonSetTo(commands_, kRecord)}});
    }
    if (Is(commands_, 0, "GET", kRecord)) return OnRecord();
    if (Is(commands_, 0, "GET", "studio:events:task:")) {
      return Call("events.insert_event", {{"envelope", Envelope()}});
    }
    if (Is(commands_, 0, "GET", kTaskDocument)) return OnTaskDocument();
    if (Is(commands_, 0, "SMEMBERS", "studio:search:task:all")) {
      return Call("search.prune_expired_task_documents", Json::object());
    }
    if (Is(commands_, 0, "SMEMBERS", kTaskFilter)) return Call("search.search_tasks", Filters());
    if (Is(commands_, 0, "SMEMBERS", "studio:services:all")) {
      return Call("registry.list_services", Json::object());
    }
    return std::nullopt;
  }

 private:
  static std::pair<std::string, Json> Call(std::string operation, Json arguments) {
    return {std::move(operation), std::move(arguments)};
  }

  Json Envelope() const { return EnvelopeOf(JsonSetTo(commands_, "studio:events:event:")); }

  std::optional<std::pair<std::string, Json>> OnRecord() const {
    const std::string id = SuffixBehind(commands_, kRecord);
    if (Is(commands_, 1, "GET", kPair)) {
      return Call("registry.update", {{"record", RecordOfUpdate(golden_, index_, commands_)}});
    }
    if (Is(commands_, 1, "DEL", kRecord)) return Call("registry.delete", {{"service_id", id}});
    if (Is(commands_, 1, "GET", "studio:events:")) {
      return Call("ingest.ingest_events", {{"events", Json::array({Envelope()})}});
    }
    if (!Is(commands_, 1, "GET", kRecord)) return Call("registry.get", {{"service_id", id}});
    if (Is(commands_, 2, "DEL", kRecord)) {
      return Call("registry.delete_service", {{"service_id", id}});
    }
    const Json changes = ChangesBetween(RecordBefore(golden_, index_, id),
                                        UpdatedRecord(golden_, index_, commands_, id));
    return Call("registry.update_service", {{"service_id", id}, {"changes", changes}});
  }

  std::optional<std::pair<std::string, Json>> OnTaskDocument() const {
    const Json document = JsonSetTo(commands_, kTaskDocument);
    if (document.empty()) {
      return Call("search.delete_task_document",
                  {{"document_id", SuffixBehind(commands_, kTaskDocument)}});
    }
    if (!Is(commands_, 1, "GET", kTaskDocument)) {
      return Call("search.set_task_document", {{"document", document}});
    }
    return Call("search.upsert_task_document",
                {{"service", ServiceOf(document)}, {"event", EventOf(document)}});
  }

  Json Filters() const {
    Json filters = Json::object();
    for (const RecordedCommand& command : commands_) {
      const std::string filter = SuffixBehind(std::span(&command, 1), kTaskFilter);
      const size_t colon = filter.find(':');
      if (colon != std::string::npos) filters[filter.substr(0, colon)] = filter.substr(colon + 1);
    }
    return filters;
  }

  const Golden& golden_;
  const size_t index_;
  const Commands& commands_;
};

}  // namespace

std::optional<Plan::Call> InferCall(const Golden& golden, size_t index,
                                    std::span<const RecordedCommand> commands) {
  const Commands own(commands.begin(), commands.end());
  auto call = Inference(golden, index, own).Find();
  if (!call) return std::nullopt;
  AddConfiguration(golden, golden.steps[index], call->second);
  if (call->first == "search.upsert_task_document" || call->first == "ingest.ingest_events") {
    AddTaskTtl(golden.steps[index], commands, call->second);
  }
  return Plan::Call{"", std::move(call->first), std::move(call->second)};
}

namespace {

// Assigns each request of the step to its actor; `order` names them, the remaining ones belong to
// the last actor.
std::map<std::string, Commands> CommandsByActor(const RecordedStep& step,
                                                const std::vector<std::string>& order) {
  std::map<std::string, Commands> by_actor;
  std::span<const RecordedCommand> rest = step.commands;
  for (const std::string& actor : order) {
    const Commands request = TakeRequest(rest);
    by_actor[actor].insert(by_actor[actor].end(), request.begin(), request.end());
  }
  return by_actor;
}

// Adds the call of each actor; returns the actors whose operation is not known: other clients.
std::set<std::string> AddCalls(const Golden& golden, size_t index,
                               const std::map<std::string, Commands>& by_actor, Plan& plan) {
  std::set<std::string> foreign;
  for (const auto& [actor, commands] : by_actor) {
    if (std::optional<Plan::Call> call = InferCall(golden, index, commands)) {
      call->actor = actor;
      plan.calls.push_back(*std::move(call));
      continue;
    }
    std::vector<const RecordedCommand*> pointers;
    for (const RecordedCommand& command : commands) pointers.push_back(&command);
    plan.calls.push_back(ForeignCall(actor, pointers));
    foreign.insert(actor);
  }
  return foreign;
}

absl::StatusOr<Plan> PlanOfTrace(const Golden& golden, size_t index) {
  const RecordedStep& step = golden.steps[index];
  Plan plan;
  std::vector<std::string> order;
  for (const Json& trip : (*step.result)["trace"]) {
    if (!trip.is_array() || trip.size() != 2 || !trip[0].is_string()) {
      return absl::InvalidArgumentError("a request of the trace is no pair");
    }
    order.push_back(trip[0]);
    plan.turns.push_back({order.back()});
  }
  const std::set<std::string> foreign = AddCalls(golden, index, CommandsByActor(step, order), plan);
  EndAsRecorded(*step.result, foreign, plan);
  return plan;
}

size_t CountRequests(const RecordedStep& step) {
  size_t requests = 0;
  for (std::span<const RecordedCommand> rest = step.commands; !rest.empty(); ++requests) {
    TakeRequest(rest);
  }
  return requests;
}

// Plans one actor that is killed after its last request: {"executed": [...], ...}.
Plan PlanOfCrash(const Golden& golden, size_t index) {
  const RecordedStep& step = golden.steps[index];
  Plan plan;
  const std::vector<std::string> order(CountRequests(step), "A");
  AddCalls(golden, index, CommandsByActor(step, order), plan);
  plan.turns.assign(order.size(), {"A"});
  plan.ends_in_crash = true;
  plan.record = [recorded = *step.result](const std::vector<Plan::Trip>& trips, const Json&) {
    Json result = recorded;
    result["executed"] = Json::array();
    for (const Plan::Trip& trip : trips) result["executed"].push_back(trip.description);
    return result;
  };
  return plan;
}

// Plans an actor B that runs between two requests of A.
absl::StatusOr<Plan> PlanOfTwo(const Golden& golden, size_t index) {
  const RecordedStep& step = golden.steps[index];
  const Json& result = *step.result;
  size_t requests_before = 0;
  for (const auto& [name, value] : result.items()) {
    if (name.ends_with("_after_A_steps")) requests_before = value.get<size_t>();
  }
  const size_t requests_of_a = result["trace_A"].size();
  if (requests_before == 0 || requests_before > requests_of_a) {
    return absl::InvalidArgumentError("when does B run?");
  }
  const size_t requests = CountRequests(step);
  std::vector<std::string> order(requests, "A");
  std::fill_n(order.begin() + static_cast<ptrdiff_t>(requests_before), requests - requests_of_a,
              "B");
  Plan plan;
  for (size_t i = 0; i < requests_before; ++i) plan.turns.push_back({"A"});
  plan.turns.push_back({"B", true});
  plan.turns.push_back({"A", true});
  AddCalls(golden, index, CommandsByActor(step, order), plan);
  plan.record = [recorded = result](const std::vector<Plan::Trip>& trips, const Json& results) {
    Json result = recorded;
    result["trace_A"] = Json::array();
    for (const Plan::Trip& trip : trips) {
      if (trip.actor == "A") result["trace_A"].push_back(trip.description);
    }
    for (const auto& [actor, value] : results.items()) {
      const std::string name = absl::StrCat("result_", actor);
      if (result.contains(name)) result[name] = value;
    }
    return result;
  };
  return plan;
}

}  // namespace

absl::StatusOr<Plan> StudioRace(const Golden& golden, size_t index) {
  const std::optional<Json>& result = golden.steps[index].result;
  if (result && result->contains("trace")) return PlanOfTrace(golden, index);
  if (result && result->contains("trace_A")) return PlanOfTwo(golden, index);
  if (result && result->contains("executed")) return PlanOfCrash(golden, index);
  return absl::InvalidArgumentError("a race of another shape");
}

}  // namespace redouble::inline v0_1::golden
