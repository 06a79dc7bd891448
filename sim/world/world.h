// World: several clients, one or several servers and one clock, interleaved by a schedule that a
// seed decides.
//
// Use it to find bugs that depend on the order in which clients send their commands. Every request
// of an actor waits until the schedule releases it, so each run tries one interleaving. Another
// seed tries another interleaving; the same seed always repeats the same run, in every process and
// build.
//
//   sim::World world({.seed = 7});
//   for (const char* name : {"a", "b"}) {
//     world.Spawn(name, [](sim::Actor& actor) -> base::Task<void> {
//       const auto count = co_await store::Get(actor.store(), "count");
//       co_await store::Set(actor.store(), "count", Next(count));
//     });
//   }
//   sim::RunReport report = world.Run();
//   // Some seeds lose an update: both actors read before either of them wrote.
//   std::unique_ptr<memory::Session> session = world.Connect();
//   base::Run(store::Get(*session, "count"));
//
// One step starts an actor, or sends one actor's next request to the memory engine. The engine
// replies at once or blocks the request, and the actor runs until it waits again. If no actor can
// take a step, the clock advances to the next deadline: of a sleep, an expiry or a blocked
// command's timeout.
//
// That is coarser than a network. With Events::kSplit, sending a request, executing each of its
// commands, and delivering the reply are steps of their own, so that others can run between two
// commands of a pipeline, a reply can be slow, and a server can execute what a client has given up:
//
//   sim::World world({.seed = 7, .events = sim::Events::kSplit, .clock_moves = 1});
//
// A world can have several servers, independent ones and replicas. A replica applies the writes of
// its master later, at steps of its own. The fault `promote` makes it the master; writes that it
// has not applied are lost. Actor::store() is a connection to the current master:
//
//   sim::World world({.servers = {{.name = "replica", .replica_of = sim::kMainServer}}});
//   ... actor.Connect("replica") ...
//
// The masters can be the nodes of a Redis Cluster, whose slots clients can move while others use
// them. sim/cluster/cluster_store.h is a client that follows them; a connection of an actor
// does not:
//
//   sim::World world({.servers = {{.name = "b"}, {.name = "c"}}, .cluster = true});
//   sim::ClusterStore store(actor);
//
// The world keeps each actor's lambda until the world is destroyed, so the coroutine may use the
// lambda's captures.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_WORLD_H_
#define REDOUBLE_SIM_WORLD_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/message_source.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/decision/footprint.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/trace/trace.h"
#include "redouble/sim/world/connection.h"
#include "redouble/sim/world/journal.h"
#include "redouble/sim/world/servers/world_server.h"

namespace redouble::inline v0_1::sim {

class ClusterBus;
class ReplicationGroup;
class ServerLinks;
class World;

// The server that every world has.
inline constexpr char kMainServer[] = "main";

// The clock of one actor: the world's clock plus a skew.
class ActorClock final : public base::Clock {
 public:
  explicit ActorClock(base::VirtualClock& world_clock) : world_clock_(world_clock) {}

  int64_t NowMicros() const override { return world_clock_.NowMicros() + skew_us_; }
  // Later changes of the skew do not affect a sleep that has started.
  base::Task<void> SleepUntil(absl::Time deadline) override {
    return world_clock_.SleepUntil(deadline - absl::Microseconds(skew_us_));
  }

  // How far this clock is ahead of the world's clock; negative if it is late. Rounded to
  // microseconds. To step the clock, set a new skew.
  absl::Duration skew() const { return absl::Microseconds(skew_us_); }
  void set_skew(absl::Duration skew) { skew_us_ = absl::ToInt64Microseconds(skew); }

 private:
  base::VirtualClock& world_clock_;
  int64_t skew_us_ = 0;
};

struct SpawnOptions {
  // A daemon, such as a sweeper or a heartbeat, does not keep the world running: a run ends when
  // all other actors have ended.
  bool daemon = false;
  // No fault chooses the actor's requests; those of the server concern it all the same.
  bool spared = false;
};

// One process of the simulated system: a coroutine with its own connections, clock and random
// numbers.
class Actor {
 public:
  using Body = std::function<base::Task<void>(Actor&)>;

  const std::string& name() const { return name_; }
  // Counts from 0 in the order of spawning.
  int index() const { return index_; }
  // How many times the actor was restarted.
  int incarnation() const { return incarnation_; }

