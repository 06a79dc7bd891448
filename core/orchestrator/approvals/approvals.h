// Approvals: a run waits for the decision of a person. The token at an approval node is consumed,
// and a pending approval replaces it; the decision returns the token to the run.
//
//   Approvals approvals(store, clock, keys);
//   // In the worker of `wf.tasks.hitl`:
//   absl::StatusOr<ApprovalRequested> requested = co_await approvals.Request(token, terms);
//   // For the person who decides:
//   DecisionDetails details;
//   details.decided_by = "manager@company.com";
//   absl::StatusOr<DecisionOutcome> outcome = co_await approvals.Approve("run_123", id, details);
//
// The first decision wins; later decisions, a timeout included, change nothing. Between the request
// and the decision the run is not complete, whatever its counter is.
//
// A decision consists of two steps: the state of the approval, then the signal that continues the
// run. After a crash between them, PushUndelivered sends the signal; any process may call it at any
// time.
//
// A run that would expire before the timeout of its approval is extended to
// ApprovalOptions::run_ttl after that timeout. An approval without a timeout does not extend its
// run: a decision after the run has expired cancels the approval.
//
// Errors of every operation: InvalidArgument for an invalid run or approval id (nothing is sent) or
// a stored approval that cannot be parsed, and those of the store.
//
// Thread-safety: as Store.
// Source: docs/systems/orchestrator.md 2.5, 3.4, 4.9 to 4.11 and D9.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_APPROVALS_APPROVALS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_APPROVALS_APPROVALS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/orchestrator/hardening.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/orchestrator/scripts/scripts.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::orchestrator {

struct ApprovalTerms {
  // Not an aggregate; see DecisionDetails.
  ApprovalTerms() {}

  std::string approver;  // The person who must decide; empty: any person.
  std::optional<absl::Duration> timeout = std::nullopt;  // Nullopt: the approval never times out.
  // Empty: derived from the token, so that a repeated request creates one approval. Other ids lose
  // the iterations of the loops that the run is in.
  std::string approval_id;
};

struct ApprovalRequested {
  std::string approval_id;
  // kApplied: the run now waits. kDuplicate: the approval was requested before. kRunGone and
  // kRefused: the token no longer exists, and no approval was requested.
  CounterChange::Outcome outcome = CounterChange::Outcome::kRunGone;
};

// Further data of a decision; empty members are omitted in the signal.
struct DecisionDetails {
  // Not an aggregate: g++ 12 frees a braced aggregate twice inside a co_await expression.
  DecisionDetails() {}

  std::string decided_by;
  std::string comment;
};

enum class DecisionOutcome {
  kDecided,
  kNotPending,  // Decided before, or unknown.
  kRunGone,     // The run is gone; the approval is cancelled.
};

struct ApprovalOptions {
  // The time to live of an approval, and of its run after the timeout of the approval. Use the
  // value of CoordinatorOptions::run_ttl.
  absl::Duration run_ttl = RunTtl();
  // Options that remove hazards.
  Hardening hardening = {};
};

class Approvals {
 public:
  // Store and clock must outlive this object.
  Approvals(store::Store& store, base::Clock& clock, Keys keys, ApprovalOptions options = {});

  // Pauses the run of a token until a decision, and publishes the event approval_required once.
  // Round trips: 3, or 4 with a timeout; 2 more if the run must be extended, 1 more after a join.
  // Source: docs/systems/orchestrator.md 4.9.
  base::Task<absl::StatusOr<ApprovalRequested>> Request(const Token& token, ApprovalTerms terms);

  // Decides a pending approval. Round trips: 3 if this call decided, 2 if the run is gone, 1 if the
  // approval is not pending. Source: docs/systems/orchestrator.md 4.10.
  base::Task<absl::StatusOr<DecisionOutcome>> Approve(std::string_view run_id,
                                                      std::string_view approval_id,
                                                      DecisionDetails details = DecisionDetails());
  base::Task<absl::StatusOr<DecisionOutcome>> Reject(std::string_view run_id,
                                                     std::string_view approval_id,
                                                     DecisionDetails details = DecisionDetails());

  // Decides "timeout" for each pending approval of the run whose timeout_at has passed, and returns
  // their number. Round trips: 1, 1 for each pending approval, and those of the decisions.
  base::Task<absl::StatusOr<int64_t>> DecideOverdue(std::string_view run_id);

  // Pushes the signals of approvals that were decided at least `age` ago and whose token is not
  // consumed, and returns their number. Some of these signals may still be queued; a duplicate is
  // harmless. Without Hardening::keep_decision_details the signals do not name the person who
  // decided. Round trips: 1, and 2 for each signal. Source: docs/systems/orchestrator.md 4.11, H27.
  base::Task<absl::StatusOr<int64_t>> PushUndelivered(std::string_view run_id,
                                                      absl::Duration age = absl::ZeroDuration());

  // Returns the approval, or nullopt if it does not exist. One round trip.
  base::Task<absl::StatusOr<std::optional<Approval>>> Find(std::string_view run_id,
                                                           std::string_view approval_id);

 private:
  base::Task<absl::StatusOr<DecisionOutcome>> Decide(RunApproval approval, ApprovalStatus status,
                                                     DecisionDetails details);
  base::Task<absl::Status> Signal(RunApproval approval, const Approval& decided);
  base::Task<absl::Status> ExtendExpiry(RunApproval approval,
                                        std::optional<absl::Duration> timeout);

  store::Store& store_;
  base::Clock& clock_;
  const Keys keys_;
  const ApprovalOptions options_;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_APPROVALS_APPROVALS_H_
