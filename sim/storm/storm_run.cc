#include "redouble/sim/storm/storm_run.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/cluster/actor_client.h"
#include "redouble/sim/cluster/slot_mover.h"
#include "redouble/sim/explore/strategies.h"

namespace redouble::inline v0_1::sim {
namespace {

// In the cluster layout some hazards have no remedy.
StormSystem InLayout(StormSystem system, store::KeyLayout layout) {
  if (layout == store::KeyLayout::kDocumented) return system;
  for (Promise& promise : system.promises) {
    for (StormHazard& hazard : promise.hazards) {
      if (system.documented_layout_only.contains(hazard.remedy)) hazard.remedy.clear();
    }
  }
  return system;
}

// The name of the explorer's own invariant: a run comes to its end.
constexpr std::string_view kEnds = "ends";
// A run that takes more steps goes on and on.
constexpr int64_t kMaxSteps = 100'000;
// The longest time, of the world's clock, until an actor must have ended.
constexpr absl::Duration kLongest = absl::Hours(12);
// How many schedules of a smaller plan are tried.
constexpr int kTries = 12;

// A schedule for each seed, of several kinds.
std::unique_ptr<DecisionSource> MakeDecisions(uint64_t seed, const StormPlan& plan) {
  constexpr int64_t kTurnsPerOperation = 8;
  constexpr uint64_t kMostPreemptions = 8;
  switch (seed % 4) {
    case 0:
      return std::make_unique<PctDecisions>(
          seed, 1 + static_cast<int>(seed / 4 % kMostPreemptions),
          1 + kTurnsPerOperation * static_cast<int64_t>(OperationsOf(plan)));
    case 1:
      return std::make_unique<PartialOrderDecisions>(seed);
    default:
      return std::make_unique<RandomDecisions>(seed);
  }
}

// How slots move in a cluster: from several in one moment to one in a few minutes.
constexpr absl::Duration kLongestPause = absl::Minutes(2);
constexpr int64_t kMostMoves = 40;

// What the actors of one world share.
struct StormState {
  std::unique_ptr<Storm> storm;
  std::unique_ptr<Verdicts> verdicts;
  std::vector<std::unique_ptr<StormWork>> work;
  // Wrapped stores, one for each life of an actor. An actor's requests may outlive its coroutine.
  std::vector<std::unique_ptr<store::Store>> stores;
  std::vector<Actor*> awaited;  // All actors but daemons and the one that drains.
  bool drained = false;
  bool judged = false;
};

// The first master of a cluster is the main server.
std::string MasterName(int number) {
  return number == 1 ? std::string(kMainServer) : absl::StrCat("master-", number);
}
std::string ReplicaName(int number) { return absl::StrCat("replica-", number); }

// The servers of a cluster beside the main one.
std::vector<ServerOptions> FurtherServers(int masters, bool have_replicas) {
  std::vector<ServerOptions> servers;
  for (int i = 2; i <= masters; ++i) servers.push_back({.name = MasterName(i)});
  for (int i = 1; have_replicas && i <= masters; ++i) {
    servers.push_back({.name = ReplicaName(i), .replica_of = MasterName(i)});
  }
  return servers;
}

// On a cluster the server that fails over is one of the masters. It happens more often than
// `failover`, which always loses writes: most of the time a replica has applied them all.
void AddPromotions(const FaultRule& failover, int masters, std::vector<FaultRule>& rules) {
  constexpr double kMore = 5;
  for (int i = 1; i <= masters; ++i) {
    FaultRule rule = StormFault(Fault::kPromote, kMore * failover.probability, failover.limit);
    rule.server = ReplicaName(i);
    rules.push_back(std::move(rule));
  }
}

store::Store& Wrapped(StormState& state, const StormVariant& variant, store::Store& inner) {
  if (!variant.wrap) return inner;
  return *state.stores.emplace_back(variant.wrap(inner));
}

// Keeps the clock from moving further at once, when a step of the schedule moves it: what runs
// every few minutes, such as a sweep, is not late by hours.
void LimitClockMoves(World& world, absl::Time end) {
  constexpr absl::Duration kFurthest = absl::Seconds(10);
  const absl::Time next = world.clock().Now() + kFurthest;
  if (next > end) return;
  world.clock().ScheduleAt(absl::ToUnixMicros(next),
                           [&world, end] { LimitClockMoves(world, end); });
}

bool HaveEnded(const std::vector<Actor*>& actors) {
  return std::all_of(actors.begin(), actors.end(),
                     [](const Actor* actor) { return actor->done() && !actor->crashed(); });
}

// Waits for the other actors, stops the faults, and drains.
base::Task<void> Drain(World& world, StormState& state, const StormVariant& variant, Actor& actor) {
  const absl::Time end = world.clock().Now() + kLongest;
  while (!HaveEnded(state.awaited)) {
    // The run is then reported as one that does not end: an actor is blocked.
    if (world.clock().Now() >= end) co_return;
    co_await world.clock().Sleep(absl::Seconds(1));
  }
  world.Heal();
  ActorClient client(actor);
  co_await state.storm->Drain(actor, Wrapped(state, variant, client.store()));
  state.drained = true;
}

base::Task<void> Act(StormState& state, const StormVariant& variant, Actor& actor, size_t role,
                     StormWork& work) {
  ActorClient client(actor);
  co_await state.storm->Act(actor, Wrapped(state, variant, client.store()), role, work);
}

void SpawnActors(World& world, const StormSystem& system, const StormVariant& variant,
                 const StormPlan& plan, const std::shared_ptr<StormState>& state) {
  for (const StormActor& planned : plan) {
    const StormRole& role = system.roles[planned.role];
    StormWork& work = *state->work.emplace_back(std::make_unique<StormWork>(planned.operations));
    const size_t index = planned.role;
    Actor& spawned = world.Spawn(absl::StrCat(role.name, "-", planned.number),
                                 [state, variant, index, &work](Actor& actor) {
                                   return Act(*state, variant, actor, index, work);
                                 },
                                 {.daemon = role.daemon});
    if (!role.daemon) state->awaited.push_back(&spawned);
  }
  world.Spawn("last", [&world, state, variant](Actor& actor) {
    return Drain(world, *state, variant, actor);
  });
  if (variant.masters == 0) return;
  world.Spawn("mover",
              [state](Actor& actor) {
                return MoveSlots(actor, {.longest_pause = kLongestPause,
                                         .most = kMostMoves,
                                         .end = [state] { return state->drained; }});
              },
              {.spared = true});
}

}  // namespace

void StormTally::Add(const StormReport& report) {
  ++runs;
  commands += report.commands;
  if (mistake.ok()) mistake = report.mistake;
  for (const auto& [fault, times] : report.faults) faults[fault] += times;
  for (const auto& [section, times] : report.limits) limits[section] += times;
  checks.resize(std::max(checks.size(), report.checks.size()));
  for (size_t i = 0; i < report.checks.size(); ++i) checks[i] += report.checks[i];
  for (const auto& [finding, what] : report.breaches) {
    Found& found = findings.try_emplace(finding, Found{0, report.run, what}).first->second;
    ++found.runs;
  }
  hash = base::Sha256Hex(absl::StrCat(hash, report.trace_hash));
}

bool StormTally::HasUnexpected(bool hardened) const {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const auto& finding) { return hardened || !finding.first.documented(); });
}

