#include "redouble/sim/world/world.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/world/servers/cluster_bus.h"
#include "redouble/sim/world/servers/cluster_session.h"
#include "redouble/sim/world/servers/replication_group.h"
#include "redouble/sim/world/servers/server_links.h"

namespace redouble::inline v0_1::sim {
namespace {

// The counters of the fault rules, in a footprint. A key of that name would depend on them
// needlessly, which costs an exhaustive search time but no schedule.
constexpr std::string_view kFaultCounters = "the counters of the fault rules";
// Which actors have ended.
constexpr std::string_view kEndedActors = "the ended actors";

memory::EngineOptions Seeded(memory::EngineOptions options, uint64_t seed) {
  options.seed = seed;
  return options;
}

absl::Status NoSuchServer(std::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrCat("there is no server \"", base::ToAbsl(name), "\""));
}

}  // namespace

Actor::Actor(World& world, int index, std::string name, Body body, SpawnOptions options,
             base::Rng rng)
    : world_(world),
      index_(index),
      name_(std::move(name)),
      body_(std::move(body)),
      options_(options),
      rng_(rng),
      first_rng_(rng),
      clock_(world.clock()),
      store_(*this) {}

std::unique_ptr<store::MessageSource> Actor::Connect(std::string_view server) {
  return std::make_unique<WorldConnection>(*this, std::string(server));
}

World::World(WorldOptions options)
    : clock_(options.start),
      trace_(clock_, std::move(options.trace_listener), std::move(options.stop_after)),
      traced_(options.traced),
      events_(options.events),
      request_timeout_(options.request_timeout),
      clock_moves_left_(options.clock_moves),
      seeded_decisions_(options.seed),
      decisions_(options.decisions != nullptr ? *options.decisions : seeded_decisions_),
      observes_(decisions_.WantsFootprints()),
      rng_(options.seed),
      faults_(std::move(options.faults)),
      may_promote_(faults_.Has(Fault::kPromote)) {
  // Not from a list of initializers, which would copy the options of the engine.
  ServerOptions main_server{.name = kMainServer, .engine = std::move(options.engine)};
  options.servers.insert(options.servers.begin(), std::move(main_server));
  AddServers(std::move(options.servers), options.cluster);
  const bool may_restore = std::any_of(
      AllFaults().begin(), AllFaults().end(),
      [this](const FaultSpec& spec) { return spec.restores_data && faults_.Has(spec.fault); });
  if (may_restore) {
    journal_.emplace(servers_[0]->engine());
    if (may_promote_) {
      ReportMistake(absl::InvalidArgumentError(
          "the fault promote cannot be combined with restart_from_snapshot, restart_losing_tail or "
          "failover: the history of keys is that of the main server"));
    }
  }
  if (events_ == Events::kSplit) return;
  for (const FaultSpec& spec : AllFaults()) {
    if (!spec.needs_split_events || !faults_.Has(spec.fault)) continue;
    ReportMistake(absl::InvalidArgumentError(
        absl::StrCat("the fault ", base::ToAbsl(spec.name), " needs split events")));
  }
}

World::~World() { closing_ = true; }

void World::AddServers(std::vector<ServerOptions> servers, bool cluster) {
  CheckServers(servers);
  if (cluster && mistake_.ok()) {
    std::vector<ClusterBus::Node> nodes;
    for (const ServerOptions& server : servers) nodes.push_back({server.name, server.replica_of});
    std::vector<memory::ClusterOptions> options = ClusterBus::Nodes(nodes);
    for (size_t i = 0; i < servers.size(); ++i) servers[i].engine.cluster = std::move(options[i]);
  }
  links_ = std::make_unique<ServerLinks>([this](std::string_view host, std::string_view port) {
    return port == absl::StrCat(kServerPort) ? FindServer(host) : nullptr;
  });
  for (ServerOptions& server : servers) {
    WorldServer& added = *servers_.emplace_back(std::make_unique<WorldServer>(
        clock_, std::move(server.name), Seeded(std::move(server.engine), rng_.Next())));
    added.engine().core().administration().set_migration_connector(links_.get());
    if (!server.replica_of.empty() && mistake_.ok()) AddReplica(added, server.replica_of);
  }
  if (cluster && mistake_.ok()) FormCluster();
}

