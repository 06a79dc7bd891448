#include "redouble/core/orchestrator/keys.h"

#include <array>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/keyspace/key_pattern.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::ToAbsl;
using store::KeyFamily;
using store::KeyLayout;
using store::KeyPattern;
using store::KeyType;

constexpr std::string_view kSystem = "orchestrator";
constexpr std::string_view kDocumented = "docs/systems/orchestrator.md 1";
constexpr std::string_view kAdded = "docs/systems/orchestrator.md 1, D2";
constexpr std::string_view kRunTtlRule = "set at the first write of the run, kept by later ones";
constexpr std::string_view kNoTtl = "none: shared by all runs";
constexpr absl::Duration kRunTtl = absl::Hours(24);
constexpr absl::Duration kCachedResultTtl = absl::Hours(1);
constexpr absl::Duration kServiceLeaseTtl = absl::Seconds(90);

constexpr std::array<std::string_view, 10> kTaskTypes = {
    "agent",    "aggregate", "classifier", kDefaultTaskType, "filter",
    "function", "hitl",      "http",       "search",         "transform"};

// The indexes of the rows below.
enum Family : size_t {
  kIr,
  kContext,
  kCounter,
  kApplied,
  kTasks,
  kCompletionSignals,
  kPendingApprovals,
  kApproval,
  kEvents,
  kCache,
  kPendingTokens,
  kLoop,
  kProcessing,
  kServiceLease,
  kTaskShard,
  kSignalShard,
  kProcessingShard,
  kShardEvents,
  kFamilyCount,
};

