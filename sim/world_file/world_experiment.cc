#include "redouble/sim/world_file/world_experiment.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/sim/json/reply_json.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::sim {
namespace {

using Results = std::vector<CallResult>;

// The state of one run.
struct RunState {
  World& world;
  // The text of each error reply that a fault may give.
  std::vector<std::string> fault_errors;
  Results results = {};
};

// Returns the reply, or OK without one if the outcome is not known because of a fault.
base::Task<absl::Status> SendCommand(const CommandStep& step, store::Store& store,
                                     std::optional<store::Reply>& reply) {
  store::Command command = store::Command::Named(step.words.front());
  command.AddAll(std::span(step.words).subspan(1));
  REDOUBLE_CO_ASSIGN_OR_RETURN(reply, co_await store.Execute(command));
  co_return absl::OkStatus();
}

// Returns the mistake that an error reply shows; OK for any other reply.
absl::Status MistakeIn(const CommandStep& step, const std::optional<store::Reply>& reply) {
  if (!reply || !reply->is_error() || step.may_fail) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the command ", step.words.front(), " fails: ",
                                                 reply->text(), R"(; a step with "may_fail" may)"));
}

// Arguments that the operation rejects are a mistake in the file.
base::Task<Json> MakeCall(const CallStep& step, OperationContext context, absl::Status& mistake) {
  const OperationResult result = co_await (*step.call.operation)(context, step.call.arguments);
  if (result.ok()) co_return *result;
  if (IsArgumentError(result.status())) {
    mistake =
        absl::InvalidArgumentError(absl::StrCat(step.call.name, ": ", result.status().message()));
  }
  co_return Json{{"error", std::string(result.status().message())}};
}

base::Task<void> RunCommand(Actor& actor, const CommandStep& step, RunState& state) {
  std::optional<store::Reply> reply;
  (void)co_await SendCommand(step, actor.store(), reply);
  const auto& faults = state.fault_errors;
  if (reply && reply->is_error() &&
      std::find(faults.begin(), faults.end(), reply->text()) != faults.end()) {
    co_return;
  }
  if (const absl::Status mistake = MistakeIn(step, reply); !mistake.ok()) {
    state.world.ReportMistake(mistake);
  }
}

base::Task<void> RunActor(Actor& actor, const std::vector<Step>& steps, RunState& state) {
  for (size_t i = 0; i < steps.size(); ++i) {
    if (const auto* call = std::get_if<CallStep>(&steps[i].action)) {
      const OperationContext context(actor.store(), actor.clock(), actor.rng());
      absl::Status mistake;
      Json result = co_await MakeCall(*call, context, mistake);
      if (!mistake.ok()) state.world.ReportMistake(mistake);
      state.results.push_back(
          CallResult{actor.name(), static_cast<int>(i), call->call.name, std::move(result)});
    } else if (const auto* command = std::get_if<CommandStep>(&steps[i].action)) {
      co_await RunCommand(actor, *command, state);
    } else {
      const auto& advance = std::get<AdvanceStep>(steps[i].action);
      const absl::Time target = advance.to ? *advance.to : actor.clock().Now() + *advance.by;
      co_await actor.clock().SleepUntil(target);
    }
  }
}

absl::Status SetUp(World& world, const std::vector<Step>& steps) {
  const std::unique_ptr<memory::Session> session = world.Connect();
  base::Rng rng(0);
  for (const Step& step : steps) {
    if (const auto* call = std::get_if<CallStep>(&step.action)) {
      const OperationContext context(*session, world.clock(), rng);
      absl::Status arguments;
      const Json result = base::Run(MakeCall(*call, context, arguments));
      REDOUBLE_RETURN_IF_ERROR(arguments);
      if (!result.is_object() || !result.contains("error")) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(call->call.name, ": ", result["error"].dump()));
    }
    if (const auto* command = std::get_if<CommandStep>(&step.action)) {
      std::optional<store::Reply> reply;
      REDOUBLE_RETURN_IF_ERROR(base::Run(SendCommand(*command, *session, reply)));
      REDOUBLE_RETURN_IF_ERROR(MistakeIn(*command, reply));
      continue;
    }
    const auto& advance = std::get<AdvanceStep>(step.action);
    world.clock().AdvanceTo(advance.to ? *advance.to : world.clock().Now() + *advance.by);
  }
  return absl::OkStatus();
}

