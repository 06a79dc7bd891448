#include "tests/property/orchestrator/workflow_world.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/rng.h"
#include "core/base/run.h"
#include "core/base/string_bridge.h"
#include "core/orchestrator/approvals.h"
#include "core/orchestrator/coordinator.h"
#include "core/orchestrator/patch.h"
#include "core/orchestrator/routing.h"
#include "core/orchestrator/worker.h"
#include "core/store/hashes.h"
#include "core/store/keys.h"
#include "core/store/lists.h"
#include "core/store/sets.h"
#include "core/store/streams.h"
#include "core/store/strings.h"
#include "sim/world/world.h"
#include "tests/property/orchestrator/workflow_graph.h"

namespace redouble::orchestrator {
namespace {

constexpr absl::Duration kIdle = absl::Seconds(20);
constexpr std::array<std::string_view, 4> kTypes = {"function", "http", "agent", "hitl"};
constexpr std::array<std::string_view, 2> kCoordinators = {"c1", "c2"};

using Members = std::set<std::string>;

// One run under observation.
struct Observed {
  std::string id;
  Ir ir;
  std::string text;
  bool created = false;
  bool gone = false;
  int64_t counter = 0;  // As the last step left them.
  int64_t pending = 0;
  int announced = 0;
  Members applied;
  size_t context_fields = 0;
  std::map<std::string, int> executed;
};

class WorkflowWorld {
 public:
  explicit WorkflowWorld(const WorkflowWorldOptions& options)
      : options_(options),
        keys_(options.key_form),
        rng_(options.seed),
        world_(MakeOptions(options)),
        eye_(world_.Connect()) {
    for (const char* id : {"run_1", "run_12"}) {
      Observed run;
      run.id = id;
      run.ir = DrawGraph(rng_, GraphOptions());
      run.text = *FormatIr(run.ir);
      runs_.push_back(std::move(run));
    }
    if (options.group_at_end) PublishFirst();
    Spawn();
    world_.AddInvariant("protocol", [this] { return Look(); });
  }

  absl::Status Run() {
    sim::RunLimits limits;
    limits.until = world_.clock().Now() + absl::Hours(3);
    limits.max_steps = 60'000;
    const sim::RunReport report = world_.Run(limits);
    if (report.end == sim::RunEnd::kViolation) return report.violation;
    if (report.end != sim::RunEnd::kDone) {
      return absl::InternalError(absl::StrCat("L3: the runs do not end: ", Describe()));
    }
    return CheckEnd();
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
    if (options.crash_probability > 0) world.faults.push_back(crash);
    return world;
  }

  CoordinatorOptions OptionsOf(std::string_view consumer) const {
    CoordinatorOptions options;
    options.queue.consumer = std::string(consumer);
    if (options_.plain_pop) options.queue.pop = PopMode::kPlain;
    options.mutation = options_.mutation;
    return options;
  }

  // Tokens that are there before any worker's group is: what a group at the end loses.
  void PublishFirst() {
    Coordinator coordinator(*eye_, world_.clock(), keys_, OptionsOf("first"));
    for (Observed& run : runs_) (void)base::Run(coordinator.Start(run.id, run.text));
  }

  void Spawn() {
    // Its tokens would come again behind the group.
    if (!options_.group_at_end) {
      world_.Spawn("starter", [this](sim::Actor& actor) { return Start(actor); });
    }
    for (const std::string_view name : kCoordinators) {
      world_.Spawn(std::string(name), [this](sim::Actor& actor) { return Coordinate(actor); });
    }
    for (const char* name : {"w1", "w2"}) {
      world_.Spawn(name, [this](sim::Actor& actor) { return Work(actor); });
    }
    for (const char* name : {"approver", "hasty-approver"}) {
      world_.Spawn(name, [this](sim::Actor& actor) { return Decide(actor); });
    }
    world_.Spawn("sweeper", [this](sim::Actor& actor) { return Sweep(actor); });
    duplicator_ =
        &world_.Spawn("duplicator", [this](sim::Actor& actor) { return Duplicate(actor); });
    if (options_.patches) {
      world_.Spawn("patcher", [this](sim::Actor& actor) { return Patch(actor); });
    }
  }