void World::CheckServers(std::span<const ServerOptions> servers) {
  std::map<std::string, bool> is_replica;  // By name.
  for (const ServerOptions& server : servers) {
    if (server.name.empty() || is_replica.contains(server.name)) {
      ReportMistake(absl::InvalidArgumentError(
          absl::StrCat("the name of a server must be new, got \"", server.name, "\"")));
    }
    if (!server.replica_of.empty()) {
      const auto master = is_replica.find(server.replica_of);
      if (master == is_replica.end()) {
        ReportMistake(NoSuchServer(server.replica_of));
      } else if (master->second) {
        ReportMistake(absl::InvalidArgumentError(
            absl::StrCat("the server \"", server.replica_of, "\" is a replica; name its master")));
      }
    }
    is_replica.emplace(server.name, !server.replica_of.empty());
  }
}

void World::FormCluster() {
  std::vector<WorldServer*> nodes;
  for (const std::unique_ptr<WorldServer>& server : servers_) {
    nodes.push_back(server.get());
  }
  cluster_ = std::make_unique<ClusterBus>(std::move(nodes));
  cluster_->SetListener([this] { OnClusterChange(); });
}

void World::AddReplica(WorldServer& replica, const std::string& master) {
  WorldServer& followed = *FindServer(master);
  ReplicationGroup* group = GroupOf(followed);
  if (group == nullptr) {
    group = groups_.emplace_back(std::make_unique<ReplicationGroup>(followed)).get();
    group->SetListener([this, group] { OnEffects(*group); });
  }
  group->Add(replica);
}

WorldServer* World::FindServer(std::string_view name) const {
  const auto found = std::find_if(
      servers_.begin(), servers_.end(),
      [&](const std::unique_ptr<WorldServer>& server) { return server->name() == name; });
  return found == servers_.end() ? nullptr : found->get();
}

WorldServer& World::main() {
  ReplicationGroup* group = GroupOf(*servers_[0]);
  return group == nullptr ? *servers_[0] : group->master();
}

WorldServer& World::ServerNamed(const std::string& name) {
  if (name.empty()) return main();
  if (WorldServer* server = FindServer(name)) return *server;
  ReportMistake(NoSuchServer(name));
  return main();
}

ReplicationGroup* World::GroupOf(const WorldServer& server) const {
  const auto found = std::find_if(
      groups_.begin(), groups_.end(),
      [&](const std::unique_ptr<ReplicationGroup>& group) { return group->Has(server); });
  return found == groups_.end() ? nullptr : found->get();
}

std::unique_ptr<memory::Session> World::Connect(std::string_view server) {
  WorldServer* named = server.empty() ? &main() : FindServer(server);
  assert(named != nullptr);
  return named->engine().Connect();
}

std::unique_ptr<store::Store> World::ConnectToAll() {
  if (cluster_ == nullptr) return Connect();
  return std::make_unique<ClusterSession>(servers_);
}

// The replicas can go on, so the turn continues them.
void World::OnEffects(const ReplicationGroup& group) {
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (group.Lag(*servers_[i]) > 0) turn_footprint_.OnActor(ProcessOfServer(i));
  }
}

// Nodes that have something to hear can go on, so the turn continues them.
void World::OnClusterChange() {
  for (const auto& [receiver, sender] : cluster_->news()) {
    turn_footprint_.OnActor(ProcessOfNews(receiver, sender));
  }
}

void World::NoteOffset(const WorldServer& server, const memory::Session& session) {
  if (ReplicationGroup* group = GroupOf(server)) group->NoteOffset(session.id());
}

void World::ApplySetUp() {
  began_ = true;
  for (const std::unique_ptr<ReplicationGroup>& group : groups_) {
    for (const std::unique_ptr<WorldServer>& server : servers_) {
      while (group->Lag(*server) > 0) group->Apply(*server);
    }
  }
  if (cluster_ == nullptr) return;
  while (!cluster_->news().empty()) cluster_->Tell(cluster_->news().front());
}

