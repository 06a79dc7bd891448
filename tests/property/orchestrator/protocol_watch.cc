#include "redouble/tests/property/orchestrator/protocol_watch.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/streams.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::ToAbsl;

constexpr std::string_view kKeyspace = "__keyspace@0__:";
// Runs that no actor runs. One id is a prefix of the ids of other runs; the others are a prefix of
// this one.
constexpr std::string_view kBystanders[] = {"run", "run_123"};

void Add(Violations& violations, const char* invariant, std::string what) {
  violations.push_back({invariant, std::move(what)});
}

std::set<std::string> Fresh(const std::set<std::string>& after,
                            const std::set<std::string>& before) {
  std::set<std::string> fresh;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::inserter(fresh, fresh.end()));
  return fresh;
}

bool IsComplete(const RunSnapshot& run) { return run.counter == "0" && run.pending.empty(); }

std::string NodeOfField(std::string_view field) {
  return std::string(field.substr(0, std::min(field.find(':'), field.size())));
}

// Enables keyspace notifications for all keys.
base::Task<absl::StatusOr<store::Reply>> Notify(store::Store& store) {
  store::Command notify = store::Command::Named("CONFIG");
  notify.Add("SET").Add("notify-keyspace-events").Add("KA");
  co_return co_await store.Execute(notify);
}

std::string CountsText(const std::map<std::string, int>& counts) {
  return absl::StrJoin(counts, " ", absl::PairFormatter("="));
}

}  // namespace

// Collects the notifications: the keys that changed, and the runs whose end was announced.
class ProtocolWatch::NotificationListener final : public store::PushListener {
 public:
  explicit NotificationListener(Keys keys) : keys_(keys) {}

  void OnPush(const store::Reply& push) override {
    const auto message = store::ReadMessage(push);
    if (!message) return;
    const std::string_view channel = message->channel;
    if (channel.starts_with(kKeyspace)) {
      const std::string key(channel.substr(kKeyspace.size()));
      touched_.insert(key);
      if (message->payload != "expired") written_.insert(key);
      return;
    }
    const auto event = ParseEvent(message->payload);
    const auto match = keys_.Parse(channel);
    if (!event.ok() || !match) return;
    if (event->type == EventType::kWorkflowCompleted) completed_.emplace_back(match->values[0]);
  }

  std::set<std::string> TakeTouched() { return std::exchange(touched_, {}); }
  std::set<std::string> TakeWritten() { return std::exchange(written_, {}); }
  std::vector<std::string> TakeCompleted() { return std::exchange(completed_, {}); }

 private:
  const Keys keys_;
  std::set<std::string> touched_;
  std::set<std::string> written_;
  std::vector<std::string> completed_;
};

ProtocolWatch::ProtocolWatch(memory::Engine& engine, const base::Clock& clock, WatchOptions options)
    : clock_(clock),
      options_(std::move(options)),
      keys_(options_.key_layout, options_.queue_shards),
      session_(engine.Connect()),
      notifications_(engine.Connect()),
      listener_(std::make_unique<NotificationListener>(keys_)) {
  LayOutBystanders();
  (void)base::Run(Notify(*session_));
  notifications_->Listen(listener_.get());
  const std::string_view patterns[] = {"__keyspace@0__:*", "run:*"};
  (void)base::Run(store::PSubscribe(*notifications_, patterns));
}

ProtocolWatch::~ProtocolWatch() { notifications_->Listen(nullptr); }

void ProtocolWatch::LayOutBystanders() {
  for (const std::string_view id : kBystanders) {
    const std::string applied = *keys_.Applied(id);
    const std::string context = *keys_.Context(id);
    (void)base::Run(store::Set(*session_, *keys_.Ir(id), "{}"));
    (void)base::Run(store::Set(*session_, *keys_.Counter(id), "1"));
    (void)base::Run(store::SAdd(*session_, applied, "emit:t"));
    (void)base::Run(store::HSet(*session_, context, "A:output", "cas://a"));
  }
}

