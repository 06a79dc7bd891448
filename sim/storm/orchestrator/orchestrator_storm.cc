#include "redouble/sim/storm/orchestrator/orchestrator_storm.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/app/engine.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/streams.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/storm/orchestrator/workflows.h"

namespace redouble::inline v0_1::sim {
namespace {

enum Role : size_t { kStarter, kWorker, kCoordinator, kApprover, kService, kOperator };
enum PromiseIndex : size_t {
  kReachesItsEnd,
  kIsNoticed,
  kRecorded,
  kPublishedOnce,
  kOneToken,
  kExecutedAsDelivered,
  kDecidedOnce,
  kNamesTheDecider,
  kEndsOnce,
  kCounted,
  kExpires,
  kNothingLeft,
};

// A slow loop takes longer than the TTL of its run, and one of its nodes much less, also if crashes
// repeat it.
constexpr absl::Duration kSlowNode = absl::Seconds(200);
constexpr absl::Duration kRunTtl = absl::Minutes(18);
constexpr absl::Duration kStuckAfter = absl::Minutes(2);
// A run that was stuck when it expired, and not in execution.
constexpr absl::Duration kStoodStill = absl::Minutes(10);

orchestrator::EngineSettings SettingsOf(const std::string& instance, bool hardened,
                                        const orchestrator::Keys& keys) {
  orchestrator::EngineSettings settings;
  settings.key_layout = keys.layout();
  settings.queue_shards = keys.queue_shards();
  settings.instance = instance;
  settings.run_ttl = kRunTtl;
  settings.worker_min_idle = absl::Seconds(30);
  // The faults of a storm must not use up the deliveries of a token.
  settings.worker_max_deliveries = 1000;
  settings.service_lease = absl::Seconds(45);
  settings.stuck_after = kStuckAfter;
  settings.hardening = {.reliable_pop = hardened,
                        .extend_on_commit = hardened,
                        .atomic_hops = hardened,
                        .keep_decision_details = hardened};
  return settings;
}

int64_t ShardsOf(store::KeyLayout layout) {
  return layout == store::KeyLayout::kCluster ? kClusterQueueShards : 1;
}

// A run and what is known of it.
struct WatchedRun {
  PlannedRun plan;
  bool slow = false;
  bool started = false;  // StartRun has succeeded.
  int starting = 0;      // How many calls of StartRun are in progress.
  bool cancel_asked = false;
  bool reported_stuck = false;  // By the last round of the service.
  std::string approval;         // The id of its approval, once an approver has seen it.
  int ends = 0;                 // How many coordinators were told that they ended it.
  // By approver, what it has decided; and what it has tried.
  std::vector<std::pair<std::string, bool>> decided;
  std::set<std::pair<std::string, bool>> tried;
  // By the world's clock.
  std::string state;  // Changes with each step of the run.
  absl::Time last_step;
  std::optional<absl::Time> gone_at;
  bool is_back = false;  // Its keys are there although they were deleted.
};

// Counts a call that is in progress, until it ends or its actor crashes.
class CallInProgress {
 public:
  explicit CallInProgress(int& count) : count_(count) { ++count_; }
  CallInProgress(const CallInProgress&) = delete;
  CallInProgress& operator=(const CallInProgress&) = delete;
  ~CallInProgress() { --count_; }

 private:
  int& count_;
};

class OrchestratorWorkload final : public Storm {
 public:
  OrchestratorWorkload(World& world, const StormVariant& variant)
      : world_(world),
        store_(world.ConnectToAll()),
        hardened_(variant.hardened),
        keys_(variant.key_layout, ShardsOf(variant.key_layout)) {}

  base::Task<void> Act(Actor& actor, store::Store& store, size_t role, StormWork& work) override;
  base::Task<void> Drain(Actor& actor, store::Store& store) override;
  void Observe() override;
  void Judge(Verdicts& verdicts) override;

 private:
  std::unique_ptr<orchestrator::Engine> MakeEngine(Actor& actor, store::Store& store) {
    return orchestrator::Engine::Create(store, actor.clock(), {records_, outputs_},
                                        SettingsOf(actor.name(), hardened_, keys_))
        .value();
  }
  void AddWorkers(orchestrator::Engine& engine, Actor& actor);
  base::Task<absl::StatusOr<orchestrator::NodeResult>> Execute(Actor& actor,
                                                               orchestrator::Token token);