void World::Observe(Footprint* footprint) {
  for (const std::unique_ptr<WorldServer>& server : servers_) {
    server->Observe(footprint, servers_.size() > 1);
  }
}

Actor& World::Spawn(std::string name, Actor::Body body, SpawnOptions options) {
  const int index = static_cast<int>(actors_.size());
  actors_.push_back(std::unique_ptr<Actor>(
      new Actor(*this, index, std::move(name), std::move(body), options, rng_.Fork())));
  return *actors_.back();
}

void World::OnShared(std::string_view name, bool writes) {
  // A key of that name would depend on it needlessly, which costs time but no schedule.
  const std::string object = absl::StrCat("shared: ", base::ToAbsl(name));
  if (writes) {
    turn_footprint_.OnWrite(object);
  } else {
    turn_footprint_.OnRead(object);
  }
}

void World::AddInvariant(std::string name, std::function<absl::Status()> check,
                         InvariantReads reads) {
  checks_variables_ = checks_variables_ || reads == InvariantReads::kVariables;
  invariants_.push_back(Invariant{std::move(name), std::move(check)});
}

void World::AddFinalInvariant(std::string name, std::function<absl::Status()> check) {
  final_invariants_.push_back(Invariant{std::move(name), std::move(check)});
}

void World::AddFinalInvariant(std::string name, std::function<bool()> holds) {
  AddFinalInvariant(std::move(name), [holds = std::move(holds)]() -> absl::Status {
    return holds() ? absl::OkStatus() : absl::InternalError("does not hold");
  });
}

void World::AddEventually(std::string name, std::function<absl::Status()> check,
                          absl::Duration within) {
  eventual_.push_back(Eventual{Invariant{std::move(name), std::move(check)}, within});
}

void World::AddProbe(std::string name, std::function<bool()> reached) {
  probes_.push_back(Probe{std::move(name), std::move(reached)});
}

void World::AskProbes() {
  for (Probe& probe : probes_) probe.reached = probe.reached || probe.check();
}

RunReport World::Run(const RunLimits& limits) {
  until_ = limits.until;
  RunReport report{.end = RunEnd::kDone, .violation = {}, .mistake = mistake_, .steps = 0};
  while (report.mistake.ok() && !AllEnded()) {
    if (trace_.stopped() || decisions_.EndsRun()) return End(report, RunEnd::kStopped);
    if (report.steps == limits.max_steps) return End(report, RunEnd::kStepLimit);
    const bool took_turn = TakeStep();
    if (took_turn) {
      ++report.steps;
    } else if (!MoveClock(limits.until)) {
      return End(report, clock_.NextDeadline().has_value() ? RunEnd::kTimeLimit : RunEnd::kStuck);
    }
    AskProbes();
    report.violation = CheckStep();
    if (took_turn) ReportTurn();
    if (!report.violation.ok()) return End(report, RunEnd::kViolation);
    report.mistake = mistake_;
  }
  if (!report.mistake.ok()) return End(report, RunEnd::kMistake);
  report.violation = CheckEnd(limits.max_steps - report.steps);
  return End(report, report.violation.ok() ? RunEnd::kDone : RunEnd::kViolation);
}

absl::Status World::CheckEnd(int64_t max_steps) {
  absl::Status checked = CheckInvariants(final_invariants_);
  for (const Eventual& eventual : eventual_) {
    if (checked.ok()) checked = Await(eventual, max_steps);
  }
  return checked;
}

absl::Status World::Await(const Eventual& eventual, int64_t max_steps) {
  Heal();
  clock_moves_left_ = 0;
  const absl::Time deadline = clock_.Now() + eventual.within;
  while (true) {
    for (; max_steps > 0 && TakeStep(); --max_steps) ReportTurn();
    absl::Status checked = CheckInvariants({eventual.condition});
    if (checked.ok() || absl::IsInvalidArgument(checked)) return checked;
    if (clock_.Now() >= deadline || max_steps <= 0) {
      return absl::Status(checked.code(), absl::StrCat(checked.message(), ", ",
                                                       absl::FormatDuration(eventual.within),
                                                       " after the last fault"));
    }
    if (!MoveClock(deadline)) clock_.AdvanceTo(deadline);
  }
}