// Runs the actors one after another in a given order.
class SerialDecisions final : public DecisionSource {
 public:
  // ranks[actor]: the lowest rank runs first.
  explicit SerialDecisions(std::vector<int> ranks) : ranks_(std::move(ranks)) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override {
    const auto first = std::min_element(options.begin(), options.end(),
                                        [&](const ScheduleOption& a, const ScheduleOption& b) {
                                          return ranks_[a.actor] < ranks_[b.actor];
                                        });
    return static_cast<size_t>(first - options.begin());
  }
  size_t Pick(size_t) override { return 0; }
  bool Chance(double) override { return false; }

 private:
  const std::vector<int> ranks_;
};

// Adds the arguments in `hardened` to the calls; "$actor" is replaced by the actor's name.
void Harden(const Json& hardened, std::string_view actor, std::vector<Step>& steps) {
  for (Step& step : steps) {
    auto* call = std::get_if<CallStep>(&step.action);
    if (call == nullptr) continue;
    const auto more = hardened.find(call->call.name);
    if (more == hardened.end()) continue;
    for (const auto& [name, value] : more->items()) {
      call->call.arguments[name] = value == "$actor" ? Json(actor) : value;
    }
  }
}

std::vector<std::string> FaultErrors(const WorldFile& world) {
  std::vector<std::string> errors;
  for (const FaultRule& rule : world.faults) {
    if (rule.fault == Fault::kErrorReply) errors.push_back(rule.error);
  }
  return errors;
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
    const auto state = std::make_shared<RunState>(RunState{world, FaultErrors(world_)});
    if (const absl::Status status = SetUp(world, setup_); !status.ok()) {
      world.ReportMistake(absl::InvalidArgumentError(absl::StrCat("setup: ", status.message())));
    }
    for (const WorldActor& actor : actors_) {
      world.Spawn(actor.name,
                  [&actor, state](Actor& self) { return RunActor(self, actor.steps, *state); });
    }
    for (const std::shared_ptr<const WorldInvariant>& invariant : world_.invariants) {
      const auto check = [this, &world, state, invariant] {
        return invariant->Check(WorldView{world, state->results, serial_states_});
      };
      if (invariant->always()) {
        world.AddInvariant(invariant->name(), check, InvariantReads::kServerOnly);
      }
      world.AddFinalInvariant(invariant->name(), check);
    }
    for (const std::shared_ptr<const WorldInvariant>& probe : world_.probes) {
      world.AddProbe(probe->name(), [this, &world, state, probe] {
        return probe->Check(WorldView{world, state->results, serial_states_}).ok();
      });
    }
  };
}

ExploreOptions WorldExperiment::Options(ExploreOptions options) const {
  options.world.start = world_.start;
  options.world.faults = world_.faults;
  options.swarm = variant_.swarm;
  // The hardened actors may send other commands, which the file's faults do not match.
  options.faults_must_match = options.faults_must_match && !variant_.hardened;
  return options;
}

void WorldExperiment::ComputeSerialStates() {
  std::vector<int> ranks(actors_.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  do {
    SerialDecisions decisions(ranks);
    World world({.start = world_.start, .decisions = &decisions});
    RunState state{world, FaultErrors(world_)};
    (void)SetUp(world, setup_);
    for (const WorldActor& actor : actors_) {
      world.Spawn(actor.name, [&](Actor& self) { return RunActor(self, actor.steps, state); });
    }
    world.Run();
    serial_states_.push_back(SerialState(world, state.results));
  } while (std::next_permutation(ranks.begin(), ranks.end()));
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

}  // namespace redouble::sim