  base::Task<void> Start(Actor& actor, orchestrator::Engine& engine, base::Rng& rng);
  base::Task<bool> StartRun(orchestrator::Engine& engine, WatchedRun& run);
  base::Task<void> DecideSome(const std::string& approver, store::Store& store,
                              orchestrator::Engine& engine, base::Rng& rng);
  base::Task<void> Decide(const std::string& approver, orchestrator::Engine& engine,
                          WatchedRun& run, std::string id, bool approves);
  base::Task<absl::StatusOr<bool>> MakeRound(orchestrator::Engine& engine);
  base::Task<void> Operate(orchestrator::Engine& engine, base::Rng& rng);
  void Note(const absl::StatusOr<std::optional<orchestrator::SignalOutcome>>& outcome);

  std::vector<std::string> KeysLike(std::string_view pattern) {
    return base::Run(store::Keys(*store_, pattern)).value();
  }
  // The task streams, with their shards.
  std::vector<std::string> Streams() const;
  WatchedRun& RunOf(std::string_view id);
  std::optional<orchestrator::RunRecord> RecordOf(const WatchedRun& run);
  bool HaveEnded();
  void ObserveRun(WatchedRun& run);
  void ObserveTtls();
  void ObserveDeliveries();
  void ObserveSignals();
  void JudgeEnd(Verdicts& verdicts, WatchedRun& run);
  void JudgeRecord(Verdicts& verdicts, WatchedRun& run, const orchestrator::RunRecord& record);
  void JudgeDecision(Verdicts& verdicts, const WatchedRun& run, std::string_view output);
  void JudgeStream(Verdicts& verdicts, const std::string& stream);
  bool MayStay(const std::string& key);
  void JudgeLeft(Verdicts& verdicts);