constexpr std::array<store::LayoutRow, kFamilyCount> kRows = {{
    {{.id = "orchestrator.ir",
      .system = kSystem,
      .pattern = "ir:{run_id:id}",
      .type = KeyType::kString,
      .ttl_rule = kRunTtlRule,
      .ttl = kRunTtl,
      .lifecycle = "created at the start of the run, replaced by patches; deleted by cleanup",
      .purpose = "the compiled workflow as JSON, read on every completion signal",
      .source = kDocumented},
     "ir:{{{run_id:id}}}"},
    {{.id = "orchestrator.context",
      .system = kSystem,
      .pattern = "context:{run_id:id}",
      .type = KeyType::kHash,
      .ttl_rule = kRunTtlRule,
      .ttl = kRunTtl,
      .lifecycle = "created by the first output of a node; deleted by cleanup",
      .purpose = "references to the outputs of completed nodes, such as `<node>:output`",
      .source = kDocumented},
     "context:{{{run_id:id}}}"},
    {{.id = "orchestrator.counter",
      .system = kSystem,
      .pattern = "counter:{run_id:id}",
      .type = KeyType::kString,
      .ttl_rule = kRunTtlRule,
      .ttl = kRunTtl,
      .lifecycle = "created at the start of the run; deleted by cleanup",
      .purpose = "the number of tokens in flight; 0 without pending approvals: completed",
      .source = kDocumented},
     "counter:{{{run_id:id}}}"},
    {{.id = "orchestrator.applied",
      .system = kSystem,
      .pattern = "applied:{run_id:id}",
      .type = KeyType::kSet,
      .ttl_rule = "the guarded scripts set the TTL of the counter; apply_delta sets no TTL",
      .ttl = kRunTtl,
      .lifecycle = "created by the first change of the counter; deleted by cleanup",
      .purpose = "the operations that were applied to the counter, to detect duplicates",
      .source = kDocumented},
     "applied:{{{run_id:id}}}"},
    {{.id = "orchestrator.tasks",
      .system = kSystem,
      .pattern = "wf.tasks.{type}",
      .type = KeyType::kStream,
      .ttl_rule = kNoTtl,
      .lifecycle = "created by the first token or consumer group; persistent",
      .purpose = "tokens for the workers of one type",
      .source = kDocumented}},
    {{.id = "orchestrator.completion_signals",
      .system = kSystem,
      .pattern = "completion_signals",
      .type = KeyType::kList,
      .ttl_rule = kNoTtl,
      .lifecycle = "persistent; gone while empty",
      .purpose = "the completion signals of workers, first in, first out",
      .source = kDocumented},
     "{{completion_signals}}"},
    {{.id = "orchestrator.pending_approvals",
      .system = kSystem,
      .pattern = "pending_approvals:{run_id:id}",
      .type = KeyType::kSet,
      .ttl_rule = kRunTtlRule,
      .ttl = kRunTtl,
      .lifecycle = "created by a pause; gone with its last member; deleted by cleanup",
      .purpose = "the approvals that the run waits for, which keep it from being completed",
      .source = kDocumented},
     "pending_approvals:{{{run_id:id}}}"},
    {{.id = "orchestrator.approval",
      .system = kSystem,
      .pattern = "approval:{approval_id:id}",
      .type = KeyType::kHash,
      .ttl_rule = "24 hours or an hour beyond timeout_at, whichever is later",
      .lifecycle = "created by a pause; deleted after the run has completed",
      .purpose = "the approver, the subject, the deadline and the decision of one approval",
      .source = kDocumented},
     "approval:{{{run_id:id}}}:{approval_id:id}"},
    {{.id = "orchestrator.events",
      .system = kSystem,
      .pattern = "run:{run_id:id}",
      .type = KeyType::kNone,
      .ttl_rule = "none: a Pub/Sub channel",
      .lifecycle = "exists while a client subscribes",
      .purpose = "events of one run for user interfaces; `run:*` for all runs",
      .source = kDocumented}},
    {{.id = "orchestrator.cache",
      .system = kSystem,
      .pattern = "cache:{scope}:{key}",
      .type = KeyType::kString,
      .ttl_rule = "set by every write",
      .ttl = kCachedResultTtl,
      .lifecycle = "created by a worker; expires or is invalidated",
      .purpose = "the reference to the output of a node with deterministic results",
      .source = kDocumented}},
    {{.id = "orchestrator.pending_tokens",
      .system = kSystem,
      .pattern = "pending_tokens:{run_id:id}:{node_id:id}",
      .type = KeyType::kSet,
      .ttl_rule = kRunTtlRule,
      .ttl = kRunTtl,
      .lifecycle = "created by the first arrival at a join; deleted when it fires and by cleanup",
      .purpose = "the predecessors whose tokens are parked at a join",
      .source = kAdded},
     "pending_tokens:{{{run_id:id}}}:{node_id:id}"},
    {{.id = "orchestrator.loop",
      .system = kSystem,
      .pattern = "loop:{run_id:id}:{node_id:id}",
      .type = KeyType::kHash,
      .ttl_rule = kRunTtlRule,
      .ttl = kRunTtl,
      .lifecycle = "created by the first iteration; deleted when the loop ends and by cleanup",
      .purpose = "the iteration a loop is in, field current_iteration",
      .source = kAdded},
     "loop:{{{run_id:id}}}:{node_id:id}"},
    {{.id = "orchestrator.processing",
      .system = kSystem,
      .pattern = "completion_signals:processing:{consumer:id}",
      .type = KeyType::kList,
      .ttl_rule = kNoTtl,
      .lifecycle = "created when a coordinator takes a signal; gone while it holds no signal",
      .purpose = "signals that a coordinator has taken and not committed, for recovery",
      .source = kAdded},
     "{{completion_signals}}:processing:{consumer:id}"},
    {{.id = "orchestrator.service_lease",
      .system = kSystem,
      .pattern = "wf.service_lease",
      .type = KeyType::kString,
      .ttl_rule = "set by each round of the service",
      .ttl = kServiceLeaseTtl,
      .lifecycle = "created by the first round; expires when no service renews it",
      .purpose = "the service that acts for all runs",
      .source = kAdded}},
    {{.id = "orchestrator.task_shard",
      .system = kSystem,
      .pattern = "wf.tasks:{{{place:int}}}:{type}",
      .type = KeyType::kStream,
      .ttl_rule = kNoTtl,
      .lifecycle = "created by the first token or consumer group; persistent",
      .purpose = "tokens for the workers of one type, of the runs of one shard after the first",
      .source = kAdded}},
    {{.id = "orchestrator.signal_shard",
      .system = kSystem,
      .pattern = "completion_signals:{{{place:int}}}",
      .type = KeyType::kList,
      .ttl_rule = kNoTtl,
      .lifecycle = "persistent; gone while empty",
      .purpose = "the completion signals of the runs of one shard after the first",
      .source = kAdded}},
    {{.id = "orchestrator.processing_shard",
      .system = kSystem,
      .pattern = "completion_signals:{{{place:int}}}:processing:{consumer:id}",
      .type = KeyType::kList,
      .ttl_rule = kNoTtl,
      .lifecycle = "created when a coordinator takes a signal; gone while it holds no signal",
      .purpose = "signals that a coordinator has taken from a shard and not committed",
      .source = kAdded}},
    {{.id = "orchestrator.shard_events",
      .system = kSystem,
      .pattern = "run:{{{run_id:id}}}",
      .type = KeyType::kNone,
      .ttl_rule = "none: a shard channel of Pub/Sub",
      .lifecycle = "an option; exists while a client subscribes",
      .purpose = "as `run:{run_id}`, for SPUBLISH",
      .source = kAdded}},
}};