  // The actor's main connection. It lives as long as the actor; a crash breaks it.
  store::MessageSource& store() { return store_; }
  // Opens a further connection, for example for a blocking command or a subscription: to the server
  // with this name, or, if it is empty, to the master, as store() does. A name that no server has
  // is a mistake (World::ReportMistake). The connection must be destroyed before the actor's
  // coroutine: keep it in a local variable there.
  std::unique_ptr<store::MessageSource> Connect(std::string_view server = {});
  ActorClock& clock() { return clock_; }
  base::Rng& rng() { return rng_; }
  World& world() const { return world_; }

  // Returns true if the coroutine has finished.
  bool done() const { return task_.has_value() && task_->done(); }
  // Returns true between a crash and the restart.
  bool crashed() const { return crashed_; }

 private:
  friend class World;
  friend class WorldConnection;

  Actor(World& world, int index, std::string name, Body body, SpawnOptions options, base::Rng rng);

  World& world_;
  const int index_;
  const std::string name_;
  const Body body_;
  const SpawnOptions options_;
  base::Rng rng_;
  const base::Rng first_rng_;
  ActorClock clock_;
  int incarnation_ = 0;
  bool crashed_ = false;
  // Set while a crashed actor waits for its restart.
  std::optional<base::VirtualClock::TimerId> restart_timer_;
  std::vector<WorldConnection*> connections_;  // In the order of opening.
  // What the server has not executed yet of connections that the actor has given up.
  std::vector<std::unique_ptr<Wire>> orphans_;
  // Set while a partition holds what this actor sends, or what it receives.
  std::optional<base::VirtualClock::TimerId> requests_held_;
  std::optional<base::VirtualClock::TimerId> replies_held_;
  WorldConnection store_;
  // Empty before the start. Destroyed before the connections.
  std::optional<base::Task<void>> task_;
};

// What one step of a world is.
enum class Events {
  // A request: the server executes all its commands, and the client gets the reply.
  kAtomic,
  // Sending a request; executing one command, or a transaction, or a script; delivering a reply or
  // a push.
  kSplit,
};

// A further server of a world.
struct ServerOptions {
  std::string name;
  // The master that it follows, the main server or an earlier one without a master; empty: it
  // follows none.
  std::string replica_of = {};
  // Its seed is derived from the world's seed.
  memory::EngineOptions engine = {};
};

struct WorldOptions {
  // Decides the schedule, the faults, and the random numbers of the actors and of the engine.
  uint64_t seed = 1;
  absl::Time start = absl::FromUnixSeconds(1767225600);  // 2026-01-01 00:00:00 UTC.
  // The engine's seed is derived from the world's seed; `engine.seed` is ignored.
  memory::EngineOptions engine = {};
  // The servers beside the main one, which has the options `engine`. Wrong ones are a mistake
  // (World::ReportMistake).
  std::vector<ServerOptions> servers = {};
  // The masters are the nodes of a Redis Cluster, and share its slots evenly, in their order; the
  // replicas are those of their masters. Their `engine.cluster` is ignored.
  bool cluster = false;
  // Makes the decisions instead of the seed if not null; must outlive the world.
  DecisionSource* decisions = nullptr;
  // The faults to inject (sim/fault/fault.h).
  std::vector<FaultRule> faults = {};
  Events events = Events::kAtomic;
  // In so many steps of a run, the clock may advance to the next deadline although an actor could
  // take a step, so that something can be slower than a timeout or a sleep. The schedule decides
  // when.
  int clock_moves = 0;
  // A request that has no reply so long after it was sent fails with kOutcomeUnknown, and its
  // connection closes.
  absl::Duration request_timeout = absl::InfiniteDuration();
  // Called with each line of the trace (sim/trace/trace.h) as it is recorded.
  std::function<void(std::string_view)> trace_listener = {};
  // Ends the run after the step that recorded the first event for which this returns true. Further
  // events of that step are not recorded.
  StopAfter stop_after = {};
  // Records the trace and its hash. A run without a trace takes about half the time, and its
  // TraceHash() is that of an empty trace.
  bool traced = true;
};

// When a run ends although its actors have not finished.
struct RunLimits {
  // A run that takes more steps ends with kStepLimit. The usual cause is a livelock.
  int64_t max_steps = 1'000'000;
  // The clock does not advance beyond this time; a run that would need it to ends with kTimeLimit.
  absl::Time until = absl::InfiniteFuture();
};

// Why a run ended.
enum class RunEnd {
  kDone,       // Every actor except daemons has finished or crashed for good.
  kStuck,      // An actor is blocked, and no step and no timer is left.
  kStepLimit,  // See RunLimits.
  kTimeLimit,  // See RunLimits.
  kStopped,    // See WorldOptions::stop_after and DecisionSource::EndsRun.
  kMistake,    // See World::ReportMistake.
  kViolation,  // An invariant was violated.
};

struct RunReport {
  RunEnd end;
  // "name: message" of the violated invariant; OK for every other end.
  absl::Status violation;
  // What was reported with ReportMistake; OK for every other end.
  absl::Status mistake;
  // The steps of this run: requests sent (with split events, each event) and actors started.
  int64_t steps;
};

// What the check of an invariant reads.
enum class InvariantReads {
  kVariables,   // Variables that actors change, and the data of the server.
  kServerOnly,  // The data of the server.
};

class World {
 public:
  explicit World(WorldOptions options = {});
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  // Adds an actor, which starts when the schedule chooses it. The world owns it.
  Actor& Spawn(std::string name, Actor::Body body, SpawnOptions options = {});
  // The actors in the order of spawning.
  std::span<const std::unique_ptr<Actor>> actors() const { return actors_; }

