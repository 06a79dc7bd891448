#include "core/orchestrator/approvals.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/utc.h"
#include "core/orchestrator/ir.h"
#include "core/orchestrator/json_object.h"
#include "core/orchestrator/run_events.h"
#include "core/orchestrator/run_scripts.h"
#include "core/orchestrator/signal_queue.h"
#include "core/orchestrator/token_ids.h"
#include "core/store/hashes.h"
#include "core/store/keys.h"
#include "core/store/sets.h"
#include "core/store/strings.h"

namespace redouble::orchestrator {
namespace {

// How long an approval outlives its own time-out, and its run's keys do.
constexpr absl::Duration kApprovalMargin = absl::Hours(1);
constexpr absl::Duration kRunMargin = absl::Hours(24);

}  // namespace

Approvals::Approvals(store::Store& store, base::Clock& clock, Keys keys, Mutation mutation)
    : store_(store), clock_(clock), keys_(keys), mutation_(mutation) {}

base::Task<absl::StatusOr<ApprovalRequested>> Approvals::Request(const Token& token,
                                                                 ApprovalTerms terms) {
  ApprovalRequested requested;
  requested.approval_id =
      terms.approval_id.empty() ? ApprovalIdOf(token.id) : std::move(terms.approval_id);
  // A join's token stands for several; the pause consumes one, so the others go first.
  const int64_t weight = ParseTokenMark(token.id).join_count;
  if (weight > 1) {
    const std::string op = absl::StrCat("merge:", token.id);
    const DeltaRequest merge = {token.run_id, op, 1 - weight};
    const auto merged = co_await ApplyDeltaGuarded(store_, keys_, merge);
    if (!merged.ok()) co_return merged.status();
    requested.outcome = merged->outcome;
    if (merged->outcome == CounterChange::Outcome::kRunGone ||
        merged->outcome == CounterChange::Outcome::kRefused) {
      co_return requested;
    }
  }
  PauseRequest pause;
  pause.token_id = token.id;
  pause.approval_id = requested.approval_id;
  pause.approval.run_id = token.run_id;
  pause.approval.node_id = token.to_node;
  pause.approval.created_at = clock_.Now();
  if (terms.timeout) pause.approval.timeout_at = clock_.Now() + *terms.timeout;
  pause.approval.approver = terms.approver;
  pause.approval.payload_cas_ref = token.payload_ref;
  const auto paused = co_await PauseForApproval(store_, keys_, pause);
  if (!paused.ok()) co_return paused.status();
  requested.outcome = paused->outcome;
  if (paused->outcome != CounterChange::Outcome::kApplied &&
      paused->outcome != CounterChange::Outcome::kDuplicate) {
    co_return requested;
  }
  const RunApproval approval = {token.run_id, requested.approval_id};
  absl::Status prolonged = co_await Prolong(approval, terms.timeout);
  if (!prolonged.ok()) co_return prolonged;
  if (paused->outcome == CounterChange::Outcome::kDuplicate) co_return requested;
  Event event;
  event.type = EventType::kApprovalRequired;
  event.run_id = token.run_id;
  event.node_id = token.to_node;
  event.timestamp = clock_.Now();
  const auto announced = co_await PublishRunEvent(store_, std::move(event));
  if (!announced.ok()) co_return announced.status();
  co_return requested;
}

// The approval lives for 24 hours or an hour beyond its time-out, whichever is longer; the run's
// keys, when they would expire before that, for 24 hours beyond it.
base::Task<absl::Status> Approvals::Prolong(RunApproval approval,
                                            std::optional<absl::Duration> timeout) {
  const absl::Duration needed = timeout.value_or(absl::ZeroDuration()) + kApprovalMargin;
  const std::string approval_key = *keys_.Approval(approval);
  const absl::StatusOr<bool> set = co_await store::ExpireIn(
      store_, approval_key, std::max(RunTtl(), needed), store::ExpireCondition::kIfLater);
  if (!set.ok()) co_return set.status();
  if (!timeout) co_return absl::OkStatus();
  const std::string counter_key = *keys_.Counter(approval.run_id);
  const absl::StatusOr<store::Ttl> left = co_await store::TimeToLive(store_, counter_key);
  if (!left.ok()) co_return left.status();
  if (!left->expires() || left->remaining() >= needed) co_return absl::OkStatus();
  const std::string ir_key = *keys_.Ir(approval.run_id);
  const auto text = co_await store::Get(store_, ir_key);
  if (!text.ok()) co_return text.status();
  const absl::StatusOr<Ir> ir = ParseIr(text->value_or(""));
  std::vector<std::string_view> nodes;
  if (ir.ok()) nodes = ir->NodeIds();
  const ExtendRequest request = {approval.run_id, nodes, *timeout + kRunMargin};
  const auto extended = co_await ExtendRun(store_, keys_, request);
  co_return extended.status();
}

base::Task<absl::StatusOr<DecisionOutcome>> Approvals::Approve(std::string_view run_id,
                                                               std::string_view approval_id,
                                                               DecisionDetails details) {
  const RunApproval approval = {run_id, approval_id};
  co_return co_await Decide(approval, ApprovalStatus::kApproved, std::move(details));
}

base::Task<absl::StatusOr<DecisionOutcome>> Approvals::Reject(std::string_view run_id,
                                                              std::string_view approval_id,
                                                              DecisionDetails details) {
  const RunApproval approval = {run_id, approval_id};
  co_return co_await Decide(approval, ApprovalStatus::kRejected, std::move(details));
}

base::Task<absl::StatusOr<Decision>> Approvals::Claim(const DecisionRequest& request) {
  if (mutation_ != Mutation::kRemoveApprovalFirst) {
    co_return co_await DecideApproval(store_, keys_, request);
  }
  // The seed's own order, which lets the run look complete for a moment.
  const std::string pending = *keys_.PendingApprovals(request.run_id);
  const std::string member = ApprovalMember(request.approval_id);
  const auto removed = co_await store::SRem(store_, pending, member);
  if (!removed.ok()) co_return removed.status();
  if (!*removed) co_return Decision{Decision::Outcome::kNotPending, 0};
  const std::string key = *keys_.Approval({request.run_id, request.approval_id});
  const std::string status(ApprovalStatusName(request.status));
  const auto set = co_await store::HSet(store_, key, "status", status);
  if (!set.ok()) co_return set.status();
  const std::string op = ResumeOp(request.approval_id);
  const DeltaRequest resume = {request.run_id, op, 1};
  const auto resumed = co_await ApplyDeltaGuarded(store_, keys_, resume);
  if (!resumed.ok()) co_return resumed.status();
  co_return Decision{Decision::Outcome::kDecided, resumed->counter};
}

base::Task<absl::StatusOr<DecisionOutcome>> Approvals::Decide(RunApproval approval,
                                                              ApprovalStatus status,
                                                              DecisionDetails details) {
  const absl::Time now = clock_.Now();
  const DecisionRequest request = {approval.run_id, approval.approval_id, status, now};
  const absl::StatusOr<Decision> decision = co_await Claim(request);
  if (!decision.ok()) co_return decision.status();
  switch (decision->outcome) {
    case Decision::Outcome::kNotPending:
      co_return DecisionOutcome::kNotPending;
    case Decision::Outcome::kRunGone: {
      const auto cancelled = co_await CancelApproval(store_, keys_, approval, now);
      if (!cancelled.ok()) co_return cancelled.status();
      co_return DecisionOutcome::kRunGone;
    }
    case Decision::Outcome::kDecided:
      break;
  }
  const absl::StatusOr<std::optional<Approval>> decided =
      co_await Find(approval.run_id, approval.approval_id);
  if (!decided.ok()) co_return decided.status();
  // Gone already: the run ended, and with it whatever the signal could move on.
  if (!*decided) co_return DecisionOutcome::kDecided;
  absl::Status pushed = co_await Signal(approval, **decided, details);
  if (!pushed.ok()) co_return pushed;
  co_return DecisionOutcome::kDecided;
}

// The signal by which the coordinators learn of a decision.
base::Task<absl::Status> Approvals::Signal(RunApproval approval, const Approval& decided,
                                           const DecisionDetails& details) {
  Json result = {{"approved", decided.status == ApprovalStatus::kApproved},
                 {"decision", ApprovalStatusName(decided.status)}};
  if (!details.comment.empty()) result["comment"] = details.comment;
  if (!details.decided_by.empty()) result["decided_by"] = details.decided_by;
  if (decided.decided_at) result["decided_at"] = base::FormatRfc3339(*decided.decided_at);
  absl::StatusOr<std::string> text = JsonText(result);
  if (!text.ok()) co_return text.status();
  CompletionSignal signal;
  signal.job_id = ApprovalMember(approval.approval_id);
  signal.run_id = std::string(approval.run_id);
  signal.node_id = decided.node_id;
  signal.result_data_json = *std::move(text);
  co_return co_await PushSignal(store_, keys_, std::move(signal));
}

base::Task<absl::StatusOr<int64_t>> Approvals::DecideOverdue(std::string_view run_id) {
  const absl::StatusOr<std::string> pending_key = keys_.PendingApprovals(run_id);
  if (!pending_key.ok()) co_return pending_key.status();
  std::vector<std::string_view> all = {""};
  const auto members = co_await SortedMembers(store_, *pending_key, std::move(all));
  if (!members.ok()) co_return members.status();
  int64_t decided = 0;
  for (const std::string& member : *members) {
    const std::optional<std::string_view> id = ParseApprovalMember(member);
    if (!id || !IsId(*id)) continue;
    const auto approval = co_await Find(run_id, *id);
    if (!approval.ok()) co_return approval.status();
    if (!*approval || !(*approval)->timeout_at) continue;
    if (clock_.Now() < *(*approval)->timeout_at) continue;
    const RunApproval overdue = {run_id, *id};
    const auto outcome = co_await Decide(overdue, ApprovalStatus::kTimeout, DecisionDetails());
    if (!outcome.ok()) co_return outcome.status();
    if (*outcome == DecisionOutcome::kDecided) ++decided;
  }
  co_return decided;
}

base::Task<absl::StatusOr<int64_t>> Approvals::PushUndelivered(std::string_view run_id) {
  const absl::StatusOr<std::string> applied_key = keys_.Applied(run_id);
  if (!applied_key.ok()) co_return applied_key.status();
  constexpr std::string_view kResume = "resume:";
  std::vector<std::string_view> prefixes = {kResume, "consume:approval_"};
  const auto applied = co_await SortedMembers(store_, *applied_key, std::move(prefixes));
  if (!applied.ok()) co_return applied.status();
  const std::set<std::string_view> members(applied->begin(), applied->end());
  int64_t pushed = 0;
  for (const std::string_view op : members) {
    if (!op.starts_with(kResume)) continue;
    const std::string_view member = op.substr(kResume.size());
    const std::optional<std::string_view> id = ParseApprovalMember(member);
    if (!id || !IsId(*id) || members.contains(ConsumeOp(member))) continue;
    const auto approval = co_await Find(run_id, *id);
    if (!approval.ok()) co_return approval.status();
    if (!*approval) continue;
    const RunApproval decided = {run_id, *id};
    absl::Status signalled = co_await Signal(decided, **approval, DecisionDetails());
    if (!signalled.ok()) co_return signalled;
    ++pushed;
  }
  co_return pushed;
}

base::Task<absl::StatusOr<std::optional<Approval>>> Approvals::Find(std::string_view run_id,
                                                                    std::string_view approval_id) {
  const RunApproval approval = {run_id, approval_id};
  const absl::StatusOr<std::string> key = keys_.Approval(approval);
  if (!key.ok()) co_return key.status();
  const auto fields = co_await store::HGetAll(store_, *key);
  if (!fields.ok()) co_return fields.status();
  if (fields->empty()) co_return std::nullopt;
  absl::StatusOr<Approval> parsed = ParseApproval(*fields);
  if (!parsed.ok()) co_return parsed.status();
  co_return *std::move(parsed);
}

}  // namespace redouble::orchestrator