void ProtocolWatch::Watch(const std::string& run_id, const std::string& failing) {
  runs_.emplace(run_id, Watched(run_id)).first->second.failing = failing;
}

void ProtocolWatch::Claim(const std::string& run_id) { ++runs_.at(run_id).claims; }

std::string ProtocolWatch::RunOf(const std::string& key) {
  std::string run = RunOfKey(keys_, key);
  if (!run.empty() || !IsApprovalKey(keys_, key)) return run;
  const auto named = base::Run(store::HGet(*session_, key, "run_id"));
  if (named.ok() && *named) approval_runs_[key] = **named;
  return approval_runs_[key];
}

void ProtocolWatch::ReadStream(const std::string& key) {
  store::StreamRange range;
  range.first = *next_[key].Next();
  const auto entries = base::Run(store::XRange(*session_, key, range)).value();
  for (const store::StreamEntry& entry : entries) {
    next_[key] = entry.id;
    const auto token = ParseToken(*entry.Find("token"));
    if (!token.ok() || !runs_.contains(token->run_id)) continue;
    Watched& run = runs_.at(token->run_id);
    run.ledger.Publish(token->id, token->to_node);
    if (token->to_node == run.failing) run.may_fail = true;
  }
}

void ProtocolWatch::ReadQueue(const std::string& key) {
  const auto waiting = base::Run(store::LRange(*session_, key, 0, -1)).value();
  signals_.insert(waiting.begin(), waiting.end());
}

// Reads a stream or a list that all runs share, in any of its shards.
void ProtocolWatch::ReadIfShared(const std::string& key) {
  const auto match = keys_.Parse(key);
  if (!match) return;
  const std::string_view family = match->family->id;
  if (family == "orchestrator.tasks" || family == "orchestrator.task_shard") ReadStream(key);
  const bool is_queue =
      family == "orchestrator.completion_signals" || family == "orchestrator.signal_shard";
  if (is_queue) ReadQueue(key);
}

Violations ProtocolWatch::Check() {
  Violations violations;
  std::map<std::string, std::set<std::string>> touched;  // Keys by run.
  for (const std::string& key : listener_->TakeTouched()) {
    ReadIfShared(key);
    const std::string run = RunOf(key);
    if (!run.empty()) touched[run].insert(key);
  }
  std::set<std::string> written;
  for (const std::string& key : listener_->TakeWritten()) {
    if (const std::string run = RunOf(key); !run.empty()) written.insert(run);
  }
  if (written.size() > 1) {
    Add(violations, "I14", absl::StrCat("one command writes to ", absl::StrJoin(written, ", ")));
  }
  for (const auto& [id, keys] : touched) {
    const auto run = runs_.find(id);
    if (run == runs_.end()) {
      Add(violations, "I14", absl::StrCat("a command touches ", absl::StrJoin(keys, ", ")));
      continue;
    }
    Violations found = CheckRun(run->second, id, keys);
    std::move(found.begin(), found.end(), std::back_inserter(violations));
  }
  for (const std::string& id : listener_->TakeCompleted()) {
    if (runs_.contains(id)) ++runs_.at(id).announcements;
  }
  for (const auto& [id, run] : runs_) {
    if (run.claims > 1 || run.announcements > 1) {
      Add(violations, "I4", absl::StrCat(id, " is announced twice"));
    }
    if ((run.claims > 0 || run.announcements > 0) && (!run.gone || run.failed)) {
      Add(violations, "I4", absl::StrCat(id, " is announced and not completed"));
    }
  }
  return violations;
}

Violations ProtocolWatch::CheckRun(Watched& run, const std::string& id,
                                   const std::set<std::string>& keys) {
  const RunSnapshot before = run.snapshot;
  for (const std::string& key : keys) ReadKey(*session_, keys_, key, run.snapshot);
  if (!run.snapshot.context.empty()) run.last_context = run.snapshot.context;
  Violations violations;
  Judge(run, before, violations);
  for (Violation& violation : violations) {
    violation.what = absl::StrCat(id, ": ", violation.what);
  }
  return violations;
}

