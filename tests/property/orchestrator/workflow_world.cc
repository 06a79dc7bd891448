#include "redouble/tests/property/orchestrator/workflow_world.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/orchestrator/approvals/approvals.h"
#include "redouble/core/orchestrator/graph/patch.h"
#include "redouble/core/orchestrator/run/coordinator.h"
#include "redouble/core/orchestrator/run/worker.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/streams.h"
#include "redouble/sim/world/world.h"
#include "redouble/tests/property/orchestrator/routing_model.h"
#include "redouble/tests/property/orchestrator/workflow_graph.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using scenarios::Unguarded;
using scenarios::UnguardedStore;

constexpr absl::Duration kIdle = absl::Seconds(20);
constexpr absl::Duration kApprovalTimeout = absl::Minutes(4);
constexpr std::array<std::string_view, 4> kTypes = {"function", "http", "agent", "hitl"};
constexpr std::array<std::string_view, 2> kCoordinators = {"c1", "c2"};

constexpr const char* kRunIds[] = {"run_1", "run_12"};
// The number of states after which the model gives up on a graph.
constexpr size_t kMostStates = 4000;

// A run and its plan.
struct PlannedRun {
  std::string id;
  Ir ir;
  std::string text;
  std::string failing;  // The node that fails; empty if none.
};

std::string DrawFailing(const Ir& ir, base::Rng& rng) {
  const Node& node = ir.nodes[rng.Below(ir.nodes.size())];
  return node.IsAbsorber() || node.type == "hitl" || rng.Chance(0.5) ? "" : node.id;
}

class WorkflowWorld {
 public:
  explicit WorkflowWorld(const WorkflowWorldOptions& options)
      : options_(options),
        keys_(options.key_layout, options.queue_shards),
        rng_(options.seed),
        world_(MakeOptions(options)),
        watch_(world_.engine(), world_.clock(), WatchOptionsOf(options)),
        session_(world_.Connect()) {
    for (const char* id : kRunIds) {
      PlannedRun run;
      run.id = id;
      run.ir = DrawGraph(rng_, GraphOptions());
      run.text = *FormatIr(run.ir);
      if (options.failures) run.failing = DrawFailing(run.ir, rng_);
      watch_.Watch(run.id, run.failing);
      runs_.push_back(std::move(run));
    }
    if (options.mutation == Unguarded::kGroupAtTheEnd) PublishFirst();
    Spawn();
    world_.AddInvariant("protocol", [this] { return Check(); });
  }

  WorldReport Run() {
    sim::RunLimits limits;
    limits.until = world_.clock().Now() + absl::Hours(6);
    limits.max_steps = 60'000;
    const sim::RunReport end = world_.Run(limits);
    if (end.end != sim::RunEnd::kViolation) {
      report_.violations = watch_.CheckAtEnd();
      if (report_.violations.empty()) CompareWithModel();
    }
    for (const PlannedRun& run : runs_) {
      report_.runs.push_back(watch_.SummaryOf(run.id));
      report_.repeatable = report_.repeatable && IsRepeatable(run);
    }
    report_.commands = world_.commands();
    report_.crashes = world_.faults_injected();
    for (const Violation& violation : report_.violations) {
      absl::StrAppend(&report_.text, "\n", violation.invariant, ": ", violation.what);
    }
    if (!report_.violations.empty()) {
      for (const PlannedRun& run : runs_)
        absl::StrAppend(&report_.text, "\n", run.id, " ", run.text);
    }
    return std::move(report_);
  }

 private:
  static sim::WorldOptions MakeOptions(const WorkflowWorldOptions& options) {
    sim::WorldOptions world;
    world.seed = options.seed;
    world.traced = false;
    if (options.cluster) world.engine.cluster = memory::ClusterOptions();
    sim::FaultRule crash{.fault = sim::Fault::kCrash};
    crash.probability = options.crash_probability;
    crash.limit = 12;
    crash.duration = absl::Seconds(5);
    if (options.crash_before > 0) {
      crash.nth = options.crash_before;
      crash.limit = 1;
    }
    if (options.crash_before > 0 || options.crash_probability > 0) world.faults.push_back(crash);
    return world;
  }