  World& world_;
  const std::unique_ptr<store::Store> store_;
  const bool hardened_;
  const orchestrator::Keys keys_;
  orchestrator::MemoryRunStore records_;
  orchestrator::MemoryArtifacts outputs_;
  std::deque<WatchedRun> runs_;                              // References stay valid.
  std::map<std::string, std::vector<WatchedRun*>> unknown_;  // By starter: not known to be started.
  // By run and token id.
  std::map<std::pair<std::string, std::string>, int64_t> executions_;
  std::map<std::pair<std::string, store::StreamId>, int64_t> deliveries_;  // By stream and entry.
  std::vector<std::string> without_ttl_;
  std::string counter_fault_;
  std::string restart_;  // A run that a start in progress brought back.
  std::string drain_fault_;
  int64_t ends_of_sweeps_ = 0;
  int64_t steps_ = 0;
  bool recovers_ = false;     // Signals were taken from a coordinator.
  bool holds_twice_ = false;  // A signal was in the lists twice.
};

base::Task<void> OrchestratorWorkload::Act(Actor& actor, store::Store& store, size_t role,
                                           StormWork& work) {
  const std::unique_ptr<orchestrator::Engine> engine = MakeEngine(actor, store);
  if (role == kWorker || role == kService) AddWorkers(*engine, actor);
  if (role == kStarter) {
    for (WatchedRun* run : unknown_[actor.name()]) co_await StartRun(*engine, *run);
  }
  while (role == kService) {
    const absl::StatusOr<bool> is_busy = co_await MakeRound(*engine);
    co_await actor.clock().Sleep(is_busy.value_or(false) ? absl::Seconds(1) : absl::Seconds(15));
  }
  while (std::optional<base::Rng> rng = work.Next()) {
    const auto pause_ms = static_cast<int64_t>(rng->Below(role == kWorker ? 500 : 3000));
    co_await actor.clock().Sleep(absl::Milliseconds(pause_ms));
    if (role == kStarter) co_await Start(actor, *engine, *rng);
    if (role == kWorker) {
      for (const auto& worker : engine->workers()) {
        const auto report = co_await worker->Poll();
        report.status().IgnoreError();
      }
    }
    if (role == kCoordinator) Note(co_await engine->coordinator().Poll());
    if (role == kApprover) co_await DecideSome(actor.name(), store, *engine, *rng);
    if (role == kOperator) co_await Operate(*engine, *rng);
  }
}

void OrchestratorWorkload::AddWorkers(orchestrator::Engine& engine, Actor& actor) {
  for (const std::string_view type : kNodeTypes) {
    if (type == "hitl") {
      engine.AddApprovalWorker(actor.name());
      continue;
    }
    engine.AddWorker(type, actor.name(), [this, &actor](const orchestrator::Token& token) {
      return Execute(actor, token);
    });
  }
}

base::Task<absl::StatusOr<orchestrator::NodeResult>> OrchestratorWorkload::Execute(
    Actor& actor, orchestrator::Token token) {
  ++executions_[{token.run_id, token.id}];
  const absl::Duration quick = absl::Seconds(static_cast<int64_t>(actor.rng().Below(8)));
  co_await actor.clock().Sleep(RunOf(token.run_id).slow ? kSlowNode : quick);
  const PlannedRun& run = RunOf(token.run_id).plan;
  if (run.fails && token.to_node == kFailingNode) co_return absl::InternalError("it broke");
  orchestrator::NodeResult result;
  result.data_json = OutputOf(run, token.to_node);
  co_return result;
}

base::Task<void> OrchestratorWorkload::Start(Actor& actor, orchestrator::Engine& engine,
                                             base::Rng& rng) {
  WatchedRun& run = runs_.emplace_back();
  run.plan.id = absl::StrCat("r", runs_.size());
  run.plan.workflow = kWorkflows[rng.Below(kWorkflows.size())];
  run.plan.number = rng.Chance(0.6) ? 1 : 0;
  run.plan.fails = run.plan.workflow == Workflow::kChain && rng.Chance(0.3);
  run.slow = run.plan.workflow == Workflow::kLoop && rng.Chance(0.3);
  run.last_step = world_.clock().Now();
  unknown_[actor.name()].push_back(&run);
  constexpr int kAttempts = 4;
  for (int i = 0; i < kAttempts && !run.started; ++i) co_await StartRun(engine, run);
  if (!rng.Chance(0.3)) co_return;
  co_await actor.clock().Sleep(absl::Seconds(static_cast<int64_t>(rng.Below(30))));
  co_await StartRun(engine, run);
}

base::Task<bool> OrchestratorWorkload::StartRun(orchestrator::Engine& engine, WatchedRun& run) {
  const CallInProgress call(run.starting);
  const auto started = co_await engine.StartRun(run.plan.id, IrOf(run.plan.workflow));
  // A run that was marked as expired before its start reached Redis has not started.
  if (started.ok() && started->status != orchestrator::RunStatus::kExpired) run.started = true;
  co_return run.started;
}

base::Task<void> OrchestratorWorkload::DecideSome(const std::string& approver, store::Store& store,
                                                  orchestrator::Engine& engine, base::Rng& rng) {
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].plan.workflow != Workflow::kApproval) continue;
    const std::string key = *keys_.PendingApprovals(runs_[i].plan.id);
    const auto members = co_await store::SMembers(store, key);
    if (!members.ok()) continue;
    for (const std::string& member : *members) {
      if (const auto id = orchestrator::ParseApprovalMember(member)) runs_[i].approval = *id;
    }
    // Some approvers have an old list, and decide what was decided.
    if (runs_[i].approval.empty() || (members->empty() && rng.Chance(0.5))) continue;
    const std::string id = runs_[i].approval;
    co_await Decide(approver, engine, runs_[i], id, rng.Chance(0.6));
    if (rng.Chance(0.3)) co_await Decide(approver, engine, runs_[i], id, rng.Chance(0.5));
  }
}

base::Task<void> OrchestratorWorkload::Decide(const std::string& approver,
                                              orchestrator::Engine& engine, WatchedRun& run,
                                              std::string id, bool approves) {
  orchestrator::DecisionDetails details;
  details.decided_by = approver;
  run.tried.emplace(approver, approves);
  absl::StatusOr<orchestrator::DecisionOutcome> outcome;
  if (approves) {
    outcome = co_await engine.approvals().Approve(run.plan.id, id, details);
  } else {
    outcome = co_await engine.approvals().Reject(run.plan.id, id, details);
  }
  if (outcome.ok() && *outcome == orchestrator::DecisionOutcome::kDecided) {
    run.decided.emplace_back(approver, approves);
  }
}