void ProtocolWatch::Judge(Watched& run, const RunSnapshot& before, Violations& violations) {
  if (!run.snapshot.counter) {
    if (run.created && !run.gone) JudgeEnd(run, before, violations);
    if (run.gone) JudgeGone(run, violations);
    return;
  }
  if (run.gone) {
    Add(violations, "I2", "the counter came back");
    return;
  }
  if (run.snapshot.ir != before.ir && !run.snapshot.ir.empty()) {
    run.ledger.AddGraph(run.snapshot.ir);
  }
  if (!run.created && run.ledger.has_graph()) {
    run.created = true;
    run.ledger.Begin();
    (void)run.ledger.Apply(run.snapshot.applied, run.snapshot, violations);
  } else {
    JudgeCounter(run, before, violations);
    JudgePatch(run, before, violations);
    JudgeGrowth(run, before, violations);
  }
  JudgeApprovals(run, before, violations);
  JudgeExecutions(run, violations);
  JudgeLives(run, violations);
}

void ProtocolWatch::JudgeEnd(Watched& run, const RunSnapshot& before, Violations& violations) {
  run.gone = true;
  run.failed = run.may_fail && !IsComplete(before);
  if (run.failed) return;
  if (!before.pending.empty()) {
    Add(violations, "I5",
        absl::StrCat("it ends with approvals pending: ", absl::StrJoin(before.pending, ", ")));
  }
  if (!IsComplete(before)) {
    Add(violations, "I4",
        absl::StrCat("it ends with counter ", before.counter.value_or("none"), " and ",
                     before.pending.size(), " approvals pending"));
  }
}

void ProtocolWatch::JudgeGone(const Watched& run, Violations& violations) const {
  for (const auto& [key, deadline] : run.snapshot.deadlines) {
    // A failed run leaves its approvals, which may be decided later.
    if (run.failed && IsApprovalKey(keys_, key)) continue;
    Add(violations, "I10", absl::StrCat("there is ", key));
  }
  for (const auto& [approval, seen] : run.snapshot.approvals) {
    if (seen.status == "pending") Add(violations, "I6", absl::StrCat(approval, " is pending"));
  }
}

void ProtocolWatch::JudgeCounter(Watched& run, const RunSnapshot& before, Violations& violations) {
  const RunSnapshot& now = run.snapshot;
  const std::set<std::string> fresh = Fresh(now.applied, before.applied);
  const int64_t delta = run.ledger.Apply(fresh, now, violations);
  const std::optional<int64_t> count = now.count();
  if (!count || *count < 0) {
    Add(violations, "I2", absl::StrCat("the counter is ", *now.counter));
    return;
  }
  if (IsComplete(before) && !IsComplete(now)) {
    Add(violations, "I4",
        absl::StrCat("it was complete, and has counter ", *count, " and ", now.pending.size(),
                     " approvals pending"));
  }
  const int64_t change = *count - before.count().value_or(0);
  if (change != delta) {
    Add(violations, "I3",
        absl::StrCat("the counter changes by ", change, ", the operations make ", delta, ": ",
                     absl::StrJoin(fresh, " ")));
  }
  int64_t parked = 0;
  for (const auto& [join, predecessors] : now.parked) {
    parked += static_cast<int64_t>(predecessors.size());
  }
  const int64_t live = run.ledger.live();
  if (parked != run.ledger.parked() || *count != live + parked) {
    Add(violations, "I1",
        absl::StrCat("the counter is ", *count, ", live tokens ", live, ", parked ", parked, " of ",
                     run.ledger.parked()));
  }
}