  base::Task<void> Start(sim::Actor& actor) {
    Coordinator coordinator(actor.store(), actor.clock(), keys_, OptionsOf("starter"));
    for (Observed& run : runs_) {
      // A run that is over must not begin again; its owner knows.
      if (!run.gone) (void)co_await coordinator.Start(run.id, run.text);
    }
  }

  base::Task<void> Coordinate(sim::Actor& actor) {
    Coordinator coordinator(actor.store(), actor.clock(), keys_, OptionsOf(actor.name()));
    (void)co_await coordinator.queue().Recover(actor.name());
    while (!over_) {
      const auto text = co_await coordinator.queue().TakeNow();
      if (!text.ok() || !*text) {
        co_await actor.clock().Sleep(kIdle);
        continue;
      }
      const auto outcome = co_await coordinator.ProcessSignal(**text);
      if (!outcome.ok()) continue;
      if (outcome->completed) Announce(outcome->run_id);
      (void)co_await coordinator.queue().Done(**text);
    }
  }

  base::Task<void> Work(sim::Actor& actor) {
    Approvals approvals(actor.store(), actor.clock(), keys_, options_.mutation);
    const NodeFunction execute = [&](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> {
      NodeResult result;
      if (const Observed* run = FindRun(token.run_id); run != nullptr && IsApproval(*run, token)) {
        ApprovalTerms terms;
        terms.timeout = absl::Hours(2);
        const auto requested = co_await approvals.Request(token, terms);
        if (!requested.ok()) co_return requested.status();
        result.deferred = true;
        co_return result;
      }
      result.data_json = OutputOf(token.to_node);
      co_return result;
    };
    std::vector<std::unique_ptr<Worker>> workers;
    for (const std::string_view type : kTypes) {
      WorkerOptions options;
      options.type = std::string(type);
      options.consumer = actor.name();
      options.block = std::nullopt;
      options.group_at_end = options_.group_at_end;
      // An actor's crashes are the test's; no token is to blame for them.
      options.max_deliveries = 1000;
      workers.push_back(
          std::make_unique<Worker>(actor.store(), actor.clock(), keys_, options, execute));
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
    Approvals approvals(actor.store(), actor.clock(), keys_, options_.mutation);
    while (!over_) {
      co_await actor.clock().Sleep(absl::Seconds(actor.rng().Between(1, 60)));
      for (const Observed& run : runs_) {
        const std::string key = *keys_.PendingApprovals(run.id);
        const auto members = co_await store::SMembers(actor.store(), key);
        if (!members.ok()) continue;
        for (const std::string& member : *members) {
          const auto id = ParseApprovalMember(member);
          if (id) (void)co_await approvals.Approve(run.id, *id);
        }
      }
    }
  }

  base::Task<void> Sweep(sim::Actor& actor) {
    Coordinator coordinator(actor.store(), actor.clock(), keys_, OptionsOf("sweeper"));
    Approvals approvals(actor.store(), actor.clock(), keys_, options_.mutation);
    while (!over_) {
      co_await actor.clock().Sleep(absl::Seconds(actor.rng().Between(1, 90)));
      for (const Observed& run : runs_) {
        const auto swept = co_await coordinator.Sweep(run.id);
        if (swept.ok() && *swept) Announce(run.id);
        (void)co_await approvals.PushUndelivered(run.id);
        (void)co_await approvals.DecideOverdue(run.id);
      }
      // From one that lives, for all it knows.
      if (actor.rng().Chance(0.2)) {
        (void)co_await coordinator.queue().Recover(
            kCoordinators[actor.rng().Below(kCoordinators.size())]);
      }
    }
  }

  // Sends signals again, at once and much later.
  base::Task<void> Duplicate(sim::Actor& actor) {
    const std::string queue = keys_.CompletionSignals();
    for (int i = 0; i < 12; ++i) {
      const auto waiting = co_await store::LRange(actor.store(), queue, 0, -1);
      if (waiting.ok()) seen_.insert(waiting->begin(), waiting->end());
      if (!seen_.empty()) {
        auto signal = seen_.begin();
        std::advance(signal, actor.rng().Below(seen_.size()));
        (void)co_await store::RPush(actor.store(), queue, *signal);
      }
      co_await actor.clock().Sleep(absl::Seconds(actor.rng().Between(1, 30)));
    }
  }

  base::Task<void> Patch(sim::Actor& actor) {
    for (int i = 0; i < 3 && !over_; ++i) {
      co_await actor.clock().Sleep(absl::Seconds(actor.rng().Between(0, 30)));
      const Observed& run = runs_[actor.rng().Below(runs_.size())];
      const Node& from = run.ir.nodes[actor.rng().Below(run.ir.nodes.size())];
      const std::string id = absl::StrCat("P", i, "-", actor.incarnation());
      const std::string operations =
          absl::StrCat(R"([{"op":"add","path":"/nodes/-","value":{"id":")", id,
                       R"(","type":"function"}},{"op":"add","path":"/edges/-","value":{"from":")",
                       from.id, R"(","to":")", id, R"("}}])");
      (void)co_await PatchRun(actor.store(), keys_, run.id, operations, options_.mutation);
    }
  }

