#include "redouble/core/orchestrator/approvals/approvals.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/orchestrator/document_reader.h"
#include "redouble/core/orchestrator/events/run_events.h"
#include "redouble/core/orchestrator/graph/ir.h"
#include "redouble/core/orchestrator/run/signal_queue.h"
#include "redouble/core/orchestrator/scripts/run_scripts.h"
#include "redouble/core/orchestrator/token_ids.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

// How long an approval outlives its timeout.
constexpr absl::Duration kApprovalMargin = absl::Hours(1);

}  // namespace

Approvals::Approvals(store::Store& store, base::Clock& clock, Keys keys, ApprovalOptions options)
    : store_(store), clock_(clock), keys_(keys), options_(options) {}

base::Task<absl::StatusOr<ApprovalRequested>> Approvals::Request(const Token& token,
                                                                 ApprovalTerms terms) {
  ApprovalRequested requested;
  requested.approval_id =
      terms.approval_id.empty() ? ApprovalIdOf(token.id) : std::move(terms.approval_id);
  // A join's token represents several tokens. The pause consumes one, so the others are consumed
  // first.
  const int64_t weight = ParseTokenMark(token.id).join_count;
  if (weight > 1) {
    const std::string op = absl::StrCat("merge:", token.id);
    const DeltaRequest merge = {token.run_id, op, 1 - weight};
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto merged,
                                 co_await ApplyDeltaGuarded(store_, keys_, merge));
    requested.outcome = merged.outcome;
    if (merged.outcome == CounterChange::Outcome::kRunGone ||
        merged.outcome == CounterChange::Outcome::kRefused) {
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
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto paused, co_await PauseForApproval(store_, keys_, pause));
  requested.outcome = paused.outcome;
  if (paused.outcome != CounterChange::Outcome::kApplied &&
      paused.outcome != CounterChange::Outcome::kDuplicate) {
    co_return requested;
  }
  const RunApproval approval = {token.run_id, requested.approval_id};
  REDOUBLE_CO_RETURN_IF_ERROR(co_await ExtendExpiry(approval, terms.timeout));
  if (paused.outcome == CounterChange::Outcome::kDuplicate) co_return requested;
  Event event;
  event.type = EventType::kApprovalRequired;
  event.run_id = token.run_id;
  event.node_id = token.to_node;
  event.timestamp = clock_.Now();
  REDOUBLE_CO_RETURN_IF_ERROR((co_await PublishRunEvent(store_, std::move(event))).status());
  co_return requested;
}

// Extends the approval to `run_ttl`, or to one hour after its timeout if that is later. If the keys
// of the run would expire before that hour, extends them to `run_ttl` after the timeout.
base::Task<absl::Status> Approvals::ExtendExpiry(RunApproval approval,
                                                 std::optional<absl::Duration> timeout) {
  const absl::Duration needed = timeout.value_or(absl::ZeroDuration()) + kApprovalMargin;
  const std::string approval_key = *keys_.Approval(approval);
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::ExpireIn(store_, approval_key, std::max(options_.run_ttl, needed),
                                store::ExpireCondition::kIfLater))
          .status());
  if (!timeout) co_return absl::OkStatus();
  const std::string counter_key = *keys_.Counter(approval.run_id);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const store::Ttl left,
                               co_await store::TimeToLive(store_, counter_key));
  if (!left.expires() || left.remaining() >= needed) co_return absl::OkStatus();
  const std::string ir_key = *keys_.Ir(approval.run_id);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto text, co_await store::Get(store_, ir_key));
  const absl::StatusOr<Ir> ir = ParseIr(text.value_or(""));
  std::vector<std::string_view> nodes;
  if (ir.ok()) nodes = ir->NodeIds();
  const ExtendRequest request = {approval.run_id, nodes, *timeout + options_.run_ttl};
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