void ProtocolWatch::JudgeApprovals(const Watched& run, const RunSnapshot& before,
                                   Violations& violations) const {
  std::set<std::string> pending;
  for (const auto& [id, seen] : run.snapshot.approvals) {
    const std::string member = ApprovalMember(id);
    if (seen.status == "pending") pending.insert(member);
    const bool resumed = run.snapshot.applied.contains("resume:" + member);
    const bool decided = seen.status != "pending" && seen.status != "cancelled";
    if (resumed != decided) {
      Add(violations, "I6",
          absl::StrCat(id, " is ", seen.status, resumed ? " and" : " and not", " resumed"));
    }
    const auto earlier = before.approvals.find(id);
    if (earlier == before.approvals.end() || earlier->second.status == seen.status) continue;
    if (earlier->second.status == "pending") continue;
    Add(violations, "I6",
        absl::StrCat(id, " was ", earlier->second.status, " and is ", seen.status));
  }
  if (pending == run.snapshot.pending) return;
  Add(violations, "I6",
      absl::StrCat("pending are {", absl::StrJoin(pending, ", "), "}, the set says {",
                   absl::StrJoin(run.snapshot.pending, ", "), "}"));
}

void ProtocolWatch::JudgeExecutions(const Watched& run, Violations& violations) const {
  if (!run.ledger.has_graph()) return;
  const RoutingModel& graph = run.ledger.last_graph();
  const int64_t most = graph.IsLoopFree() ? 1 : graph.MostExecutions();
  for (const auto& [node, count] : run.ledger.executed()) {
    if (count > most) {
      Add(violations, "I8", absl::StrCat(node, " is executed ", count, " times, not ", most));
    }
  }
}

void ProtocolWatch::JudgeLives(const Watched& run, Violations& violations) const {
  const absl::Duration approval = std::max(RunTtl(), options_.approval_timeout + absl::Hours(1));
  // A run's TTL is extended if it would expire before its approval.
  const absl::Duration longest = std::max(RunTtl(), options_.approval_timeout + absl::Hours(24));
  const int64_t now = clock_.NowMicros() / 1000;
  for (const auto& [key, deadline] : run.snapshot.deadlines) {
    const absl::Duration most = IsApprovalKey(keys_, key) ? approval : longest;
    if (deadline < 0) {
      Add(violations, "I11", absl::StrCat(key, " lives for ever"));
    } else if (deadline > now + absl::ToInt64Milliseconds(most)) {
      Add(violations, "I11", absl::StrCat(key, " lives too long"));
    }
  }
}

void ProtocolWatch::JudgePatch(const Watched& run, const RunSnapshot& before,
                               Violations& violations) const {
  const RunSnapshot& now = run.snapshot;
  if (now.ir == before.ir) return;
  RunSnapshot expected = before;
  expected.ir = now.ir;
  if (expected.deadlines != now.deadlines) {
    Add(violations, "I12", "the graph's change changes a time to live");
  }
  const bool same = expected.counter == now.counter && expected.applied == now.applied &&
                    expected.context == now.context && expected.pending == now.pending &&
                    expected.approvals == now.approvals && expected.parked == now.parked;
  if (!same || now.ir.empty()) Add(violations, "I12", "more than the graph changes");
}

void ProtocolWatch::JudgeGrowth(const Watched& run, const RunSnapshot& before,
                                Violations& violations) const {
  const RunSnapshot& now = run.snapshot;
  if (!std::includes(now.applied.begin(), now.applied.end(), before.applied.begin(),
                     before.applied.end())) {
    Add(violations, "I13", "applied shrinks");
  }
  std::set<std::string> changed;
  for (const auto& [field, value] : before.context) {
    const auto found = now.context.find(field);
    if (found == now.context.end()) Add(violations, "I13", absl::StrCat(field, " is lost"));
    if (found != now.context.end() && found->second != value) changed.insert(NodeOfField(field));
  }
  // The outputs of absorbers are written with that of the node before them.
  std::erase_if(changed, [&](const std::string& node) {
    const ModelNode* const found = run.ledger.last_graph().Find(node);
    return found != nullptr && found->type == "task";
  });
  if (changed.size() > 1) {
    Add(violations, "I13",
        absl::StrCat("one command changes the outputs of ", absl::StrJoin(changed, ", ")));
  }
}

bool ProtocolWatch::AllGone() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const auto& run) { return run.second.gone; });
}

