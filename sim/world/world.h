// World: several actors, one server and one clock, interleaved by a schedule that a seed decides.
//
// Why it exists: what goes wrong between two clients of a Redis goes wrong between two of their
// commands. In a world every command of an actor waits until the schedule gives it its turn, so a
// run tries one interleaving, another seed another one, and the same seed the same for ever.
//
//   sim::World world({.seed = 7});
//   for (const char* name : {"a", "b"}) {
//     world.Spawn(name, [](sim::Actor& actor) -> base::Task<void> {
//       const auto count = co_await store::Get(actor.store(), "count");
//       co_await store::Set(actor.store(), "count", Next(count));
//     });
//   }
//   sim::RunReport report = world.Run();
//   // Some seeds lose an update: both read before either wrote.
//   std::unique_ptr<memory::Session> session = world.Connect();
//   base::Run(store::Get(*session, "count"));
//
// What happens in one step: one actor's next request is sent to the memory engine, which answers it
// at once (or blocks it), and the actor goes on until it waits for something again. When no actor
// can go on, the clock moves to the next moment at which something is due: a sleep, an expiry, a
// block's time-out.
//
// The lambda of an actor outlives its coroutine (the world keeps it), so it may capture.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_WORLD_H_
#define REDOUBLE_SIM_WORLD_WORLD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backends/memory/engine.h"
#include "backends/memory/session.h"
#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/base/task.h"
#include "core/base/virtual_clock.h"
#include "core/store/message_source.h"
#include "sim/fault/fault.h"
#include "sim/scenario/trace.h"
#include "sim/world/connection.h"
#include "sim/world/decisions.h"
#include "sim/world/journal.h"

namespace redouble::sim {

class World;

// An actor's view of the time: the world's clock, off by a skew.
class ActorClock final : public base::Clock {
 public:
  explicit ActorClock(base::VirtualClock& world_clock) : world_clock_(world_clock) {}

  int64_t NowMicros() const override { return world_clock_.NowMicros() + skew_us_; }
  // A sleep that has begun is not changed by a later skew.
  base::Task<void> SleepUntil(absl::Time deadline) override {
    return world_clock_.SleepUntil(deadline - absl::Microseconds(skew_us_));
  }

  // By how much this clock is ahead of the world's; behind it when negative. Rounded to
  // microseconds. A step of the clock is a new skew.
  absl::Duration skew() const { return absl::Microseconds(skew_us_); }
  void set_skew(absl::Duration skew) { skew_us_ = absl::ToInt64Microseconds(skew); }

 private:
  base::VirtualClock& world_clock_;
  int64_t skew_us_ = 0;
};

// One process of the simulated system: a coroutine with connections, a clock and chance of its own.
class Actor {
 public:
  using Body = std::function<base::Task<void>(Actor&)>;

  const std::string& name() const { return name_; }
  // Counted from 0 in the order of spawning.
  int index() const { return index_; }
  // How many times it was restarted.
  int incarnation() const { return incarnation_; }

  // Its connection, kept for its life; a crash breaks it.
  store::MessageSource& store() { return store_; }
  // One more connection, as a blocking command or a subscription wants. It must not outlive the
  // actor's coroutine: keep it in a local there.
  std::unique_ptr<store::MessageSource> Connect();
  ActorClock& clock() { return clock_; }
  base::Rng& rng() { return rng_; }

  // Its coroutine has ended.
  bool done() const { return task_.has_value() && task_->done(); }
  // It crashed and was not restarted yet.
  bool crashed() const { return crashed_; }

 private:
  friend class World;
  friend class WorldConnection;

  Actor(World& world, int index, std::string name, Body body, bool is_daemon, base::Rng rng);

  World& world_;
  const int index_;
  const std::string name_;
  const Body body_;
  const bool is_daemon_;
  base::Rng rng_;
  ActorClock clock_;
  int incarnation_ = 0;
  bool crashed_ = false;
  // When it comes back, if it does.
  std::optional<base::VirtualClock::TimerId> restart_timer_;
  std::vector<WorldConnection*> connections_;  // In the order of opening.
  WorldConnection store_;
  std::optional<base::Task<void>> task_;  // None before the start. Goes before the connections.
};

struct WorldOptions {
  // Decides the schedule, the faults, the actors' chance and the engine's.
  uint64_t seed = 1;
  absl::Time start = absl::FromUnixSeconds(1767225600);  // 2026-01-01 00:00:00 UTC.
  // Its seed is not used: the world's is.
  memory::EngineOptions engine = {};
  // Who decides, in place of the seed; must outlive the world.
  DecisionSource* decisions = nullptr;
  // What goes wrong.
  std::vector<FaultRule> faults = {};
  // Gets each line of the trace (sim/scenario/trace.h) as it is recorded. The hash is kept in any
  // case, unless `traced` is off: then there is no trace, and a run takes about half the time.
  std::function<void(std::string_view)> trace_listener = {};
  // Ends the run behind the step of the event for which it says so. Of a step's events the first
  // one counts; the others are not recorded.
  StopBehind stop_behind = {};
  bool traced = true;
};

struct SpawnOptions {
  // A daemon (a sweeper, a heartbeat) does not keep the world running: a run ends when all other
  // actors have.
  bool daemon = false;
};

struct RunLimits {
  // A run that takes more steps than this ends with kStepLimit: a livelock, most likely.
  int64_t max_steps = 1'000'000;
  // The clock does not move beyond this; the run ends with kTimeLimit where it would.
  absl::Time until = absl::InfiniteFuture();
};

enum class RunEnd {
  kDone,       // Every actor but the daemons has ended, or crashed for ever.
  kStuck,      // Somebody waits for what can never happen.
  kStepLimit,  // See RunLimits.
  kTimeLimit,  // See RunLimits.
  kStopped,    // See WorldOptions::stop_behind.
  kViolation,  // An invariant does not hold.
};

struct RunReport {
  RunEnd end;
  // What the broken invariant said, behind its name; ok for every other end.
  absl::Status violation;
  // Requests let through and starts of actors, in this run.
  int64_t steps;
};

class World {
 public:
  explicit World(WorldOptions options = {});
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  // Adds an actor, which will start when the schedule says so. The world owns it.
  Actor& Spawn(std::string name, Actor::Body body, SpawnOptions options = {});
  // The actors in the order of spawning.
  std::span<const std::unique_ptr<Actor>> actors() const { return actors_; }