base::Task<absl::StatusOr<DecisionOutcome>> Approvals::Decide(RunApproval approval,
                                                              ApprovalStatus status,
                                                              DecisionDetails details) {
  const absl::Time now = clock_.Now();
  HashFields kept;
  if (options_.hardening.keep_decision_details) {
    if (!details.decided_by.empty()) kept.emplace_back("decided_by", details.decided_by);
    if (!details.comment.empty()) kept.emplace_back("comment", details.comment);
  }
  const DecisionRequest request = {approval.run_id, approval.approval_id, status, now, kept};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Decision decision,
                               co_await DecideApproval(store_, keys_, request));
  switch (decision.outcome) {
    case Decision::Outcome::kNotPending:
      co_return DecisionOutcome::kNotPending;
    case Decision::Outcome::kRunGone: {
      REDOUBLE_CO_RETURN_IF_ERROR((co_await CancelApproval(store_, keys_, approval, now)).status());
      co_return DecisionOutcome::kRunGone;
    }
    case Decision::Outcome::kDecided:
      break;
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Approval> decided,
                               co_await Find(approval.run_id, approval.approval_id));
  // The approval was deleted because the run has ended; a signal would have no effect.
  if (!decided) co_return DecisionOutcome::kDecided;
  decided->decided_by = std::move(details.decided_by);
  decided->comment = std::move(details.comment);
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Signal(approval, *decided));
  co_return DecisionOutcome::kDecided;
}

// Pushes the completion signal of a decided approval.
base::Task<absl::Status> Approvals::Signal(RunApproval approval, const Approval& decided) {
  Json result = {{"approved", decided.status == ApprovalStatus::kApproved},
                 {"decision", ApprovalStatusName(decided.status)}};
  if (!decided.comment.empty()) result["comment"] = decided.comment;
  if (!decided.decided_by.empty()) result["decided_by"] = decided.decided_by;
  if (decided.decided_at) result["decided_at"] = base::FormatRfc3339(*decided.decided_at);
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::string text, JsonText(result));
  CompletionSignal signal;
  signal.job_id = ApprovalMember(approval.approval_id);
  signal.run_id = std::string(approval.run_id);
  signal.node_id = decided.node_id;
  signal.result_data_json = std::move(text);
  co_return co_await PushSignal(store_, keys_, std::move(signal));
}

base::Task<absl::StatusOr<int64_t>> Approvals::DecideOverdue(std::string_view run_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string pending_key, keys_.PendingApprovals(run_id));
  std::vector<std::string_view> all = {""};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto members,
                               co_await SortedMembers(store_, pending_key, std::move(all)));
  int64_t decided = 0;
  for (const std::string& member : members) {
    const std::optional<std::string_view> id = ParseApprovalMember(member);
    if (!id || !IsId(*id)) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto approval, co_await Find(run_id, *id));
    if (!approval || !approval->timeout_at) continue;
    if (clock_.Now() < *approval->timeout_at) continue;
    const RunApproval overdue = {run_id, *id};
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        const auto outcome, co_await Decide(overdue, ApprovalStatus::kTimeout, DecisionDetails()));
    if (outcome == DecisionOutcome::kDecided) ++decided;
  }
  co_return decided;
}

base::Task<absl::StatusOr<int64_t>> Approvals::PushUndelivered(std::string_view run_id,
                                                               absl::Duration age) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string applied_key, keys_.Applied(run_id));
  constexpr std::string_view kResume = "resume:";
  std::vector<std::string_view> prefixes = {kResume, "consume:approval_"};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto applied,
                               co_await SortedMembers(store_, applied_key, std::move(prefixes)));
  const std::set<std::string_view> members(applied.begin(), applied.end());
  int64_t pushed = 0;
  for (const std::string_view op : members) {
    if (!op.starts_with(kResume)) continue;
    const std::string_view member = op.substr(kResume.size());
    const std::optional<std::string_view> id = ParseApprovalMember(member);
    if (!id || !IsId(*id) || members.contains(ConsumeOp(member))) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto approval, co_await Find(run_id, *id));
    if (!approval) continue;
    if (approval->decided_at && clock_.Now() - *approval->decided_at < age) continue;
    const RunApproval decided = {run_id, *id};
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Signal(decided, *approval));
    ++pushed;
  }
  co_return pushed;
}

base::Task<absl::StatusOr<std::optional<Approval>>> Approvals::Find(std::string_view run_id,
                                                                    std::string_view approval_id) {
  const RunApproval approval = {run_id, approval_id};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Approval(approval));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto fields, co_await store::HGetAll(store_, key));
  if (fields.empty()) co_return std::nullopt;
  REDOUBLE_CO_ASSIGN_OR_RETURN(Approval parsed, ParseApproval(fields));
  co_return std::move(parsed);
}

}  // namespace redouble::inline v0_1::orchestrator