// Executes a token of each type, processes a signal, and makes a round of the service. Returns
// whether there was a token or a signal.
base::Task<absl::StatusOr<bool>> OrchestratorWorkload::MakeRound(orchestrator::Engine& engine) {
  bool is_busy = false;
  for (const auto& worker : engine.workers()) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const orchestrator::WorkReport report, co_await worker->Poll());
    is_busy = is_busy || report.total() > 0;
  }
  const auto outcome = co_await engine.coordinator().Poll();
  Note(outcome);
  REDOUBLE_CO_RETURN_IF_ERROR(outcome.status());
  is_busy = is_busy || outcome->has_value();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const orchestrator::TickReport report,
                               co_await engine.service().Tick());
  ends_of_sweeps_ += report.completed;
  recovers_ = recovers_ || report.recovered > 0;
  // A run whose worker has crashed is stuck until another worker takes its token.
  for (WatchedRun& run : runs_) {
    if (report.leading) run.reported_stuck = false;
  }
  for (const orchestrator::StuckRun& stuck : report.stuck) {
    RunOf(stuck.run_id).reported_stuck = true;
  }
  co_return is_busy;
}

base::Task<void> OrchestratorWorkload::Operate(orchestrator::Engine& engine, base::Rng& rng) {
  if (rng.Chance(0.8)) {
    const std::string coordinator = absl::StrCat("coordinator-", rng.Below(2));
    const auto recovered = co_await engine.coordinator().queue().Recover(coordinator);
    recovers_ = recovers_ || !recovered.ok() || *recovered > 0;
    co_return;
  }
  if (runs_.empty()) co_return;
  WatchedRun& run = runs_[rng.Below(runs_.size())];
  run.cancel_asked = true;
  const auto cancelled = co_await engine.CancelRun(run.plan.id, "no longer needed");
  cancelled.status().IgnoreError();
}

void OrchestratorWorkload::Note(
    const absl::StatusOr<std::optional<orchestrator::SignalOutcome>>& outcome) {
  if (!outcome.ok() || !outcome->has_value()) return;
  if ((*outcome)->completed) ++RunOf((*outcome)->run_id).ends;
}

std::vector<std::string> OrchestratorWorkload::Streams() const {
  std::vector<std::string> streams;
  for (const std::string_view type : kNodeTypes) {
    for (int64_t shard = 0; shard < keys_.queue_shards(); ++shard) {
      streams.push_back(*keys_.TaskStream(type, shard));
    }
  }
  return streams;
}

WatchedRun& OrchestratorWorkload::RunOf(std::string_view id) {
  return *std::find_if(runs_.begin(), runs_.end(),
                       [&](const WatchedRun& run) { return run.plan.id == id; });
}

std::optional<orchestrator::RunRecord> OrchestratorWorkload::RecordOf(const WatchedRun& run) {
  return base::Run(records_.Find(run.plan.id)).value();
}

bool OrchestratorWorkload::HaveEnded() {
  return std::all_of(runs_.begin(), runs_.end(), [&](const WatchedRun& run) {
    const auto record = RecordOf(run);
    return !record || record->status != orchestrator::RunStatus::kRunning || run.reported_stuck;
  });
}

// One process does everything that is left, and decides the approvals that are pending.
base::Task<void> OrchestratorWorkload::Drain(Actor& actor, store::Store& store) {
  const std::unique_ptr<orchestrator::Engine> engine = MakeEngine(actor, store);
  AddWorkers(*engine, actor);
  constexpr int kRounds = 100;
  // Signals of runs that have ended may be left, and executions that go on.
  constexpr int kLastRounds = 16;
  int last = 0;
  for (int round = 0; round < kRounds && last < kLastRounds; ++round) {
    base::Rng rng(actor.rng().Next());
    co_await DecideSome(actor.name(), store, *engine, rng);
    absl::StatusOr<bool> is_busy = true;
    while (is_busy.value_or(false)) is_busy = co_await MakeRound(*engine);
    if (!is_busy.ok()) drain_fault_ = is_busy.status().ToString();
    co_await actor.clock().Sleep(absl::Seconds(20));
    last = HaveEnded() ? last + 1 : 0;
  }
}