  Events events() const { return events_; }
  bool is_cluster() const { return cluster_ != nullptr; }
  base::VirtualClock& clock() { return clock_; }
  // The main server, or the replica that was promoted in its place.
  memory::Engine& engine() { return main().engine(); }
  // All servers, the main one first.
  std::span<const std::unique_ptr<WorldServer>> servers() const { return servers_; }
  // Returns the server with this name, or null.
  WorldServer* FindServer(std::string_view name) const;
  // Opens a connection that bypasses the schedule: its commands run at once and are not traced. Use
  // it to set up data and to inspect a server: the one with this name, or, if it is empty, the
  // current master. The replicas apply what is written before the first step at once. `server` must
  // be empty or the name of a server. The connection must not outlive the world.
  std::unique_ptr<memory::Session> Connect(std::string_view server = {});
  // The same, but a cluster's commands go to the master that has their keys
  // (sim/world/servers/cluster_session.h). In a world that is no cluster, as Connect().
  std::unique_ptr<store::Store> ConnectToAll();

  // Ends the run with kMistake: what was set up is wrong, so that a violation would show nothing.
  // The first mistake counts.
  void ReportMistake(absl::Status mistake);

  // Reports that the current step read, or wrote, something that actors share outside the server,
  // such as a variable. An exhaustive search does not see it otherwise, and may leave out the
  // orders in which it matters.
  void OnShared(std::string_view name, bool writes);

  // Adds a condition that must hold after every step. A run ends with kViolation at the first
  // error; InvalidArgument means that the check itself is wrong, and ends it with kMistake. A check
  // that reads variables of the actors makes an exhaustive search try the turns of all actors in
  // every order.
  void AddInvariant(std::string name, std::function<absl::Status()> check,
                    InvariantReads reads = InvariantReads::kVariables);

  // Adds a condition that must hold when a run ends with kDone. The form that returns bool reports
  // "does not hold"; a status can give a reason.
  void AddFinalInvariant(std::string name, std::function<absl::Status()> check);
  void AddFinalInvariant(std::string name, std::function<bool()> holds);

  // Adds a condition that must hold at some time within `within` after a run has ended with kDone.
  // No further faults are injected from then on, and daemons go on. It is checked whenever no actor
  // can take a step.
  void AddEventually(std::string name, std::function<absl::Status()> check, absl::Duration within);

  // Adds a probe: a condition that at least some runs should reach. It is evaluated after every
  // step until it is true.
  void AddProbe(std::string name, std::function<bool()> reached);
  // The probes in the order of adding, and whether each was reached.
  struct Probe {
    std::string name;
    std::function<bool()> check;
    bool reached = false;
  };
  std::span<const Probe> probes() const { return probes_; }

  // Takes steps until the run ends. May be called again after actors were added or restarted or the
  // clock was advanced.
  RunReport Run(const RunLimits& limits = {});
  // Takes one step, or advances the clock once. Returns false if neither is possible. Does not
  // check invariants.
  bool Step();