const store::LayoutTable& Table() {
  static const store::LayoutTable& table = *new store::LayoutTable(kRows);
  return table;
}

// The only placeholder that a key of the documented layout omits, in the approval family.
constexpr std::string_view kRunId = "run_id";
constexpr std::string_view kPlace = "place";

// How many slots a shard is after the first one.
int64_t Distance(int64_t shard, int64_t shards) { return shard * base::kClusterSlots / shards; }

// The number in the keys of a shard after the first one, whose key is `first`.
int64_t PlaceOf(std::string_view first, int64_t shard, int64_t shards) {
  const int64_t slot = base::KeySlot(first) + Distance(shard, shards);
  return base::NumberInSlot(static_cast<int>(slot % base::kClusterSlots));
}

}  // namespace

std::span<const KeyFamily> KeyFamilies(KeyLayout layout) { return Table().families(layout); }

absl::Duration RunTtl() { return kRunTtl; }
absl::Duration CachedResultTtl() { return kCachedResultTtl; }
absl::Duration ServiceLeaseTtl() { return kServiceLeaseTtl; }
std::span<const std::string_view> TaskTypes() { return kTaskTypes; }

absl::StatusOr<std::string> Keys::Ir(std::string_view run_id) const {
  return Table().pattern(layout_, kIr).Build(run_id);
}

absl::StatusOr<std::string> Keys::Context(std::string_view run_id) const {
  return Table().pattern(layout_, kContext).Build(run_id);
}

absl::StatusOr<std::string> Keys::Counter(std::string_view run_id) const {
  return Table().pattern(layout_, kCounter).Build(run_id);
}

absl::StatusOr<std::string> Keys::Applied(std::string_view run_id) const {
  return Table().pattern(layout_, kApplied).Build(run_id);
}

int64_t Keys::ShardOf(std::string_view run_id) const { return base::Crc16(run_id) % queue_shards_; }

absl::StatusOr<std::string> Keys::TaskStream(std::string_view type, int64_t shard) const {
  REDOUBLE_ASSIGN_OR_RETURN(std::string first, Table().pattern(layout_, kTasks).Build(type));
  if (shard == 0) return first;
  return Table().pattern(layout_, kTaskShard).Build(PlaceOf(first, shard, queue_shards_), type);
}

std::string Keys::TaskStreamPattern() const {
  return queue_shards_ == 1 ? *TaskStream("*") : "wf.tasks[.:]*";
}

std::string Keys::CompletionSignals(int64_t shard) const {
  std::string first = *Table().pattern(layout_, kCompletionSignals).Build();
  if (shard == 0) return first;
  return *Table().pattern(layout_, kSignalShard).Build(PlaceOf(first, shard, queue_shards_));
}

absl::StatusOr<std::string> Keys::PendingApprovals(std::string_view run_id) const {
  return Table().pattern(layout_, kPendingApprovals).Build(run_id);
}

absl::StatusOr<std::string> Keys::Approval(RunApproval approval) const {
  const KeyPattern& tagged = Table().pattern(KeyLayout::kCluster, kApproval);
  if (layout_ == KeyLayout::kCluster) return tagged.Build(approval.run_id, approval.approval_id);
  REDOUBLE_RETURN_IF_ERROR(tagged.Check(*tagged.IndexOf(kRunId), approval.run_id));
  return Table().pattern(layout_, kApproval).Build(approval.approval_id);
}

absl::StatusOr<std::string> Keys::EventChannel(std::string_view run_id) const {
  return Table().pattern(layout_, kEvents).Build(run_id);
}