  static WatchOptions WatchOptionsOf(const WorkflowWorldOptions& options) {
    WatchOptions watch;
    watch.key_layout = options.key_layout;
    watch.queue_shards = options.queue_shards;
    watch.coordinators.assign(kCoordinators.begin(), kCoordinators.end());
    watch.approval_timeout = kApprovalTimeout;
    return watch;
  }

  CoordinatorOptions OptionsOf(std::string_view consumer) const {
    CoordinatorOptions options;
    options.queue.consumer = std::string(consumer);
    options.hardening.reliable_pop = !options_.plain_pop;
    return options;
  }

  // The store through which an actor runs the protocol. It breaks the protocol if a mutation is
  // set.
  UnguardedStore StoreOf(sim::Actor& actor) const {
    return UnguardedStore(actor.store(), keys_, options_.mutation);
  }

  // Publishes tokens before the workers' groups are created: a group that starts at the end of the
  // stream loses them.
  void PublishFirst() {
    Coordinator coordinator(*session_, world_.clock(), keys_, OptionsOf("first"));
    for (const PlannedRun& run : runs_) {
      (void)base::Run(coordinator.Start(run.id, run.text));
      (void)watch_.Check();
    }
  }

  void Spawn() {
    // A repeated start would publish the lost tokens again, after the groups exist.
    if (options_.mutation != Unguarded::kGroupAtTheEnd) {
      world_.Spawn("starter", [this](sim::Actor& actor) { return Start(actor); });
    }
    for (const std::string_view name : kCoordinators) {
      world_.Spawn(std::string(name), [this](sim::Actor& actor) { return Coordinate(actor); });
    }
    for (const char* name : {"w1", "w2"}) {
      world_.Spawn(name, [this](sim::Actor& actor) { return Work(actor); });
    }
    for (const char* name : {"approver", "hasty-approver"}) {
      if (options_.deciders == Deciders::kTimeOut) break;
      world_.Spawn(name, [this](sim::Actor& actor) { return Decide(actor); });
    }
    world_.Spawn("sweeper", [this](sim::Actor& actor) { return Sweep(actor); });
    if (options_.duplicates) {
      duplicator_ =
          &world_.Spawn("duplicator", [this](sim::Actor& actor) { return Duplicate(actor); });
    }
    if (options_.patches) {
      world_.Spawn("patcher", [this](sim::Actor& actor) { return Patch(actor); });
    }
  }

  base::Task<void> Start(sim::Actor& actor) {
    UnguardedStore store = StoreOf(actor);
    Coordinator coordinator(store, actor.clock(), keys_, OptionsOf("starter"));
    for (const PlannedRun& run : runs_) {
      // An ended run must not start again; its owner knows that it ended.
      if (!watch_.IsGone(run.id)) (void)co_await coordinator.Start(run.id, run.text);
    }
  }

  base::Task<void> Coordinate(sim::Actor& actor) {
    UnguardedStore store = StoreOf(actor);
    Coordinator coordinator(store, actor.clock(), keys_, OptionsOf(actor.name()));
    (void)co_await coordinator.queue().Recover(actor.name());
    while (!over_) {
      const auto text = co_await coordinator.queue().TakeNow();
      if (!text.ok() || !*text) {
        co_await actor.clock().Sleep(kIdle);
        continue;
      }
      const auto outcome = co_await coordinator.ProcessSignal(**text);
      if (!outcome.ok()) continue;
      if (outcome->completed) watch_.Claim(outcome->run_id);
      (void)co_await coordinator.queue().Done(**text);
    }
  }