void OrchestratorWorkload::ObserveRun(WatchedRun& run) {
  const auto counter = base::Run(store::Get(*store_, *keys_.Counter(run.plan.id))).value();
  const auto operations = base::Run(store::SCard(*store_, *keys_.Applied(run.plan.id))).value();
  const std::string state = absl::StrCat(counter.value_or("none"), " ", operations);
  const absl::Time now = world_.clock().Now();
  if (state != run.state) {
    if (!counter && !run.state.empty()) run.gone_at = now;
    if (counter) run.last_step = now;
    run.state = state;
  }
  int64_t tokens = 0;
  if (!counter) {
    run.is_back = false;
    return;
  }
  if (!absl::SimpleAtoi(*counter, &tokens) || tokens < 0) {
    counter_fault_ = absl::StrCat(run.plan.id, " has the counter ", *counter);
  }
  if (!run.gone_at || std::exchange(run.is_back, true)) return;
  const auto record = RecordOf(run);
  std::string what = absl::StrCat(run.plan.id, " is there again after its end, as ",
                                  base::ToAbsl(orchestrator::RunStatusName(record->status)));
  // The start looked at the record before the run ended, and will look at it again.
  (run.starting > 0 ? restart_ : counter_fault_) = std::move(what);
}

void OrchestratorWorkload::ObserveTtls() {
  for (const std::string& key : KeysLike("*")) {
    const auto match = keys_.Parse(key);
    if (!match || match->family->ttl_rule.starts_with("none")) continue;
    if (!base::Run(store::TimeToLive(*store_, key)).value().expires()) {
      without_ttl_.push_back(key);
    }
  }
}

// How often each entry was delivered. An entry is seen between its delivery and its
// acknowledgement.
void OrchestratorWorkload::ObserveDeliveries() {
  for (const std::string& stream : Streams()) {
    const auto pending = base::Run(store::XPendingRange(*store_, stream, "workers"));
    if (!pending.ok()) continue;
    for (const store::PendingEntry& entry : *pending) {
      int64_t& deliveries = deliveries_[{stream, entry.id}];
      deliveries = std::max(deliveries, entry.deliveries);
    }
  }
}

// Whether a signal is there twice.
void OrchestratorWorkload::ObserveSignals() {
  std::set<std::string> signals;
  for (const std::string& list : KeysLike("*completion_signals*")) {
    const std::vector<std::string> texts = base::Run(store::LRange(*store_, list, 0, -1)).value();
    for (const std::string& text : texts) {
      holds_twice_ = !signals.insert(text).second || holds_twice_;
    }
  }
}

void OrchestratorWorkload::Observe() {
  constexpr int64_t kStepsBetween = 8;
  for (WatchedRun& run : runs_) ObserveRun(run);
  ObserveDeliveries();
  if (steps_++ % kStepsBetween != 0) return;
  ObserveSignals();
  ObserveTtls();
}

void OrchestratorWorkload::JudgeEnd(Verdicts& verdicts, WatchedRun& run) {
  using orchestrator::RunStatus;
  const auto record = RecordOf(run);
  const RunStatus status = record ? record->status : RunStatus::kRunning;
  const bool ended = status != RunStatus::kRunning && status != RunStatus::kExpired;
  const std::string what = absl::StrCat(
      run.plan.id, " is ", base::ToAbsl(orchestrator::RunStatusName(status)),
      "; its last step was at ", absl::FormatTime(run.last_step, absl::UTCTimeZone()),
      ", and its keys were deleted at ",
      absl::FormatTime(run.gone_at.value_or(absl::InfiniteFuture()), absl::UTCTimeZone()), " ",
      drain_fault_);
  // A run that stood still has lost its only signal.
  const bool stood_still = !run.gone_at || *run.gone_at - run.last_step > kStoodStill;
  verdicts.Check(kReachesItsEnd, ended, stood_still ? "H7" : "H28", what);
  verdicts.Check(kIsNoticed, status != RunStatus::kRunning || run.reported_stuck, kUndocumented,
                 what);
  verdicts.Check(kEndsOnce, run.ends <= 1, kUndocumented,
                 absl::StrCat(run.plan.id, " ended ", run.ends, " times"));
  if (record && ended) JudgeRecord(verdicts, run, *record);
}