  Observed* FindRun(std::string_view id) {
    for (Observed& run : runs_) {
      if (run.id == id) return &run;
    }
    return nullptr;
  }
  static bool IsApproval(const Observed& run, const Token& token) {
    const Node* const node = run.ir.Find(token.to_node);
    return node != nullptr && node->type == "hitl";
  }
  void Announce(std::string_view id) { ++FindRun(id)->announced; }

  absl::Status Look() {
    if (world_.commands() == looked_at_) return absl::OkStatus();
    looked_at_ = world_.commands();
    bool all_gone = true;
    for (Observed& run : runs_) {
      absl::Status seen = LookAt(run);
      if (!seen.ok()) {
        return absl::InternalError(absl::StrCat(run.id, " ", seen.message(), " ", Describe()));
      }
      all_gone = all_gone && run.gone;
    }
    if (all_gone && !over_) over_ = duplicator_->done() && NothingWaits();
    return absl::OkStatus();
  }

  absl::Status LookAt(Observed& run) {
    const auto text = *base::Run(store::Get(*eye_, *keys_.Counter(run.id)));
    if (run.announced > 1) return absl::InternalError("I4: announced twice");
    if (!text) return LookAtAbsent(run);
    if (run.gone) return absl::InternalError("I2: the counter came back");
    run.created = true;
    int64_t counter = 0;
    if (!absl::SimpleAtoi(*text, &counter) || counter < 0) {
      return absl::InternalError(absl::StrCat("I2: the counter is ", *text));
    }
    run.counter = counter;
    run.pending = *base::Run(store::SCard(*eye_, *keys_.PendingApprovals(run.id)));
    absl::Status status = CheckLives(run);
    if (status.ok()) status = CheckApplied(run);
    if (status.ok()) status = CheckApprovals(run);
    return status;
  }

