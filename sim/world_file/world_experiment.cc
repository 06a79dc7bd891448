#include "redouble/sim/world_file/world_experiment.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/check/serial.h"
#include "redouble/sim/world_file/actor_run.h"

namespace redouble::inline v0_1::sim {
namespace {

// Adds the arguments in `hardened` to the calls; "$actor" is replaced by the actor's name.
void Harden(const Json& hardened, std::string_view actor, std::vector<WorldStep>& steps) {
  VisitCalls(steps, [&](CallStep& step) {
    const auto more = hardened.find(step.call.name);
    if (more == hardened.end()) return;
    for (const auto& [name, value] : more->items()) {
      step.call.arguments[name] = value == "$actor" ? Json(actor) : value;
    }
  });
}

std::vector<std::string> FaultErrors(const WorldFile& world) {
  std::vector<std::string> errors;
  for (const FaultRule& rule : world.faults) {
    if (rule.fault == Fault::kErrorReply) errors.push_back(rule.error);
  }
  return errors;
}

// Sets what the file says about the servers.
void SetServers(const WorldFile& file, WorldOptions& options) {
  options.start = file.start;
  options.servers = file.servers;
  options.cluster = file.cluster;
  if (!file.compatibility) return;
  options.engine.compatibility = *file.compatibility;
  for (ServerOptions& server : options.servers) server.engine.compatibility = *file.compatibility;
}

}  // namespace

WorldExperiment::WorldExperiment(const WorldFile& world, WorldVariant variant)
    : world_(world), variant_(variant), actors_(world.actors), setup_(world.setup) {
  if (variant.hardened) HardenActors();
  const bool needs_states =
      std::any_of(world.invariants.begin(), world.invariants.end(),
                  [](const auto& invariant) { return invariant->needs_serial_states(); });
  if (needs_states) ComputeSerialStates();
}

void WorldExperiment::HardenActors() {
  for (WorldActor& actor : actors_) {
    const WorldActor* hardened = world_.FindHardenedActor(actor.name);
    if (hardened != nullptr) actor.steps = hardened->steps;
  }
  if (!world_.hardened.is_object()) return;
  Harden(world_.hardened, "setup", setup_);
  for (WorldActor& actor : actors_) Harden(world_.hardened, actor.name, actor.steps);
}

Experiment WorldExperiment::experiment() const {
  return [this](World& world) {
    const bool has_history = std::any_of(world_.invariants.begin(), world_.invariants.end(),
                                         [](const auto& one) { return one->needs_history(); });
    const auto state =
        std::make_shared<RunState>(RunState{world, FaultErrors(world_), has_history});
    if (has_history) {
      state->observed.history.SetObserver(
          [&world](bool ends) { world.OnShared("the history", ends); });
    }
    if (const absl::Status status = SetUp(setup_, *state); !status.ok()) {
      world.ReportMistake(absl::InvalidArgumentError(absl::StrCat("setup: ", status.message())));
    }
    for (const WorldActor& actor : actors_) {
      world.Spawn(actor.name,
                  [&actor, state](Actor& self) { return RunActor(self, actor.steps, *state); },
                  {.daemon = actor.is_daemon});
    }
    for (const std::shared_ptr<const WorldInvariant>& invariant : world_.invariants) {
      AddInvariant(world, state, invariant);
    }
    for (const std::shared_ptr<const WorldInvariant>& probe : world_.probes) {
      world.AddProbe(probe->name(), [this, &world, state, probe] {
        return probe->Check(WorldView{world, state->observed, serial_states_}).ok();
      });
    }
  };
}

void WorldExperiment::AddInvariant(World& world, const std::shared_ptr<RunState>& state,
                                   const std::shared_ptr<const WorldInvariant>& invariant) const {
  const auto check = [this, &world, state, invariant] {
    return invariant->Check(WorldView{world, state->observed, serial_states_});
  };
  if (invariant->within()) {
    world.AddEventually(invariant->name(), check, *invariant->within());
    return;
  }
  if (invariant->always()) {
    world.AddInvariant(invariant->name(), check, InvariantReads::kServerOnly);
  }
  world.AddFinalInvariant(invariant->name(), check);
}

ExploreOptions WorldExperiment::Options(ExploreOptions options) const {
  SetServers(world_, options.world);
  options.world.faults = world_.faults;
  options.world.events = world_.events;
  options.world.clock_moves = world_.clock_moves;
  options.world.request_timeout = world_.request_timeout;
  options.swarm = variant_.swarm;
  // The hardened actors may send other commands, which the file's faults do not match.
  options.faults_must_match = options.faults_must_match && !variant_.hardened;
  return options;
}

void WorldExperiment::ComputeSerialStates() {
  ForEachSerialOrder(actors_.size(), [this](DecisionSource& decisions) {
    WorldOptions options = {.decisions = &decisions};
    SetServers(world_, options);
    World world(options);
    RunState state{world, FaultErrors(world_), /*has_history=*/false};
    (void)SetUp(setup_, state);
    for (const WorldActor& actor : actors_) {
      world.Spawn(actor.name, [&](Actor& self) { return RunActor(self, actor.steps, state); },
                  {.daemon = actor.is_daemon});
    }
    world.Run();
    serial_states_.push_back(SerialState(world, state.observed.results));
  });
}

RecordedViolation Record(const Violation& violation, WorldVariant variant) {
  return RecordedViolation{.seed = violation.seed,
                           .decisions = violation.decisions,
                           .hardened = variant.hardened,
                           .swarm = variant.swarm,
                           .broke = std::string(violation.status.message()),
                           .trace_hash = violation.trace_hash};
}

namespace {

// Returns the JSON pointers of the steps, actors and faults that may be removed, large ones first.
std::vector<Json::json_pointer> Removable(const Json& json) {
  std::vector<Json::json_pointer> places;
  const Json::json_pointer actors("/actors");
  if (json["actors"].size() > 1) {
    for (const auto& [name, steps] : json["actors"].items()) places.push_back(actors / name);
  }
  for (const char* list : {"faults", "setup"}) {
    if (!json.contains(list)) continue;
    for (size_t i = 0; i < json[list].size(); ++i) {
      places.push_back(Json::json_pointer(absl::StrCat("/", list)) / i);
    }
  }
  for (const auto& [name, steps] : json["actors"].items()) {
    for (size_t i = 0; steps.size() > 1 && i < steps.size(); ++i) {
      places.push_back(actors / name / i);
    }
  }
  return places;
}

// Returns the actor at that place, or whose step it is; empty for other places.
std::string ActorAt(Json::json_pointer place) {
  std::string last;
  while (!place.empty()) {
    std::string name = place.back();
    place.pop_back();
    if (name == "actors" && place.empty()) return last;
    last = std::move(name);
  }
  return "";
}

Json Without(Json json, const Json::json_pointer& place) {
  Json& parent = json.at(place.parent_pointer());
  if (parent.is_array()) {
    parent.erase(std::stoul(place.back()));
  } else {
    parent.erase(place.back());
  }
  return json;
}

// Enough for the small schedules of a search that begins with the fewest preemptions.
constexpr int64_t kShrinkingRuns = 300;

bool StillBreaks(const WorldFile& world, WorldVariant variant, const Cause& cause,
                 int64_t schedules) {
  const WorldExperiment experiment(world, variant);
  const Exploration found =
      Explore(experiment.experiment(),
              experiment.Options({.schedules = schedules, .shrinking_runs = kShrinkingRuns}));
  return found.violation.has_value() && HasSameCause(*found.violation, cause);
}

// Returns true if the search finds no violation of the invariant.
bool NeverBreaks(const WorldFile& world, WorldVariant variant, std::string_view invariant,
                 int64_t schedules) {
  const WorldExperiment experiment(world, variant);
  const Exploration found = Explore(
      experiment.experiment(), experiment.Options({.schedules = schedules, .shrinking_runs = 0}));
  return !found.violation.has_value() || BrokenInvariant(found.violation->status) != invariant;
}

// Returns true if the invariant holds in some run without faults.
bool HoldsSometimes(const WorldFile& world, WorldVariant variant, std::string_view invariant) {
  constexpr uint64_t kTries = 100;
  const WorldExperiment experiment(world, variant);
  ExploreOptions options = experiment.Options();
  options.world.faults.clear();
  for (uint64_t seed = 1; seed <= kTries; ++seed) {
    RandomDecisions decisions(seed);
    const RunOutcome outcome = RunOnce(experiment.experiment(), options, seed, decisions);
    if (outcome.violation.ok() || BrokenInvariant(outcome.violation) != invariant) return true;
  }
  return false;
}

// An invariant that requires progress also breaks when the actor that would make the progress is
// removed, which shows nothing. So a smaller file must still let the invariant hold: in a run
// without faults, if there was one before, and in the hardened world under all its faults.
class CanHold {
 public:
  CanHold(const WorldFile& world, WorldVariant variant, std::string_view invariant,
          int64_t schedules)
      : variant_(variant),
        invariant_(invariant),
        schedules_(schedules),
        holds_sometimes_(HoldsSometimes(world, variant, invariant)) {}