absl::StatusOr<std::string> Keys::EventShardChannel(std::string_view run_id) const {
  return Table().pattern(layout_, kShardEvents).Build(run_id);
}

absl::StatusOr<std::string> Keys::CachedResult(CacheEntry entry) const {
  return Table().pattern(layout_, kCache).Build(entry.scope, entry.key);
}

absl::StatusOr<std::string> Keys::PendingTokens(RunNode join) const {
  return Table().pattern(layout_, kPendingTokens).Build(join.run_id, join.node_id);
}

absl::StatusOr<std::string> Keys::Loop(RunNode loop) const {
  return Table().pattern(layout_, kLoop).Build(loop.run_id, loop.node_id);
}

absl::StatusOr<std::string> Keys::ProcessingSignals(std::string_view consumer,
                                                    int64_t shard) const {
  if (shard == 0) return Table().pattern(layout_, kProcessing).Build(consumer);
  const int64_t place = PlaceOf(CompletionSignals(), shard, queue_shards_);
  return Table().pattern(layout_, kProcessingShard).Build(place, consumer);
}

std::string Keys::ProcessingPattern() const {
  if (queue_shards_ == 1) return absl::StrCat(CompletionSignals(), ":processing:*");
  const bool tagged = layout_ == KeyLayout::kCluster;
  return tagged ? "[{c]*ompletion_signals*:processing:*" : "completion_signals*:processing:*";
}

std::string Keys::ServiceLease() const { return *Table().pattern(layout_, kServiceLease).Build(); }

std::optional<store::KeyMatch> Keys::Parse(std::string_view key) const {
  return Table().Parse(layout_, key);
}

std::optional<int64_t> Keys::ShardOfQueue(const store::KeyMatch& match) const {
  const std::optional<size_t> index = match.pattern->IndexOf(kPlace);
  if (!index) return 0;
  const bool is_stream = match.family->id == "orchestrator.task_shard";
  const std::string first = is_stream ? *TaskStream(match.values.back()) : CompletionSignals();
  const int64_t slot = base::KeySlot(match.values[*index]);
  const int64_t distance =
      (slot - base::KeySlot(first) + base::kClusterSlots) % base::kClusterSlots;
  const int64_t shard = (distance * queue_shards_ + base::kClusterSlots - 1) / base::kClusterSlots;
  if (shard == 0 || Distance(shard, queue_shards_) != distance) return std::nullopt;
  return shard;
}

bool IsProcessingList(const store::KeyMatch& match) {
  return match.family->id == "orchestrator.processing" ||
         match.family->id == "orchestrator.processing_shard";
}

std::string ApprovalMember(std::string_view approval_id) {
  return absl::StrCat("approval_", ToAbsl(approval_id));
}

std::optional<std::string_view> ParseApprovalMember(std::string_view member) {
  constexpr std::string_view kPrefix = "approval_";
  if (!member.starts_with(kPrefix) || member.size() == kPrefix.size()) return std::nullopt;
  return member.substr(kPrefix.size());
}

std::string ConsumeOp(std::string_view token_id) {
  return absl::StrCat("consume:", ToAbsl(token_id));
}

std::string EmitOp(std::string_view token_id) { return absl::StrCat("emit:", ToAbsl(token_id)); }

std::string ResumeOp(std::string_view approval_id) {
  return absl::StrCat("resume:", ApprovalMember(approval_id));
}

std::string ArriveOp(JoinToken arrival) {
  return absl::StrCat("arrive:", ToAbsl(arrival.join), ":", ToAbsl(arrival.token_id));
}

std::string FireOp(JoinToken arrival) {
  return absl::StrCat("fire:", ToAbsl(arrival.join), ":", ToAbsl(arrival.token_id));
}

std::string DropOp(JoinToken arrival) {
  return absl::StrCat("drop:", ToAbsl(arrival.join), ":", ToAbsl(arrival.token_id));
}

std::string RouteOp(std::string_view token_id) {
  return absl::StrCat("route:", ToAbsl(token_id), "|");
}

std::string QuiesceOp(std::string_view join) {
  return absl::StrCat("fire:", ToAbsl(join), ":quiesce");
}

}  // namespace redouble::inline v0_1::orchestrator
