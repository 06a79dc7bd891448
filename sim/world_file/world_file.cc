#include "redouble/sim/world_file/world_file.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/json/json_reading.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/nearest_word.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::sim {
namespace {

absl::Status Wrong(std::string_view path, std::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(base::ToAbsl(path), ": ", base::ToAbsl(message)));
}

StepServers ServersOf(const WorldFile& world) {
  StepServers servers;
  if (world.cluster) servers.cluster_masters = servers.all;
  for (const ServerOptions& server : world.servers) {
    servers.all.push_back(server.name);
    if (world.cluster && server.replica_of.empty()) servers.cluster_masters.push_back(server.name);
  }
  return servers;
}

void ParseActors(const Json& json, std::string_view place, const OperationTable& operations,
                 ArgumentReader& fields, const StepServers& servers,
                 std::vector<WorldActor>& actors) {
  if (!json.is_object() || json.empty()) {
    return fields.Add(Wrong(place, "expected one actor at least"));
  }
  for (const auto& [name, steps] : json.items()) {
    const std::string path = absl::StrCat(base::ToAbsl(place), base::PointerPart(name));
    absl::StatusOr<std::vector<WorldStep>> parsed =
        ParseWorldSteps(steps, path, operations, /*in_actor=*/true, servers);
    fields.Add(parsed.status());
    if (!parsed.ok()) continue;
    if (parsed->empty()) fields.Add(Wrong(path, "expected one step at least"));
    actors.push_back(WorldActor{name, *std::move(parsed)});
  }
}

bool Has(const std::vector<WorldActor>& actors, std::string_view name) {
  return std::any_of(actors.begin(), actors.end(),
                     [&](const WorldActor& actor) { return actor.name == name; });
}

// Reads a duration that may be negative or infinite; returns zero if it is absent.
absl::Duration ReadDuration(ArgumentReader& fields, std::string_view name) {
  const std::optional<std::string> text = fields.OptionalString(name);
  absl::Duration duration;
  if (text && !absl::ParseDuration(*text, &duration)) {
    fields.Refuse(name, absl::StrCat("expected a duration such as \"1m30s\" or \"-5ms\", got \"",
                                     *text, "\""));
  }
  return duration;
}

// Returns true if the server is a replica or has one, so that it can be promoted.
bool IsReplicated(std::string_view name, const WorldFile& world) {
  return std::any_of(world.servers.begin(), world.servers.end(), [&](const ServerOptions& server) {
    return !server.replica_of.empty() && (server.name == name || server.replica_of == name);
  });
}

absl::StatusOr<FaultRule> ParseFaultRule(const Json& json, std::string_view path,
                                         const WorldFile& world) {
  ArgumentReader fields(json, path);
  FaultRule rule{.fault = Fault::kDropRequest};
  const std::string name = fields.String("fault");
  const FaultSpec* spec = FindFaultSpec(name);
  if (spec == nullptr) {
    std::vector<std::string> known;
    for (const FaultSpec& row : AllFaults()) known.emplace_back(row.name);
    fields.Refuse("fault",
                  absl::StrCat("unknown fault \"", name, "\"", base::DidYouMean(name, known),
                               "; known: ", absl::StrJoin(known, ", ")));
  } else if (spec->needs_split_events && world.events != Events::kSplit) {
    fields.Refuse("fault", absl::StrCat(name, R"( needs "events": "split")"));
  } else {
    rule.fault = spec->fault;
  }
  rule.actor = fields.OptionalString("actor").value_or("");
  if (!rule.actor.empty() && !Has(world.actors, rule.actor))
    fields.Refuse("actor", "there is no such actor");
  rule.command = fields.OptionalString("command").value_or("");
  rule.key = fields.OptionalString("key").value_or("");
  rule.from = fields.TimeOr("from", rule.from);
  rule.until = fields.TimeOr("until", rule.until);
  rule.nth = fields.IntegerOr("nth", rule.nth);
  rule.probability = fields.OptionalDouble("probability").value_or(rule.probability);
  rule.limit = fields.IntegerOr("limit", rule.limit);
  rule.duration = ReadDuration(fields, "for");
  rule.snapshot = fields.TimeOr("snapshot", rule.snapshot);
  rule.count = fields.IntegerOr("count", rule.count);
  rule.error = fields.OptionalString("error").value_or(rule.error);
  rule.server = fields.OptionalString("server").value_or("");
  if (rule.nth < 0) fields.Refuse("nth", "matches are counted from 1");
  if (!(rule.probability > 0 && rule.probability <= 1)) {
    fields.Refuse("probability", "expected more than 0 and at most 1");
  }
  if (rule.limit < 1) fields.Refuse("limit", "expected 1 at least");
  if (rule.count < 1) fields.Refuse("count", "expected 1 at least");
  if (rule.fault == Fault::kPromote && !IsReplicated(rule.server, world)) {
    fields.Refuse("server", "expected the name of a replica");
  }
  if (rule.fault == Fault::kDelay && rule.duration <= absl::ZeroDuration()) {
    fields.Refuse("for", "a delay lasts for some time");
  }
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  return rule;
}