  bool Without(const WorldFile& smaller, const Json::json_pointer& place) const {
    if (holds_sometimes_ && !HoldsSometimes(smaller, variant_, invariant_)) return false;
    if (variant_.hardened || !smaller.has_remedy()) return true;
    // The hardened world has other steps for this actor, so it cannot judge these.
    if (smaller.FindHardenedActor(ActorAt(place)) != nullptr) return holds_sometimes_;
    return NeverBreaks(smaller, {.hardened = true, .swarm = variant_.swarm}, invariant_,
                       schedules_);
  }

 private:
  const WorldVariant variant_;
  const std::string_view invariant_;
  const int64_t schedules_;
  const bool holds_sometimes_;
};

}  // namespace

bool HasSameCause(const Violation& violation, const Cause& cause) {
  return violation.cause.IsWithin(cause) && violation.cause.faults == cause.faults &&
         violation.cause.conflicts.empty() == cause.conflicts.empty();
}

WorldFile ShrinkWorld(const WorldFile& world, WorldVariant variant, const Cause& cause,
                      int64_t schedules, const SystemTable& systems) {
  WorldFile best = world;
  const CanHold can_hold(world, variant, cause.invariant, schedules);
  bool improved = true;
  while (improved) {
    improved = false;
    for (const Json::json_pointer& place : Removable(best.json)) {
      absl::StatusOr<WorldFile> smaller =
          ParseWorldFile(Without(best.json, place).dump(), world.file, systems);
      if (!smaller.ok() || !StillBreaks(*smaller, variant, cause, schedules) ||
          !can_hold.Without(*smaller, place)) {
        continue;
      }
      best = *std::move(smaller);
      improved = true;
      break;
    }
  }
  return best;
}

}  // namespace redouble::inline v0_1::sim