  // Crashes an actor, as kill -9 would: destroys its coroutine and breaks its connections. Requests
  // that were sent have taken effect; requests that wait for their turn are never sent. Must not be
  // called from inside an actor.
  void Crash(Actor& actor);
  // Runs the actor's body again when the schedule chooses it. The actor must have finished or
  // crashed.
  void Restart(Actor& actor);
  // Injects no further faults; a crashed actor that was due to restart still does. Running the
  // world afterwards shows liveness: what was broken must recover by itself.
  // May be called from inside an actor.
  void Heal() { faults_.Stop(); }
  // How many faults were injected.
  int64_t faults_injected() const { return faults_.injected(); }
  // By name, how often each fault was injected; without those that were not.
  std::map<std::string, int64_t> injected_faults() const { return faults_.injected_by_name(); }
  // By fault rule, in the order of WorldOptions::faults, how many requests it matched.
  std::vector<int64_t> fault_matches() const { return faults_.matches(); }

  // Returns true if an actor has drawn from its random numbers, or, where the source of decisions
  // wants footprints, the server from its own: another seed may give another run.
  bool DrewNumbers() const;

  // The decisions made so far, for RecordedDecisions.
  const std::vector<uint32_t>& decisions() const { return decisions_.made(); }
  // The hash of the trace so far. Equal runs have equal hashes, in every process and build.
  std::string TraceHash() const { return trace_.Hash(); }
  // How many commands of the actors have been answered.
  int64_t commands() const { return commands_; }

 private:
  friend class Wire;
  friend class WorldConnection;

  struct Invariant {
    std::string name;
    std::function<absl::Status()> check;
  };
  struct Eventual {
    Invariant condition;
    absl::Duration within;
  };
  enum class Event { kStart, kRelease, kExecute, kDeliver, kApply, kHear, kMoveClock };
  // One thing that can happen next.
  struct Turn {
    Event event;
    // Who takes it, for the source of decisions. The numbers are, in this order: the actors; for
    // each actor, the requests that it has given up; the clock; the servers; for each server, the
    // servers that it hears.
    int process;
    Actor* actor = nullptr;
    WorldConnection* connection = nullptr;  // Of kRelease and kDeliver.
    Wire* wire = nullptr;                   // Of kExecute.
    const store::Request* request = nullptr;
    WorldServer* server = nullptr;  // Of kApply.
    size_t receiver = 0;            // Of kHear: the indexes of servers.
    size_t sender = 0;
  };