absl::StatusOr<RecordedViolation> ParseViolation(const Json& json) {
  ArgumentReader fields(json, "/violation");
  RecordedViolation violation;
  violation.seed = static_cast<uint64_t>(fields.Integer("seed"));
  violation.hardened = fields.BoolOr("hardened", false);
  violation.swarm = fields.BoolOr("swarm", false);
  violation.broke = fields.String("broke");
  violation.trace_hash = fields.String("trace_hash");
  for (const Json& decision : fields.Any("decisions")) {
    if (!decision.is_number_unsigned()) {
      fields.Refuse("decisions", "expected numbers from 0 on");
      break;
    }
    violation.decisions.push_back(decision.get<uint32_t>());
  }
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  return violation;
}

void CheckHardened(const Json& hardened, const OperationTable& operations, ArgumentReader& fields) {
  for (const auto& [name, arguments] : hardened.items()) {
    const std::string path = absl::StrCat("/hardened", base::PointerPart(name));
    if (operations.Find(name) == nullptr) {
      fields.Add(Wrong(path, "the system has no such operation"));
    } else if (!arguments.is_object()) {
      fields.Add(Wrong(path, "expected an object of arguments"));
    }
  }
}

void ParseHardenedActors(const Json& json, const OperationTable& operations, ArgumentReader& fields,
                         WorldFile& world) {
  constexpr std::string_view kPlace = "/hardened_actors";
  ParseActors(json, kPlace, operations, fields, ServersOf(world), world.hardened_actors);
  for (const WorldActor& actor : world.hardened_actors) {
    if (Has(world.actors, actor.name)) continue;
    fields.Add(Wrong(absl::StrCat(base::ToAbsl(kPlace), base::PointerPart(actor.name)),
                     "there is no such actor"));
  }
}

using Invariants = std::vector<std::shared_ptr<const WorldInvariant>>;

void ParseInvariants(const Json& json, std::string_view path, ArgumentReader& fields,
                     Invariants& invariants) {
  for (size_t i = 0; i < json.size(); ++i) {
    auto invariant = ParseInvariant(json[i], absl::StrCat(base::ToAbsl(path), "/", i));
    fields.Add(invariant.status());
    if (invariant.ok()) invariants.push_back(*std::move(invariant));
  }
}

bool Calls(const std::vector<WorldActor>& actors, std::string_view operation) {
  bool calls = false;
  for (const WorldActor& actor : actors) {
    VisitCalls(actor.steps,
               [&](const CallStep& step) { calls = calls || step.call.name == operation; });
  }
  return calls;
}

// An invariant that judges values which no actor binds shows nothing.
void CheckBoundNames(const WorldFile& world, const Invariants& invariants, std::string_view path,
                     ArgumentReader& fields) {
  for (size_t i = 0; i < invariants.size(); ++i) {
    const std::string_view name = invariants[i]->bound_name();
    const std::string_view actor = invariants[i]->bound_actor();
    if (name.empty()) continue;
    std::vector<std::string> names;
    std::vector<std::string> actors;
    for (const auto* list : {&world.actors, &world.hardened_actors}) {
      for (const WorldActor& one : *list) {
        actors.push_back(one.name);
        if (actor.empty() || one.name == actor) CollectNames(one.steps, names);
      }
    }
    const std::string place = absl::StrCat(base::ToAbsl(path), "/", i);
    if (!actor.empty() && std::find(actors.begin(), actors.end(), actor) == actors.end()) {
      fields.Add(
          Wrong(place + "/actor", "there is no such actor" + base::DidYouMean(actor, actors)));
    } else if (std::find(names.begin(), names.end(), name) == names.end()) {
      fields.Add(Wrong(place + "/value", absl::StrCat("no step binds \"", base::ToAbsl(name), "\"",
                                                      base::DidYouMean(name, names))));
    }
  }
}

// An invariant that counts calls which no actor makes shows nothing.
void CheckOperations(const WorldFile& world, const Invariants& invariants, std::string_view path,
                     ArgumentReader& fields) {
  for (size_t i = 0; i < invariants.size(); ++i) {
    const std::string_view operation = invariants[i]->operation();
    if (operation.empty() || Calls(world.actors, operation) ||
        Calls(world.hardened_actors, operation)) {
      continue;
    }
    fields.Add(Wrong(absl::StrCat(base::ToAbsl(path), "/", i, "/operation"),
                     absl::StrCat("no actor calls ", base::ToAbsl(operation))));
  }
}