  base::VirtualClock& clock() { return clock_; }
  memory::Engine& engine() { return engine_; }
  // A connection outside the schedule, whose commands run at once and are not traced: to set up,
  // and to look. It must not outlive the world.
  std::unique_ptr<memory::Session> Connect() { return engine_.Connect(); }

  // Adds what must hold after every step; a run ends at the first that does not.
  void AddInvariant(std::string name, std::function<absl::Status()> check);

  // Adds what must hold when a run ends with kDone. One that is false "does not hold"; a status can
  // say more.
  void AddFinalInvariant(std::string name, std::function<absl::Status()> check);
  void AddFinalInvariant(std::string name, std::function<bool()> holds);

  // Adds a rare place that runs should reach: what is true there. Asked after every step until it
  // is.
  void AddProbe(std::string name, std::function<bool()> reached);
  // The names of the probes, in the order of adding, and whether each was reached.
  struct Probe {
    std::string name;
    std::function<bool()> check;
    bool reached = false;
  };
  std::span<const Probe> probes() const { return probes_; }

  // Takes steps until an end. May be called again, after more was spawned, restarted or the clock
  // was moved.
  RunReport Run(const RunLimits& limits = {});
  // One step, or one move of the clock. False when nothing can happen any more. Asks no invariants.
  bool Step() { return TakeStep() || MoveClock(absl::InfiniteFuture()); }

  // Ends an actor where it stands, as kill -9 would: its coroutine is destroyed, its connections
  // break. What it sent has happened; what waited for its turn never does. Not to be called from
  // inside an actor.
  void Crash(Actor& actor);
  // Begins the actor's coroutine anew when its turn comes. It must have ended or crashed.
  void Restart(Actor& actor);
  // From now on nothing goes wrong any more; who is down and would come back later still does. A
  // run behind this shows liveness: what was broken must come to an end by itself.
  void Heal() { faults_ = FaultPlan(); }
  // How many faults were inflicted.
  int64_t faults_inflicted() const { return faults_.inflicted(); }

  // The decisions so far, for RecordedDecisions.
  const std::vector<uint32_t>& decisions() const { return decisions_.made(); }
  // Of the trace so far: equal for equal runs, in every process and build.
  std::string TraceHash() const { return trace_.Hash(); }
  // How many commands the actors have had answered.
  int64_t commands() const { return commands_; }

 private:
  friend class WorldConnection;

  struct Invariant {
    std::string name;
    std::function<absl::Status()> check;
  };
  // A ScheduleOption, and where it comes from. No connection: a start.
  struct Turn {
    Actor* actor;
    WorldConnection* connection;
  };

  void RecordAnswer(const WorldConnection& connection, const store::Request& request,
                    const absl::StatusOr<store::Reply>& result);
  bool TakeStep();
  // False when the clock has nothing to move to, up to `until`.
  bool MoveClock(absl::Time until);
  void CollectTurns();
  void AddTurns(Actor& actor);
  Turn ChooseTurn();
  void Begin(Actor& actor);
  void LetThrough(WorldConnection& connection);
  // faults.cc
  void Inflict(const FaultRule& rule, WorldConnection& connection);
  void InflictOnRequest(const FaultRule& rule, WorldConnection& connection);
  void InflictOnActor(const FaultRule& rule, WorldConnection& connection);
  void InflictOnServer(const FaultRule& rule, WorldConnection& connection);
  void BreakConnections(WorldConnection& connection);
  WorldConnection* FindOpenConnection() const;
  void FlushServer();
  void EvictKeys(int64_t count);
  void CrashFor(Actor& actor, absl::Duration downtime);
  bool AllEnded() const;
  void AskProbes();
  static absl::Status CheckInvariants(const std::vector<Invariant>& invariants);

  base::VirtualClock clock_;
  Trace trace_;
  const bool traced_;
  RandomDecisions seeded_decisions_;
  RecordingDecisions decisions_;
  base::Rng rng_;
  memory::Engine engine_;
  FaultPlan faults_;
  std::optional<Journal> journal_;  // When a fault needs it.
  std::vector<Invariant> invariants_;
  std::vector<Invariant> final_invariants_;
  std::vector<Probe> probes_;
  std::vector<Turn> turns_;              // Of the step under way; kept for its memory.
  std::vector<ScheduleOption> options_;  // Likewise.
  int64_t commands_ = 0;
  int last_actor_ = 0;
  bool stepping_ = false;
  std::vector<std::unique_ptr<Actor>> actors_;  // Last: their coroutines use the rest.
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_WORLD_WORLD_H_