struct StormRunner::Outcome {
  std::vector<int64_t> checks;
  std::map<Finding, std::string> breaches;
  std::map<std::string, int64_t> limits;
};

StormRunner::StormRunner(StormSystem system, StormVariant variant, uint64_t seed)
    : system_(InLayout(std::move(system), variant.key_layout)),
      variant_(std::move(variant)),
      seed_(seed) {}

uint64_t StormRunner::SeedOf(int64_t run) const {
  return base::Rng(seed_).Next() + static_cast<uint64_t>(run);
}

ExploreOptions StormRunner::OptionsOf(uint64_t seed) const {
  ExploreOptions options;
  options.world.start = system_.start;
  if (variant_.masters > 0) {
    const bool fails_over =
        std::any_of(system_.faults.begin(), system_.faults.end(),
                    [](const FaultRule& rule) { return rule.fault == Fault::kFailover; });
    options.world.servers = FurtherServers(variant_.masters, fails_over);
    options.world.cluster = true;
  } else if (variant_.key_layout == store::KeyLayout::kCluster) {
    options.world.engine.cluster = memory::ClusterOptions();
  }
  base::Rng rng(seed);
  if (rng.Chance(0.5)) {
    options.world.events = Events::kSplit;
    options.world.clock_moves = static_cast<int>(rng.Below(3));
  }
  for (const FaultRule& rule : system_.faults) {
    const FaultSpec& spec = SpecOf(rule.fault);
    // A master with the data of an earlier time would have keys of slots that it has given away.
    if (variant_.masters > 0 && rule.fault == Fault::kFailover) {
      AddPromotions(rule, variant_.masters, options.world.faults);
    }
    const bool is_possible = (options.world.events == Events::kSplit || !spec.needs_split_events) &&
                             (variant_.masters == 0 || !spec.restores_data);
    if (is_possible) options.world.faults.push_back(rule);
  }
  options.swarm = true;
  options.limits.max_steps = kMaxSteps;
  options.first_seed = seed;
  return options;
}