void CheckServers(const std::vector<std::string>& servers, const Invariants& invariants,
                  std::string_view path, ArgumentReader& fields) {
  for (size_t i = 0; i < invariants.size(); ++i) {
    const std::string& server = invariants[i]->server();
    if (server.empty() || std::find(servers.begin(), servers.end(), server) != servers.end()) {
      continue;
    }
    fields.Add(Wrong(
        absl::StrCat(base::ToAbsl(path), "/", i, "/server"),
        absl::StrCat("there is no server \"", server, "\"", base::DidYouMean(server, servers))));
  }
}

void ParseFaults(const Json& json, ArgumentReader& fields, WorldFile& world) {
  for (size_t i = 0; i < json.size(); ++i) {
    absl::StatusOr<FaultRule> rule = ParseFaultRule(json[i], absl::StrCat("/faults/", i), world);
    fields.Add(rule.status());
    if (rule.ok()) world.faults.push_back(*std::move(rule));
  }
}

// Returns an optional list; an empty one if it is absent or wrong.
const Json& ReadList(ArgumentReader& fields, std::string_view name) {
  static const Json* const kNone = new Json(Json::array());
  const Json* list = fields.Find(name);
  if (list == nullptr) return *kNone;
  if (list->is_array()) return *list;
  fields.Refuse(name, "expected an array");
  return *kNone;
}

// Reads what makes a step of the schedule.
void ParseEvents(ArgumentReader& fields, WorldFile& world) {
  const std::string events = fields.OptionalString("events").value_or("atomic");
  if (events != "atomic" && events != "split") {
    fields.Refuse("events", absl::StrCat("expected \"atomic\" or \"split\", got \"", events, "\""));
  }
  world.events = events == "split" ? Events::kSplit : Events::kAtomic;
  constexpr int64_t kMostMoves = 1000;
  const int64_t moves = fields.IntegerOr("clock_moves", 0);
  if (moves < 0 || moves > kMostMoves) {
    fields.Refuse("clock_moves", absl::StrCat("expected 0 to ", kMostMoves));
  } else {
    world.clock_moves = static_cast<int>(moves);
  }
  if (fields.Find("request_timeout") == nullptr) return;
  world.request_timeout = ReadDuration(fields, "request_timeout");
  if (world.request_timeout <= absl::ZeroDuration()) {
    fields.Refuse("request_timeout", "expected a duration above 0, such as \"5s\"");
  }
}

// Reads the servers; a master must come before its replicas.
void ParseServers(ArgumentReader& fields, WorldFile& world) {
  world.cluster = fields.BoolOr("cluster", false);
  const Json* servers = fields.Find("servers");
  if (servers == nullptr) return;
  if (!servers->is_object()) return fields.Refuse("servers", "expected an object by name");
  for (const auto& [name, options] : servers->items()) {
    const std::string path = absl::StrCat("/servers", base::PointerPart(name));
    ArgumentReader server(options, path);
    const std::string master = server.OptionalString("replica_of").value_or("");
    fields.Add(server.Finish());
    if (name.empty() || name == kMainServer) {
      fields.Add(Wrong(path, "the name of a server is new, and not empty"));
    }
    world.servers.push_back({.name = name, .replica_of = master});
  }
  std::stable_partition(world.servers.begin(), world.servers.end(),
                        [](const ServerOptions& server) { return server.replica_of.empty(); });
  for (const ServerOptions& server : world.servers) {
    const bool is_known =
        server.replica_of.empty() || server.replica_of == kMainServer ||
        std::any_of(world.servers.begin(), world.servers.end(), [&](const ServerOptions& other) {
          return other.name == server.replica_of && other.replica_of.empty();
        });
    if (is_known) continue;
    fields.Add(Wrong(absl::StrCat("/servers", base::PointerPart(server.name), "/replica_of"),
                     "expected \"main\", or a server that is no replica"));
  }
}

void ParseDaemons(ArgumentReader& fields, WorldFile& world) {
  if (fields.Find("daemons") == nullptr) return;
  std::vector<std::string> names;
  for (const WorldActor& actor : world.actors) names.push_back(actor.name);
  for (const std::string& name : fields.Strings("daemons")) {
    if (!Has(world.actors, name)) {
      fields.Refuse("daemons", absl::StrCat("there is no actor \"", name, "\"",
                                            base::DidYouMean(name, names)));
    }
    for (WorldActor& actor : world.actors) actor.is_daemon = actor.is_daemon || actor.name == name;
  }
}