RunReport World::End(RunReport report, RunEnd end) {
  if (observes_) {
    CollectTurns();
    CollectOptions();
    decisions_.OnRunEnd(options_);
  }
  report.end = end;
  if (end == RunEnd::kViolation && absl::IsInvalidArgument(report.violation)) {
    report.end = RunEnd::kMistake;
    report.mistake = std::exchange(report.violation, absl::OkStatus());
  }
  return report;
}

void World::ReportMistake(absl::Status mistake) {
  if (mistake_.ok()) mistake_ = std::move(mistake);
}

bool World::Step() {
  if (!TakeStep()) return MoveClock(absl::InfiniteFuture());
  ReportTurn();
  return true;
}

absl::Status World::CheckStep() {
  if (invariants_.empty()) return absl::OkStatus();
  if (observes_) Observe(&checks_footprint_);
  const absl::Status checked = CheckInvariants(invariants_);
  if (observes_) Observe(nullptr);
  return checked;
}

void World::ReportTurn() {
  if (!observes_) return;
  constexpr auto kDrawn = static_cast<int>(memory::AccessObserver::State::kRandomNumbers);
  server_drew_numbers_ =
      server_drew_numbers_ || (turn_footprint_.written_states() >> kDrawn & 1) != 0;
  if (checks_variables_) turn_footprint_.MarkVisible();
  MarkEnd();
  decisions_.OnTurnDone({last_process_, turn_footprint_, checks_footprint_});
}

void World::MarkEnd() {
  // A replica, or a node that hears another one, does not keep the world running, either.
  const bool has_daemons =
      !groups_.empty() || cluster_ != nullptr ||
      std::any_of(actors_.begin(), actors_.end(),
                  [](const std::unique_ptr<Actor>& actor) { return actor->options_.daemon; });
  if (!has_daemons) return;
  // Of the turns that end an actor, the last one ends the run, so their order matters.
  const auto ended = std::count_if(actors_.begin(), actors_.end(), HasEnded);
  if (std::exchange(ended_actors_, ended) != ended) turn_footprint_.OnWrite(kEndedActors);
  if (AllEnded()) turn_footprint_.MarkOrdered();
}

bool World::DrewNumbers() const {
  return server_drew_numbers_ ||
         std::any_of(actors_.begin(), actors_.end(), [](const std::unique_ptr<Actor>& actor) {
           base::Rng first = actor->first_rng_;
           base::Rng now = actor->rng_;
           return first.Next() != now.Next();
         });
}

bool World::HasEnded(const std::unique_ptr<Actor>& actor) {
  if (actor->options_.daemon) return true;
  if (!actor->orphans_.empty()) return false;
  return actor->done() || (actor->crashed_ && !actor->restart_timer_.has_value());
}

bool World::AllEnded() const { return std::all_of(actors_.begin(), actors_.end(), HasEnded); }

absl::Status World::CheckInvariants(const std::vector<Invariant>& invariants) {
  for (const Invariant& invariant : invariants) {
    const absl::Status status = invariant.check();
    if (status.ok()) continue;
    return absl::Status(status.code(), absl::StrCat(invariant.name, ": ", status.message()));
  }
  return absl::OkStatus();
}

bool World::TakeStep() {
  if (!began_) ApplySetUp();
  CollectTurns();
  if (turns_.empty()) return false;
  const Turn turn = ChooseTurn();
  if (turn.actor != nullptr) last_actor_ = turn.actor->index_;
  last_process_ = turn.process;
  stepping_ = true;
  turn_footprint_.Clear();
  turn_footprint_.OnActor(turn.process);
  if (observes_) Observe(&turn_footprint_);
  Take(turn);
  if (observes_) Observe(nullptr);
  stepping_ = false;
  if (journal_.has_value()) journal_->Record();
  return true;
}