void OrchestratorWorkload::JudgeRecord(Verdicts& verdicts, WatchedRun& run,
                                       const orchestrator::RunRecord& record) {
  using orchestrator::RunStatus;
  if (record.status == RunStatus::kCancelled) {
    verdicts.Check(kRecorded, run.cancel_asked, kUndocumented,
                   absl::StrCat(run.plan.id, " is cancelled, without a request"));
    return;
  }
  if (record.status == RunStatus::kFailed || run.plan.fails) {
    const bool holds = record.status == RunStatus::kFailed && run.plan.fails &&
                       record.node_id == kFailingNode &&
                       record.failure->error_message == "it broke";
    verdicts.Check(kRecorded, holds, kUndocumented,
                   absl::StrCat(run.plan.id, " failed at ", record.node_id, ": ",
                                record.failure ? record.failure->error_message : ""));
    return;
  }
  std::map<std::string, std::string> outputs(record.outputs.begin(), record.outputs.end());
  const std::string decision = outputs[std::string(kApprovalNode)];
  const bool approved = decision.find(R"("approved":true)") != std::string::npos;
  std::map<std::string, std::string> expected;
  for (const std::string& node : NodesOf(run.plan, approved)) {
    expected[node] = node == kApprovalNode ? decision : OutputOf(run.plan, node);
  }
  if (run.plan.workflow != Workflow::kApproval) outputs.erase(std::string(kApprovalNode));
  std::string what = absl::StrCat(run.plan.id, " returned");
  for (const auto& [node, output] : outputs) absl::StrAppend(&what, " ", output);
  verdicts.Check(kRecorded, outputs == expected, kUndocumented, what);
  if (run.plan.workflow == Workflow::kApproval) JudgeDecision(verdicts, run, decision);
}

// The approval's output has the one decision that an approver was notified of.
void OrchestratorWorkload::JudgeDecision(Verdicts& verdicts, const WatchedRun& run,
                                         std::string_view output) {
  const bool approved = output.find(R"("approved":true)") != std::string_view::npos;
  const bool timed_out = output.find(R"("decision":"timeout")") != std::string_view::npos;
  bool agrees = run.decided.size() <= 1;
  if (!run.decided.empty()) agrees = agrees && run.decided[0].second == approved && !timed_out;
  verdicts.Check(kDecidedOnce, agrees, kUndocumented,
                 absl::StrCat(run.plan.id, " was decided ", run.decided.size(),
                              " times; its output ", base::ToAbsl(output)));
  if (timed_out) return;
  const bool is_named = std::any_of(run.tried.begin(), run.tried.end(), [&](const auto& tried) {
    const std::string name = absl::StrCat(R"("decided_by":")", tried.first, "\"");
    return tried.second == approved && output.find(name) != std::string_view::npos;
  });
  verdicts.Check(kNamesTheDecider, is_named, "H27",
                 absl::StrCat(run.plan.id, ": ", base::ToAbsl(output)));
}

void OrchestratorWorkload::JudgeStream(Verdicts& verdicts, const std::string& stream) {
  std::map<std::string, int> published;
  std::map<std::pair<std::string, std::string>, int64_t> delivered;             // By run and id.
  std::map<std::pair<std::string, std::string>, std::set<std::string>> tokens;  // By run and node.
  const auto entries = base::Run(store::XRange(*store_, stream));
  if (!entries.ok()) return;
  for (const store::StreamEntry& entry : *entries) {
    const auto token = orchestrator::ParseToken(entry.Find("token").value_or(""));
    if (!token.ok()) continue;
    delivered[{token->run_id, token->id}] += deliveries_[{stream, entry.id}];
    tokens[{token->run_id, token->to_node}].insert(token->id);
    // A repeated start and a sweep publish the tokens of entries and joins again.
    if (!token->from_node.empty() && token->to_node != kJoinNode) ++published[token->id];
  }
  const std::string_view section = recovers_ ? "H26" : holds_twice_ ? "H25" : "H6";
  for (const auto& [token, times] : published) {
    verdicts.Check(kPublishedOnce, times == 1, section,
                   absl::StrCat("token ", token, " is published ", times, " times"));
  }
  for (const auto& [node, ids] : tokens) {
    constexpr size_t kIterations = 3;
    const bool loops = RunOf(node.first).plan.workflow == Workflow::kLoop;
    verdicts.Check(kOneToken, ids.size() <= (loops ? kIterations : 1), kUndocumented,
                   absl::StrCat(ids.size(), " tokens of ", node.first, " go to ", node.second));
  }
  for (const auto& [token, times] : delivered) {
    verdicts.Check(kExecutedAsDelivered, executions_[token] <= times, kUndocumented,
                   absl::StrCat("token ", token.second, " of ", token.first, " was delivered ",
                                times, " times and executed ", executions_[token], " times"));
  }
  const auto groups = base::Run(store::XInfoGroups(*store_, stream)).value();
  for (const store::StreamGroupInfo& group : groups) {
    verdicts.Check(kNothingLeft, group.pending == 0 && group.lag.value_or(0) == 0, kUndocumented,
                   absl::StrCat(stream, " has ", group.pending, " pending entries"));
  }
}