  int ProcessOfOrphans(const Actor& actor) const {
    return static_cast<int>(actors_.size()) + actor.index();
  }
  int ProcessOfClock() const { return 2 * static_cast<int>(actors_.size()); }
  int ProcessOfServer(size_t index) const { return ProcessOfClock() + 1 + static_cast<int>(index); }
  int ProcessOfNews(size_t receiver, size_t sender) const {
    return ProcessOfServer(servers_.size() * (receiver + 1) + sender);
  }
  WorldServer& main();
  // The server that a connection with this name is to open. A wrong name is a mistake.
  WorldServer& ServerNamed(const std::string& name);
  // Null if the server has no replica and is not a replica.
  ReplicationGroup* GroupOf(const WorldServer& server) const;
  // The main server comes first.
  void AddServers(std::vector<ServerOptions> servers, bool cluster);
  // Reports wrong names.
  void CheckServers(std::span<const ServerOptions> servers);
  // Connects the servers as a cluster.
  void FormCluster();
  void AddReplica(WorldServer& replica, const std::string& master);
  void OnEffects(const ReplicationGroup& group);
  void OnClusterChange();
  // The replicas have what was written before the first step.
  void ApplySetUp();
  // Observes all servers; null ends that.
  void Observe(Footprint* footprint);
  // `server`: the name that the connection was opened with.
  void RecordAnswer(const Actor& actor, std::string_view server, int db,
                    const store::Request& request, const absl::StatusOr<store::Reply>& result);
  // The session's request has ended.
  void NoteOffset(const WorldServer& server, const memory::Session& session);
  bool TakeStep();
  // Marks a turn that ended an actor, and the one that ended the run: a daemon could have taken a
  // turn before it.
  void MarkEnd();
  RunReport End(RunReport report, RunEnd end);
  void CollectOptions();
  // Advances the clock to the next timer; returns false if there is none up to `until`.
  bool MoveClock(absl::Time until);
  void CollectTurns();
  void AddTurns(Actor& actor);
  void AddTurns(Actor& actor, WorldConnection& connection);
  void AddTurnsOfOrphans(Actor& actor);
  void AddTurnsOfReplicas();
  void AddTurnsOfNews();
  void AddTurnOfClock();
  Turn ChooseTurn();
  void Take(const Turn& turn);
  // Closes a wire whose client is gone if nothing is left to execute.
  void EndIfSpent(Actor& actor, Wire& wire);
  // Keeps a wire whose client is gone, as far as a decision says. Called for wires that are still
  // connected to the server.
  void Orphan(Actor& actor, std::unique_ptr<Wire> wire);
  // Lets the server execute a copy of the request, which `wire` sends, at another turn.
  void Duplicate(Actor& actor, std::unique_ptr<Wire> wire, const store::Request& request);
  void Begin(Actor& actor);
  void ReleaseFront(WorldConnection& connection);
  // Defined in faults.cc.
  void Inject(const FaultRule& rule, WorldConnection& connection);
  void InjectIntoRequest(const FaultRule& rule, WorldConnection& connection);
  void InjectIntoActor(const FaultRule& rule, WorldConnection& connection);
  void InjectIntoServer(const FaultRule& rule, WorldConnection& connection);
  // The server that a fault concerns. Null if it does nothing: the replica leads already, or the
  // rule is a mistake.
  WorldServer* ServerHitBy(const FaultRule& rule);
  void Promote(const WorldServer& replica);
  void BreakConnections(const WorldServer& server);
  void Hold(std::optional<base::VirtualClock::TimerId>& held, absl::Duration duration);
  WorldConnection* FindOpenConnection(const WorldServer& server) const;
  void FlushServer();
  void EvictKeys(int64_t count);
  void CrashFor(Actor& actor, absl::Duration downtime);
  // Returns true if the actor does not keep the world running.
  static bool HasEnded(const std::unique_ptr<Actor>& actor);
  bool AllEnded() const;
  void AskProbes();
  // Runs the world until the condition holds or its time is over.
  absl::Status Await(const Eventual& eventual, int64_t max_steps);
  absl::Status CheckEnd(int64_t max_steps);
  static absl::Status CheckInvariants(const std::vector<Invariant>& invariants);
  // CheckInvariants of the invariants that hold after every step; observes what they read.
  absl::Status CheckStep();
  // Tells the source of decisions what the turn read and wrote.
  void ReportTurn();

  base::VirtualClock clock_;
  Trace trace_;
  const bool traced_;
  const Events events_;
  const absl::Duration request_timeout_;
  int clock_moves_left_;
  absl::Time until_ = absl::InfiniteFuture();  // RunLimits::until.
  RandomDecisions seeded_decisions_;
  RecordingDecisions decisions_;
  const bool observes_;         // The source of decisions uses footprints.
  Footprint turn_footprint_;    // Of the current turn.
  Footprint checks_footprint_;  // Of all checks of invariants in this run.
  base::Rng rng_;
  std::vector<std::unique_ptr<WorldServer>> servers_;  // The main one first.
  std::unique_ptr<ServerLinks> links_;
  std::unique_ptr<ClusterBus> cluster_;  // Null if the world is no cluster.
  std::vector<std::unique_ptr<ReplicationGroup>> groups_;
  bool began_ = false;  // There was a step.
  FaultPlan faults_;
  const bool may_promote_;
  std::optional<Journal> journal_;  // Present if a fault restores earlier data.
  std::vector<Invariant> invariants_;
  std::vector<Invariant> final_invariants_;
  std::vector<Eventual> eventual_;
  absl::Status mistake_;
  bool server_drew_numbers_ = false;
  bool checks_variables_ = false;  // An invariant reads variables of the actors.
  std::vector<Probe> probes_;
  std::vector<Turn> turns_;              // Reused by each step to avoid allocation.
  std::vector<ScheduleOption> options_;  // Reused in the same way.
  int64_t commands_ = 0;
  std::ptrdiff_t ended_actors_ = 0;
  int last_actor_ = 0;
  int last_process_ = 0;
  bool stepping_ = false;
  bool closing_ = false;
  // Declared last: the coroutines use the members above.
  std::vector<std::unique_ptr<Actor>> actors_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_WORLD_H_