  base::Task<void> Work(sim::Actor& actor) {
    UnguardedStore store = StoreOf(actor);
    Approvals approvals(store, actor.clock(), keys_);
    const NodeFunction execute = [&](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> {
      NodeResult result;
      const PlannedRun& run = PlanOf(token.run_id);
      if (IsApproval(run, token)) {
        ApprovalTerms terms;
        terms.timeout = kApprovalTimeout;
        REDOUBLE_CO_RETURN_IF_ERROR((co_await approvals.Request(token, terms)).status());
        result.deferred = true;
        co_return result;
      }
      if (token.to_node == run.failing) co_return absl::InternalError("it broke");
      result.data_json = OutputOf(token.to_node);
      co_return result;
    };
    std::vector<std::unique_ptr<Worker>> workers;
    for (const std::string_view type : kTypes) {
      WorkerOptions options;
      options.type = std::string(type);
      options.consumer = actor.name();
      options.block = std::nullopt;
      // The test causes the crashes, so no token must reach the limit of deliveries.
      options.max_deliveries = 1000;
      workers.push_back(std::make_unique<Worker>(store, actor.clock(), keys_, options, execute));
    }
    while (!over_) {
      int64_t done = 0;
      for (const auto& worker : workers) {
        const auto report = co_await worker->Poll();
        if (report.ok()) done += report->total();
      }
      if (done > 0) continue;
      if (options_.reclaims) {
        for (const auto& worker : workers) (void)co_await worker->Reclaim();
      }
      co_await actor.clock().Sleep(kIdle);
    }
  }

  base::Task<void> Decide(sim::Actor& actor) {
    UnguardedStore store = StoreOf(actor);
    Approvals approvals(store, actor.clock(), keys_);
    const bool races = options_.deciders == Deciders::kRace;
    const bool rejects =
        options_.deciders == Deciders::kReject || (races && actor.name() == "approver");
    while (!over_) {
      // In a race, at about the time of the approval's timeout.
      co_await actor.clock().Sleep(absl::Seconds(actor.rng().Between(1, races ? 400 : 60)));
      for (const PlannedRun& run : runs_) {
        const std::string key = *keys_.PendingApprovals(run.id);
        const auto members = co_await store::SMembers(actor.store(), key);
        if (!members.ok()) continue;
        for (const std::string& member : *members) {
          const auto id = ParseApprovalMember(member);
          if (id && rejects) (void)co_await approvals.Reject(run.id, *id);
          if (id && !rejects) (void)co_await approvals.Approve(run.id, *id);
        }
      }
    }
  }

  base::Task<void> Sweep(sim::Actor& actor) {
    UnguardedStore store = StoreOf(actor);
    Coordinator coordinator(store, actor.clock(), keys_, OptionsOf("sweeper"));
    Approvals approvals(store, actor.clock(), keys_);
    while (!over_) {
      co_await actor.clock().Sleep(absl::Seconds(actor.rng().Between(1, 90)));
      for (const PlannedRun& run : runs_) {
        const auto swept = co_await coordinator.Sweep(run.id);
        if (swept.ok() && *swept) watch_.Claim(run.id);
        (void)co_await approvals.PushUndelivered(run.id);
        (void)co_await approvals.DecideOverdue(run.id);
      }
      // From a worker that may be alive.
      if (actor.rng().Chance(0.2)) {
        (void)co_await coordinator.queue().Recover(
            kCoordinators[actor.rng().Below(kCoordinators.size())]);
      }
    }
  }

  // Any shard: readers must not depend on where a token or a signal is.
  int64_t ShardToDisturb(sim::Actor& actor) const {
    return keys_.queue_shards() == 1 ? 0 : actor.rng().Between(0, keys_.queue_shards() - 1);
  }

  // Sends signals and entries again, at once and much later.
  base::Task<void> Duplicate(sim::Actor& actor) {
    for (int i = 0; i < 12; ++i) {
      const std::string queue = keys_.CompletionSignals(ShardToDisturb(actor));
      const std::set<std::string>& seen = watch_.signals();
      if (!seen.empty()) {
        auto signal = seen.begin();
        std::advance(signal, actor.rng().Below(seen.size()));
        const std::string text = *signal;
        (void)co_await store::RPush(actor.store(), queue, text);
      }
      const std::string_view type = kTypes[actor.rng().Below(kTypes.size())];
      const std::string stream = *keys_.TaskStream(type, ShardToDisturb(actor));
      const store::StreamRange everything;
      const auto entries = co_await store::XRange(actor.store(), stream, everything);
      if (entries.ok() && !entries->empty()) {
        const store::StreamEntry& entry = (*entries)[actor.rng().Below(entries->size())];
        const std::vector<std::pair<std::string_view, std::string_view>> fields(
            entry.fields.begin(), entry.fields.end());
        (void)co_await store::XAdd(actor.store(), stream, fields);
      }
      co_await actor.clock().Sleep(absl::Seconds(actor.rng().Between(1, 30)));
    }
  }

  base::Task<void> Patch(sim::Actor& actor) {
    UnguardedStore store = StoreOf(actor);
    for (int i = 0; i < 3 && !over_; ++i) {
      co_await actor.clock().Sleep(absl::Seconds(actor.rng().Between(0, 30)));
      const PlannedRun& run = runs_[actor.rng().Below(runs_.size())];
      const Node& from = run.ir.nodes[actor.rng().Below(run.ir.nodes.size())];
      const std::string id = absl::StrCat("P", i, "-", actor.incarnation());
      const std::string operations =
          absl::StrCat(R"([{"op":"add","path":"/nodes/-","value":{"id":")", id,
                       R"(","type":"function"}},{"op":"add","path":"/edges/-","value":{"from":")",
                       from.id, R"(","to":")", id, R"("}}])");
      (void)co_await PatchRun(store, keys_, run.id, operations);
    }
  }

  const PlannedRun& PlanOf(std::string_view id) const {
    return *std::find_if(runs_.begin(), runs_.end(), [&](const auto& run) { return run.id == id; });
  }
  static bool IsApproval(const PlannedRun& run, const Token& token) {
    const Node* const node = run.ir.Find(token.to_node);
    return node != nullptr && node->type == "hitl";
  }

  absl::Status Check() {
    if (world_.commands() == looked_at_) return absl::OkStatus();
    looked_at_ = world_.commands();
    report_.violations = watch_.Check();
    if (!report_.violations.empty()) return absl::InternalError("see the report");
    if (!watch_.AllGone() || over_) return absl::OkStatus();
    over_ = (duplicator_ == nullptr || duplicator_->done()) && watch_.NothingWaits();
    return absl::OkStatus();
  }

  // Every order of its tokens has the same outcome, and no other actor affects it.
  bool IsRepeatable(const PlannedRun& run) const {
    return !options_.patches && options_.deciders != Deciders::kRace && run.failing.empty() &&
           IsLoopFree(run.ir);
  }
  static bool IsLoopFree(const Ir& ir) {
    return std::none_of(ir.nodes.begin(), ir.nodes.end(),
                        [](const Node& node) { return node.HasLoop(); });
  }

  void CompareWithModel() {
    if (options_.patches) return;
    for (const PlannedRun& run : runs_) {
      // In a loop, two approvals of one node may be decided differently.
      if (options_.deciders == Deciders::kRace && !IsLoopFree(run.ir)) continue;
      const ModelRun plan = {watch_.ledger(run.id).decisions(), run.failing};
      const auto outcomes = RoutingModel(run.text).Outcomes(plan, kMostStates);
      if (!outcomes) continue;
      ++report_.compared;
      const RunSummary summary = watch_.SummaryOf(run.id);
      ModelOutcome outcome;
      outcome.failed = summary.failed;
      outcome.executed = summary.executed;
      for (const auto& [node, ref] : summary.outputs) outcome.written.insert(node);
      if (outcomes->contains(outcome)) continue;
      const ModelOutcome& first = *outcomes->begin();
      report_.violations.push_back(
          {"oracle",
           absl::StrCat(run.id, outcome.failed ? " failed," : "", " executed ",
                        Counts(outcome.executed), " and wrote ",
                        absl::StrJoin(outcome.written, " "), "; the first of ", outcomes->size(),
                        " outcomes has ", first.failed ? "failed," : "", Counts(first.executed),
                        " and ", absl::StrJoin(first.written, " "))});
    }
  }

  static std::string Counts(const std::map<std::string, int>& counts) {
    return absl::StrJoin(counts, " ", absl::PairFormatter("="));
  }

  const WorkflowWorldOptions options_;
  const Keys keys_;
  base::Rng rng_;
  std::vector<PlannedRun> runs_;
  bool over_ = false;
  const sim::Actor* duplicator_ = nullptr;  // The actor whose signals must be processed as well.
  int64_t looked_at_ = -1;
  WorldReport report_;
  sim::World world_;
  ProtocolWatch watch_;
  std::unique_ptr<memory::Session> session_;
};

}  // namespace

bool WorldReport::Broke(const std::string& invariant) const {
  return std::any_of(violations.begin(), violations.end(),
                     [&](const Violation& violation) { return violation.invariant == invariant; });
}

WorldReport RunWorkflowWorld(const WorkflowWorldOptions& options) {
  return WorkflowWorld(options).Run();
}

}  // namespace redouble::inline v0_1::orchestrator