// Reads what depends on the system: its steps and everything that names an actor.
void ParseParts(const OperationTable& operations, ArgumentReader& fields, WorldFile& world) {
  ParseServers(fields, world);
  const StepServers servers = ServersOf(world);
  absl::StatusOr<std::vector<WorldStep>> setup =
      ParseWorldSteps(ReadList(fields, "setup"), "/setup", operations, /*in_actor=*/false, servers);
  fields.Add(setup.status());
  if (setup.ok()) world.setup = *std::move(setup);
  ParseActors(fields.Any("actors"), "/actors", operations, fields, servers, world.actors);
  ParseDaemons(fields, world);
  ParseFaults(ReadList(fields, "faults"), fields, world);
  const Json& invariants = fields.Any("invariants");
  if (!invariants.is_array() || invariants.empty()) {
    fields.Refuse("invariants", "expected one invariant at least");
  } else {
    ParseInvariants(invariants, "/invariants", fields, world.invariants);
  }
  ParseInvariants(ReadList(fields, "probes"), "/probes", fields, world.probes);
  if (const Json* hardened = fields.Find("hardened")) {
    world.hardened = *hardened;
    if (!hardened->is_object()) {
      fields.Refuse("hardened", "expected an object by operation");
    } else {
      CheckHardened(*hardened, operations, fields);
    }
  }
  if (const Json* actors = fields.Find("hardened_actors")) {
    ParseHardenedActors(*actors, operations, fields, world);
  }
  CheckServers(servers.all, world.invariants, "/invariants", fields);
  CheckServers(servers.all, world.probes, "/probes", fields);
  CheckOperations(world, world.invariants, "/invariants", fields);
  CheckOperations(world, world.probes, "/probes", fields);
  CheckBoundNames(world, world.invariants, "/invariants", fields);
  CheckBoundNames(world, world.probes, "/probes", fields);
  if (const Json* violation = fields.Find("violation")) {
    absl::StatusOr<RecordedViolation> recorded = ParseViolation(*violation);
    fields.Add(recorded.status());
    if (recorded.ok()) world.violation = *std::move(recorded);
  }
}

absl::StatusOr<WorldFile> ParseWorld(const Json& json, const SystemTable& systems) {
  static const OperationTable* const kNoOperations = new OperationTable();
  ArgumentReader fields(json);
  if (!json.is_object()) return fields.Finish();
  WorldFile world;
  world.json = json;
  world.name = fields.String("name");
  world.description = fields.String("description");
  world.source = fields.String("source");
  const std::optional<std::string> system_name = fields.OptionalString("system");
  world.system = system_name.value_or("");
  world.start = fields.Time("start");
  world.compatibility = ReadCompatibility(fields);
  ParseEvents(fields, world);
  const auto system = systems.find(world.system);
  if (system == systems.end() && world.system != kCommandsOnly) {
    fields.Refuse("system", UnknownSystem(system_name, systems));
    // Without a system, every operation would be unknown.
    for (const auto& field : json.items()) fields.Find(field.key());
    return fields.Finish();
  }
  ParseParts(system == systems.end() ? *kNoOperations : system->second, fields, world);
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  return world;
}

}  // namespace

const WorldActor* WorldFile::FindHardenedActor(std::string_view name) const {
  const auto found = std::find_if(hardened_actors.begin(), hardened_actors.end(),
                                  [&](const WorldActor& actor) { return actor.name == name; });
  return found == hardened_actors.end() ? nullptr : &*found;
}

bool IsWorldFile(std::string_view text) {
  const absl::StatusOr<Json> json = ParseStrictJson(text);
  return json.ok() && json->is_object() && json->contains("actors");
}

absl::StatusOr<WorldFile> ParseWorldFile(std::string_view text, std::string_view file,
                                         const SystemTable& systems) {
  const absl::StatusOr<Json> json = ParseStrictJson(text);
  absl::StatusOr<WorldFile> world =
      json.ok() ? ParseWorld(*json, systems) : absl::StatusOr<WorldFile>(json.status());
  if (!world.ok()) return WithFile(world.status(), file);
  world->file = std::string(file);
  return world;
}

std::string WithViolation(const WorldFile& world, const RecordedViolation& violation) {
  Json json = world.json;
  json["violation"] = Json{{"seed", violation.seed},         {"decisions", violation.decisions},
                           {"hardened", violation.hardened}, {"swarm", violation.swarm},
                           {"broke", violation.broke},       {"trace_hash", violation.trace_hash}};
  constexpr int kIndent = 2;
  return json.dump(kIndent) + "\n";
}

}  // namespace redouble::inline v0_1::sim