// The streams and the lease stay, and so do the keys of a run that is stuck. An approval of a run
// that was ended otherwise than by completion stays until it expires.
bool OrchestratorWorkload::MayStay(const std::string& key) {
  if (key.starts_with("wf.")) return true;
  const auto match = keys_.Parse(key);
  if (!match) return false;
  std::string run_id;
  const bool is_approval = match->family->id == "orchestrator.approval";
  if (is_approval) {
    run_id = base::Run(store::HGet(*store_, key, "run_id")).value().value_or("");
  } else if (match->pattern->placeholders().front().name == "run_id") {
    run_id = match->values.front();
  }
  return std::any_of(runs_.begin(), runs_.end(), [&](const WatchedRun& run) {
    if (run.plan.id != run_id) return false;
    const auto record = RecordOf(run);
    const bool completed = record && record->status == orchestrator::RunStatus::kCompleted;
    return run.reported_stuck || (is_approval && !completed);
  });
}

void OrchestratorWorkload::JudgeLeft(Verdicts& verdicts) {
  for (const std::string& key : KeysLike("*")) {
    verdicts.Check(kNothingLeft, MayStay(key), kUndocumented, absl::StrCat(key, " is left"));
  }
}

void OrchestratorWorkload::Judge(Verdicts& verdicts) {
  int64_t completed = 0;
  for (WatchedRun& run : runs_) {
    if (run.started) JudgeEnd(verdicts, run);
    const auto record = RecordOf(run);
    if (record && record->status == orchestrator::RunStatus::kCompleted) ++completed;
    completed -= run.ends;
  }
  verdicts.Check(kEndsOnce, ends_of_sweeps_ <= completed, kUndocumented,
                 "more ends were announced than runs have completed");
  for (const std::string& stream : Streams()) JudgeStream(verdicts, stream);
  verdicts.Check(kCounted, counter_fault_.empty(), kUndocumented, counter_fault_);
  if (!restart_.empty()) verdicts.Break(kCounted, "H29", restart_);
  verdicts.Check(kExpires, without_ttl_.empty(), kUndocumented,
                 without_ttl_.empty() ? "" : absl::StrCat(without_ttl_.front(), " has no TTL"));
  JudgeLeft(verdicts);
}

std::vector<Promise> Promises() {
  return {
      {"a run that was started comes to its end",
       {{"H7", "reliable_pop"}, {"H28", "extend_on_commit"}}},
      {"a run that does not end is reported as stuck", {}},
      {"the record of a run has what its nodes returned, and its status says why it ended", {}},
      {"a token is published once, unless it begins a run or fires a join",
       {{"H6", "atomic_hops"}, {"H25", "atomic_hops"}, {"H26", "atomic_hops"}}},
      {"a node has one token, or one for each iteration of its loop", {}},
      {"a token is executed at most as often as it was delivered", {}},
      {"an approval is decided once, and the run follows that decision", {}},
      {"the output of an approval names the person who decided",
       {{"H27", "keep_decision_details"}}},
      {"the end of a run is reported to one coordinator", {}},
      {"the counter of a run is never negative and does not return after the end", {{"H29", ""}}},
      {"every key of a run expires", {}},
      {"after the end no signal, no pending token and no key of a run is left", {}},
  };
}

}  // namespace

StormSystem OrchestratorStorm() {
  return {.name = "orchestrator",
          .promises = Promises(),
          .roles = {{.name = "starter", .least = 1, .most = 2, .operations = 3},
                    {.name = "worker", .least = 1, .most = 2, .operations = 10},
                    {.name = "coordinator", .least = 1, .most = 2, .operations = 12},
                    {.name = "approver", .least = 0, .most = 2, .operations = 4},
                    {.name = "service", .daemon = true},
                    {.name = "operator", .least = 0, .most = 1, .operations = 4}},
          // The state of running executions is in Redis only; no document says what remains of a
          // run if Redis loses it.
          .faults = ClientFaults(),
          .documented_layout_only = {"atomic_hops"},
          .make = [](World& world, const StormVariant& variant) -> std::unique_ptr<Storm> {
            return std::make_unique<OrchestratorWorkload>(world, variant);
          }};
}

}  // namespace redouble::inline v0_1::sim