Experiment StormRunner::ExperimentOf(StormPlan plan, std::optional<Finding> finding,
                                     Outcome* outcome) const {
  return [this, plan = std::move(plan), finding = std::move(finding), outcome](World& world) {
    const auto state = std::make_shared<StormState>();
    state->storm = system_.make(world, variant_);
    state->verdicts = std::make_unique<Verdicts>(system_.promises, variant_.hardened);
    SpawnActors(world, system_, variant_, plan, state);
    LimitClockMoves(world, world.clock().Now() + kLongest);
    world.AddInvariant("observed", [state] {
      state->storm->Observe();
      return absl::OkStatus();
    });
    // Called once more for each finding, after the first one has judged.
    const auto judge = [state, outcome] {
      if (std::exchange(state->judged, true)) return;
      state->storm->Judge(*state->verdicts);
      if (outcome == nullptr) return;
      *outcome = {state->verdicts->checks(), state->verdicts->breaches(),
                  state->verdicts->limits()};
    };
    for (const Finding& possible : state->verdicts->AllFindings()) {
      if (finding.has_value() && *finding != possible) continue;
      world.AddFinalInvariant(possible.Name(), [state, judge, possible]() -> absl::Status {
        judge();
        return state->verdicts->StatusOf(possible);
      });
    }
  };
}

StormReport StormRunner::Run(int64_t run) const {
  const uint64_t seed = SeedOf(run);
  base::Rng rng(seed);
  const StormPlan plan = DrawPlan(system_, rng);
  Outcome judged;
  judged.checks.resize(system_.promises.size());
  const std::unique_ptr<DecisionSource> decisions = MakeDecisions(seed, plan);
  const RunOutcome outcome =
      RunOnce(ExperimentOf(plan, std::nullopt, &judged), OptionsOf(seed), seed, *decisions);
  if (!outcome.violation.ok() && BrokenInvariant(outcome.violation) == kEnds) {
    judged.breaches.emplace(Finding{std::string(kEnds), ""},
                            std::string(outcome.violation.message()));
  }
  return StormReport{.run = run,
                     .commands = outcome.commands,
                     .actors = plan.size(),
                     .faults = outcome.faults,
                     .checks = std::move(judged.checks),
                     .breaches = std::move(judged.breaches),
                     .limits = std::move(judged.limits),
                     .trace_hash = outcome.trace_hash,
                     .mistake = outcome.mistake};
}