bool ProtocolWatch::NothingWaits() {
  for (int64_t shard = 0; shard < keys_.queue_shards(); ++shard) {
    std::vector<std::string> lists = {keys_.CompletionSignals(shard)};
    for (const std::string& name : options_.coordinators) {
      lists.push_back(*keys_.ProcessingSignals(name, shard));
    }
    for (const std::string& list : lists) {
      if (base::Run(store::LLen(*session_, list)).value() > 0) return false;
    }
  }
  for (const auto& [key, last] : next_) {
    const auto groups = base::Run(store::XInfoGroups(*session_, key));
    if (!groups.ok() || groups->empty()) return false;
    for (const store::StreamGroupInfo& group : *groups) {
      if (group.pending > 0 || group.lag.value_or(0) > 0) return false;
    }
  }
  return true;
}

RunSummary ProtocolWatch::SummaryOf(const std::string& run_id) const {
  const Watched& run = runs_.at(run_id);
  RunSummary summary;
  summary.ended = run.gone;
  summary.failed = run.failed;
  if (run.failed) return summary;
  summary.executed = run.ledger.executed();
  for (const auto& [field, value] : run.last_context) {
    constexpr std::string_view kOutput = ":output";
    if (!absl::EndsWith(field, ToAbsl(kOutput))) continue;
    // An approval's output contains the time of the decision, and absorbers pass it on.
    const ModelNode* const node = run.ledger.last_graph().Find(NodeOfField(field));
    const bool is_timed = node != nullptr && (node->type == "hitl" || node->type == "task");
    summary.outputs[NodeOfField(field)] = is_timed ? "" : value;
  }
  return summary;
}

void ProtocolWatch::JudgeSignals(Violations& violations) const {
  for (const std::string& text : signals_) {
    const auto signal = ParseSignal(text);
    if (!signal.ok() || !runs_.contains(signal->run_id)) continue;
    const Watched& run = runs_.at(signal->run_id);
    if (run.gone || run.ledger.WasConsumed(signal->job_id)) continue;
    Add(violations, "L1", absl::StrCat("not processed: ", text));
  }
}

Violations ProtocolWatch::CheckAtEnd() {
  Violations violations;
  JudgeSignals(violations);
  for (const auto& [id, run] : runs_) {
    if (run.created && !run.gone) {
      Add(violations, "L3",
          absl::StrCat(id, " does not end: counter ", *run.snapshot.counter, ", ",
                       run.snapshot.pending.size(), " approvals pending, {",
                       absl::StrJoin(run.snapshot.applied, " "), "}"));
    }
    if (run.failed) continue;
    for (const std::string& token : run.ledger.Unconsumed()) {
      Add(violations, "L2", absl::StrCat(id, ": not consumed: ", token));
    }
    for (const std::string& token : run.ledger.UnconsumedFirings()) {
      Add(violations, "L4", absl::StrCat(id, ": not executed: ", token));
    }
    for (const auto& [join, predecessors] : run.snapshot.parked) {
      Add(violations, "L6", absl::StrCat(id, ": ", join, " still waits"));
    }
    if (!run.gone || !run.ledger.last_graph().IsLoopFree()) continue;
    for (const std::string& join : run.ledger.JoinsNeverExecuted()) {
      Add(violations, "I8", absl::StrCat(id, ": ", join, " is never executed"));
    }
  }
  if (!NothingWaits()) Add(violations, "L5", "something is left in a queue");
  return violations;
}

Violations CompareRuns(const RunSummary& disturbed, const RunSummary& undisturbed) {
  Violations violations;
  if (disturbed.ended != undisturbed.ended || disturbed.failed != undisturbed.failed) {
    Add(violations, "I15", "it ends otherwise when disturbed");
  }
  if (disturbed.executed != undisturbed.executed) {
    Add(violations, "I15",
        absl::StrCat("executed ", CountsText(disturbed.executed), ", undisturbed ",
                     CountsText(undisturbed.executed)));
  }
  if (disturbed.outputs != undisturbed.outputs) {
    Add(violations, "I15", "its context is another one when disturbed");
  }
  return violations;
}

}  // namespace redouble::inline v0_1::orchestrator