void World::Take(const Turn& turn) {
  switch (turn.event) {
    case Event::kStart:
      Begin(*turn.actor);
      break;
    case Event::kRelease:
      ReleaseFront(*turn.connection);
      break;
    case Event::kExecute:
      turn.wire->Execute();
      if (turn.process != turn.actor->index_) EndIfSpent(*turn.actor, *turn.wire);
      break;
    case Event::kDeliver:
      if (traced_) trace_.AddDelivery(turn.actor->name());
      turn.connection->Deliver();
      break;
    case Event::kApply:
      if (traced_) trace_.AddApplication(turn.server->name());
      GroupOf(*turn.server)->Apply(*turn.server);
      break;
    case Event::kHear:
      if (traced_) trace_.AddNews(servers_[turn.receiver]->name());
      cluster_->Tell({turn.receiver, turn.sender});
      break;
    case Event::kMoveClock:
      turn_footprint_.MarkOrdered();
      clock_.AdvanceToNext();
      break;
  }
}

void World::ReleaseFront(WorldConnection& connection) {
  const FaultRule* fault = nullptr;
  if (!faults_.empty() && !connection.front_was_delayed() && !connection.actor().options_.spared) {
    // The order of the requests that a rule counts decides which of them the fault affects.
    if (faults_.Counts(connection.actor().name(), *connection.Front(), clock_.Now())) {
      turn_footprint_.OnWrite(kFaultCounters);
    }
    fault = faults_.Draw(connection.actor().name(), *connection.Front(), clock_.Now(), decisions_);
  }
  if (fault == nullptr) {
    connection.Release();
  } else {
    Inject(*fault, connection);
  }
}

// The actor that ran last comes first: to continue with it is the default decision.
void World::CollectTurns() {
  turns_.clear();
  if (actors_.empty()) return;
  AddTurns(*actors_[last_actor_]);
  for (const std::unique_ptr<Actor>& actor : actors_) {
    if (actor->index_ != last_actor_) AddTurns(*actor);
  }
  for (const std::unique_ptr<Actor>& actor : actors_) AddTurnsOfOrphans(*actor);
  if (!groups_.empty()) AddTurnsOfReplicas();
  if (cluster_ != nullptr) AddTurnsOfNews();
  AddTurnOfClock();
}

void World::AddTurns(Actor& actor) {
  if (actor.crashed_) return;
  if (!actor.task_.has_value()) turns_.push_back(Turn{Event::kStart, actor.index_, &actor});
  for (WorldConnection* connection : actor.connections_) AddTurns(actor, *connection);
}

// Delivery comes first: by default, the network is fast.
void World::AddTurns(Actor& actor, WorldConnection& connection) {
  Wire* const wire = connection.wire();
  if (wire != nullptr && wire->has_arrivals() && !actor.replies_held_.has_value()) {
    turns_.push_back(Turn{Event::kDeliver, actor.index_, &actor, &connection});
  }
  if (wire != nullptr && wire->NextUnit() != nullptr && !actor.requests_held_.has_value()) {
    turns_.push_back(Turn{Event::kExecute, actor.index_, &actor, nullptr, wire, wire->NextUnit()});
  }
  if (connection.Front() != nullptr) {
    // Only what is executed accesses keys.
    const store::Request* executed = events_ == Events::kSplit ? nullptr : connection.Front();
    turns_.push_back(Turn{Event::kRelease, actor.index_, &actor, &connection, nullptr, executed});
  }
}

void World::AddTurnsOfOrphans(Actor& actor) {
  if (actor.requests_held_.has_value()) return;
  for (const std::unique_ptr<Wire>& wire : actor.orphans_) {
    turns_.push_back(Turn{Event::kExecute, ProcessOfOrphans(actor), &actor, nullptr, wire.get(),
                          wire->NextUnit()});
  }
}

// They come last: by default, replication is slow.
void World::AddTurnsOfReplicas() {
  for (size_t i = 0; i < servers_.size(); ++i) {
    WorldServer& server = *servers_[i];
    const ReplicationGroup* group = GroupOf(server);
    if (group == nullptr || group->Lag(server) == 0) continue;
    turns_.push_back(
        Turn{.event = Event::kApply, .process = ProcessOfServer(i), .server = &server});
  }
}