// Removes what a finding does not need.
class StormShrinker {
 public:
  using Find = std::function<std::optional<Violation>(const StormPlan& plan, uint64_t attempt)>;

  StormShrinker(const StormSystem& system, Find find, StormPlan plan, Violation violation,
                int64_t runs)
      : system_(system),
        find_(std::move(find)),
        plan_(std::move(plan)),
        violation_(std::move(violation)),
        runs_left_(runs) {}

  void Run() {
    for (size_t actor = plan_.size(); actor-- > 0;) {
      // A daemon, such as a sweeper, is a part of the system.
      if (system_.roles[plan_[actor].role].daemon) continue;
      StormPlan smaller = plan_;
      smaller.erase(smaller.begin() + static_cast<std::ptrdiff_t>(actor));
      Try(std::move(smaller));
    }
    for (size_t actor = plan_.size(); actor-- > 0;) RemoveOperations(actor);
  }

  const StormPlan& plan() const { return plan_; }
  const Violation& violation() const { return violation_; }

 private:
  // Removes half of the operations at once, then fewer.
  void RemoveOperations(size_t actor) {
    for (size_t count = plan_[actor].operations.size() / 2 + 1; count > 0; count /= 2) {
      for (size_t first = 0; first + count <= plan_[actor].operations.size();) {
        StormPlan smaller = plan_;
        const auto begin = smaller[actor].operations.begin() + static_cast<std::ptrdiff_t>(first);
        smaller[actor].operations.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
        if (!Try(std::move(smaller))) ++first;
      }
    }
  }

  bool Try(StormPlan plan) {
    for (uint64_t attempt = 0; attempt < kTries && runs_left_ > 0; ++attempt) {
      --runs_left_;
      std::optional<Violation> found = find_(plan, attempt);
      if (!found.has_value()) continue;
      plan_ = std::move(plan);
      violation_ = *std::move(found);
      return true;
    }
    return false;
  }

  const StormSystem& system_;
  const Find find_;
  StormPlan plan_;
  Violation violation_;
  int64_t runs_left_;
};

std::optional<ShrunkStorm> StormRunner::Shrink(int64_t run, const Finding& finding,
                                               int64_t runs) const {
  const uint64_t seed = SeedOf(run);
  ExploreOptions options = OptionsOf(seed);
  options.world.traced = false;
  const auto find = [&](const StormPlan& plan, uint64_t attempt) -> std::optional<Violation> {
    const std::unique_ptr<DecisionSource> decisions = MakeDecisions(seed + attempt, plan);
    const RunOutcome outcome =
        RunOnce(ExperimentOf(plan, finding, nullptr), options, seed, *decisions);
    if (outcome.violation.ok() || BrokenInvariant(outcome.violation) != finding.Name()) {
      return std::nullopt;
    }
    return MakeViolation(seed, outcome.decisions, outcome);
  };
  base::Rng rng(seed);
  StormPlan plan = DrawPlan(system_, rng);
  std::optional<Violation> found = find(plan, 0);
  if (!found.has_value()) return std::nullopt;
  StormShrinker shrinker(system_, find, std::move(plan), *std::move(found), runs / 2);
  shrinker.Run();
  options.world.traced = true;
  options.shrinking_runs = runs / 2;
  return ShrunkStorm{
      finding, seed, shrinker.plan(),
      sim::Shrink(ExperimentOf(shrinker.plan(), finding, nullptr), options, shrinker.violation())};
}

Recording StormRunner::Record(const ShrunkStorm& shrunk) const {
  Recording recording =
      RecordExperiment(ExperimentOf(shrunk.plan, shrunk.finding, nullptr), OptionsOf(shrunk.seed),
                       shrunk.violation.seed, shrunk.violation.decisions);
  recording.title = absl::StrCat(system_.name, ": ", shrunk.finding.Name());
  return recording;
}

}  // namespace redouble::inline v0_1::sim