  absl::Status LookAtAbsent(Observed& run) {
    if (!run.created) return absl::OkStatus();
    if (!run.gone && (run.counter != 0 || run.pending != 0)) {
      return absl::InternalError(absl::StrCat("I4, I5: it ended with counter ", run.counter,
                                              " and ", run.pending, " approvals pending"));
    }
    run.gone = true;
    for (const std::string& key : {*keys_.Ir(run.id), *keys_.Context(run.id),
                                   *keys_.Applied(run.id), *keys_.PendingApprovals(run.id)}) {
      if (*base::Run(store::Exists(*eye_, key))) {
        return absl::InternalError(absl::StrCat("I10: there is ", key));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckLives(const Observed& run) {
    for (const std::string& key :
         {*keys_.Ir(run.id), *keys_.Context(run.id), *keys_.Counter(run.id), *keys_.Applied(run.id),
          *keys_.PendingApprovals(run.id)}) {
      const store::Ttl ttl = *base::Run(store::TimeToLive(*eye_, key));
      if (ttl.exists() && (!ttl.expires() || ttl.remaining() > RunTtl())) {
        return absl::InternalError(absl::StrCat("I11: ", key, " lives too long"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckApplied(Observed& run) {
    const auto members = *base::Run(store::SMembers(*eye_, *keys_.Applied(run.id)));
    Members applied(members.begin(), members.end());
    if (!std::includes(applied.begin(), applied.end(), run.applied.begin(), run.applied.end())) {
      return absl::InternalError("I13: applied shrank");
    }
    const size_t fields =
        static_cast<size_t>(*base::Run(store::HLen(*eye_, *keys_.Context(run.id))));
    if (fields < run.context_fields) return absl::InternalError("I13: the context shrank");
    run.context_fields = fields;
    if (applied.size() == run.applied.size()) return absl::OkStatus();
    Members fresh;
    std::set_difference(applied.begin(), applied.end(), run.applied.begin(), run.applied.end(),
                        std::inserter(fresh, fresh.end()));
    run.applied = std::move(applied);
    absl::Status status = CheckConsumed(run, fresh);
    if (!status.ok() || !RecordsRoutes()) return status;
    return CheckSum(run);
  }

  // The mutations that emit by other means leave no route behind.
  bool RecordsRoutes() const {
    return options_.mutation != Mutation::kConsumeBeforeEmit &&
           options_.mutation != Mutation::kNoCounterGuard &&
           options_.mutation != Mutation::kFreshEmitKey &&
           options_.mutation != Mutation::kNodeConsumeKey;
  }

  // Hops by the id of the token that they follow.
  static std::map<std::string, std::vector<Hop>> RoutesOf(const Members& applied) {
    std::map<std::string, std::vector<Hop>> routes;
    for (auto it = applied.lower_bound("route:"); it != applied.end() && it->starts_with("route:");
         ++it) {
      const size_t end = it->find('|');
      if (const auto hops = ParseHops(it->substr(end + 1))) routes[it->substr(6, end - 6)] = *hops;
    }
    return routes;
  }

  absl::Status CheckSum(const Observed& run) const {
    const auto routes = RoutesOf(run.applied);
    int64_t sum = static_cast<int64_t>(Route(run.ir, Completion()).hops.size());
    for (const std::string& op : run.applied) {
      const size_t colon = op.find(':');
      const std::string kind = op.substr(0, colon);
      const std::string id = op.substr(colon + 1);
      const int64_t weight = ParseTokenMark(id).join_count;
      if (kind == "emit" && routes.contains(id)) {
        sum += static_cast<int64_t>(routes.at(id).size());
      }
      if (kind == "merge") sum += 1 - weight;
      if (kind == "consume") sum -= run.applied.contains("merge:" + id) ? 1 : weight;
      if (kind == "resume") sum += 1;
    }
    if (sum == run.counter) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat("I1, I3: the counter is ", run.counter, ", the operations make ", sum));
  }

  absl::Status CheckConsumed(Observed& run, const Members& fresh) {
    for (const std::string& op : fresh) {
      if (!op.starts_with("consume:")) continue;
      const std::string id = op.substr(8);
      ReadTokens();
      const auto node = nodes_.find({run.id, id});
      if (node != nodes_.end()) ++run.executed[node->second];
      const auto routes = RoutesOf(run.applied);
      const auto route = routes.find(id);
      if (route == routes.end()) continue;
      std::map<std::string, int64_t> ordinals;
      for (const Hop& hop : route->second) {
        const int64_t ordinal = ordinals[hop.target]++;
        if (hop.needed > 0) continue;
        TokenMark mark;
        mark.loops = hop.loops;
        const std::string child =
            ChildTokenId(TokenIdForm::kHashed, {id, hop.target, ordinal}, mark);
        if (!nodes_.contains({run.id, child})) {
          return absl::InternalError(
              absl::StrCat("I7: ", id, " is consumed before ", hop.target, " is published"));
        }
      }
    }
    return absl::OkStatus();
  }

  // The node of every token that was ever published.
  void ReadTokens() {
    for (const std::string_view type : kTypes) {
      const std::string key = keys_.TaskStream(type);
      store::StreamRange range;
      range.first = *next_[key].Next();
      const auto entries = *base::Run(store::XRange(*eye_, key, range));
      for (const store::StreamEntry& entry : entries) {
        next_[key] = entry.id;
        const auto token = ParseToken(*entry.Find("token"));
        if (token.ok()) nodes_[{token->run_id, token->id}] = token->to_node;
      }
    }
  }

  absl::Status CheckApprovals(const Observed& run) {
    if (options_.mutation == Mutation::kRemoveApprovalFirst) return absl::OkStatus();
    int64_t pending = 0;
    const auto members = *base::Run(store::SMembers(*eye_, *keys_.PendingApprovals(run.id)));
    for (const std::string& member : members) {
      const RunApproval approval = {run.id, *ParseApprovalMember(member)};
      const auto status = *base::Run(store::HGet(*eye_, *keys_.Approval(approval), "status"));
      if (status == "pending") ++pending;
    }
    if (pending == run.pending) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("I6: ", pending, " of ", run.pending, " are pending"));
  }

  // Signals, entries and what workers have in hand.
  bool NothingWaits() {
    if (*base::Run(store::LLen(*eye_, keys_.CompletionSignals())) > 0) return false;
    for (const std::string_view name : kCoordinators) {
      if (*base::Run(store::LLen(*eye_, *keys_.ProcessingSignals(name))) > 0) return false;
    }
    for (const std::string_view type : kTypes) {
      const std::string key = keys_.TaskStream(type);
      if (*base::Run(store::XLen(*eye_, key)) == 0) continue;
      const auto groups = base::Run(store::XInfoGroups(*eye_, key));
      for (const store::StreamGroupInfo& group : groups.value()) {
        if (group.pending > 0 || group.lag.value_or(0) > 0) return false;
      }
    }
    return true;
  }

  absl::Status CheckEnd() {
    if (!NothingWaits()) return absl::InternalError("L5: something is left in a queue");
    const auto left = *base::Run(store::Keys(*eye_, "*"));
    for (const std::string& key : left) {
      if (key.starts_with("wf.tasks.")) continue;
      return absl::InternalError(absl::StrCat("I10: left behind: ", key));
    }
    for (const Observed& run : runs_) {
      if (options_.patches || !IsLoopFree(run.ir)) continue;
      const std::map<std::string, int> expected = ExpectedExecutions(run.ir);
      if (run.executed == expected) continue;
      return absl::InternalError(absl::StrCat("I8, I15: executed ", Counts(run.executed),
                                              ", expected ", Counts(expected), " of ", run.text));
    }
    return absl::OkStatus();
  }

  static std::string Counts(const std::map<std::string, int>& counts) {
    return absl::StrJoin(counts, " ", absl::PairFormatter("="));
  }

  std::string Describe() const {
    std::string text;
    for (const Observed& run : runs_) {
      absl::StrAppend(&text, "\n", run.id, run.gone ? " gone" : "", " counter ", run.counter,
                      " pending ", run.pending, " applied {", absl::StrJoin(run.applied, " "),
                      "} executed ", Counts(run.executed), " ", run.text);
    }
    return text;
  }

  const WorkflowWorldOptions options_;
  const Keys keys_;
  base::Rng rng_;
  std::vector<Observed> runs_;
  std::set<std::string> seen_;                                        // Signals.
  std::map<std::pair<std::string, std::string>, std::string> nodes_;  // By run and token.
  std::map<std::string, store::StreamId> next_;
  bool over_ = false;
  const sim::Actor* duplicator_ = nullptr;  // Whose signals are to be processed, too.
  int64_t looked_at_ = -1;
  sim::World world_;
  std::unique_ptr<memory::Session> eye_;
};

}  // namespace

absl::Status RunWorkflowWorld(const WorkflowWorldOptions& options) {
  return WorkflowWorld(options).Run();
}

}  // namespace redouble::orchestrator