void World::AddTurnsOfNews() {
  for (const auto& [receiver, sender] : cluster_->news()) {
    turns_.push_back(Turn{.event = Event::kHear,
                          .process = ProcessOfNews(receiver, sender),
                          .receiver = receiver,
                          .sender = sender});
  }
}

// If nothing else can happen, the clock moves without being counted. That is a turn as well, so
// that an exhaustive search learns which turns the clock could have overtaken.
void World::AddTurnOfClock() {
  if (clock_moves_left_ == 0) return;
  const std::optional<absl::Time> next = clock_.NextDeadline();
  if (!next.has_value() || *next > until_) return;
  turns_.push_back(Turn{Event::kMoveClock, ProcessOfClock()});
}

void World::EndIfSpent(Actor& actor, Wire& wire) {
  if (!wire.is_spent()) return;
  // The subscriptions of its connection end.
  turn_footprint_.OnWrite(memory::AccessObserver::State::kMessages);
  std::erase_if(actor.orphans_,
                [&](const std::unique_ptr<Wire>& orphan) { return orphan.get() == &wire; });
}

void World::Orphan(Actor& actor, std::unique_ptr<Wire> wire) {
  const size_t units = wire->Units();
  if (closing_ || units == 0) return;
  const size_t executed = decisions_.Pick(units + 1);
  if (executed == 0) return;
  wire->Limit(executed);
  turn_footprint_.OnActor(ProcessOfOrphans(actor));
  actor.orphans_.push_back(std::move(wire));
}

void World::Duplicate(Actor& actor, std::unique_ptr<Wire> wire, const store::Request& request) {
  wire->SendCopy(request);
  wire->ForgetAll();
  turn_footprint_.OnActor(ProcessOfOrphans(actor));
  actor.orphans_.push_back(std::move(wire));
}

void World::CollectOptions() {
  options_.clear();
  for (const Turn& turn : turns_) {
    options_.push_back({.actor = turn.process,
                        .request = turn.request,
                        .moves_clock = turn.event == Event::kMoveClock,
                        .may_vanish = turn.event == Event::kHear ||
                                      (may_promote_ && turn.event == Event::kApply)});
  }
}

World::Turn World::ChooseTurn() {
  CollectOptions();
  const size_t chosen = turns_.size() == 1 ? 0 : decisions_.ChooseNext(options_);
  if (turns_[chosen].event == Event::kMoveClock && turns_.size() > 1) --clock_moves_left_;
  decisions_.OnTurn(options_[chosen]);
  return turns_[chosen];
}

void World::Begin(Actor& actor) {
  actor.task_.emplace(actor.body_(actor));
  actor.task_->Start();
}

bool World::MoveClock(absl::Time until) {
  const std::optional<absl::Time> next = clock_.NextDeadline();
  if (!next.has_value() || *next > until) return false;
  clock_.AdvanceToNext();
  decisions_.OnClockMove();
  if (journal_.has_value()) journal_->Record();
  return true;
}

void World::Crash(Actor& actor) {
  assert(!stepping_);
  CrashFor(actor, absl::InfiniteDuration());
}

void World::Restart(Actor& actor) {
  assert(actor.crashed_ || actor.done());
  if (actor.restart_timer_.has_value()) clock_.Cancel(*actor.restart_timer_);
  actor.restart_timer_.reset();
  actor.task_.reset();
  actor.crashed_ = false;
  ++actor.incarnation_;
}

void World::RecordAnswer(const Actor& actor, std::string_view server, int db,
                         const store::Request& request,
                         const absl::StatusOr<store::Reply>& result) {
  commands_ += static_cast<int64_t>(request.commands().size());
  if (events_ == Events::kAtomic) turn_footprint_.OnActor(actor.index());
  if (traced_) trace_.AddRequest(actor.name(), request, result, server);
  if (!journal_.has_value() || !(server.empty() || server == kMainServer)) return;
  for (const store::Command& command : request.commands()) {
    journal_->Note(db, command);
  }
}

}  // namespace redouble::inline v0_1::sim
