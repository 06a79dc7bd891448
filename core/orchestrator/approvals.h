// Approvals: a run waits for a person. A token at an approval's node is consumed and a pending
// approval takes its place; the decision gives the run its token back.
//
//   Approvals approvals(store, clock, keys);
//   // The worker of `wf.tasks.hitl`:
//   absl::StatusOr<ApprovalRequested> asked = co_await approvals.Request(token, terms);
//   // The person:
//   DecisionDetails details;
//   details.decided_by = "manager@company.com";
//   absl::StatusOr<DecisionOutcome> outcome = co_await approvals.Approve("run_123", id, details);
//
// The first decision wins; all others, a time-out included, change nothing. Between the pause and
// the decision the run is not complete, whatever its counter says.
//
// A decision is two steps: the approval's state, then the signal that moves the run on. A crash in
// between is made good by PushUndelivered, which anybody may call at any time.
//
// A run that would expire before its approval's time-out lives on for 24 hours beyond it (D9). An
// approval without a time-out does not keep its run alive: decided too late, it is cancelled.
//
// Thread-safety: as Store.
// Source: seed 001 "HITL"; reference/orchestrator.md sections 2.5 and 8.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_APPROVALS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_APPROVALS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/task.h"
#include "core/orchestrator/keys.h"
#include "core/orchestrator/messages.h"
#include "core/orchestrator/mutation.h"
#include "core/orchestrator/scripts.h"
#include "core/store/store.h"

namespace redouble::orchestrator {

struct ApprovalTerms {
  // No aggregate: see DecisionDetails.
  ApprovalTerms() {}

  std::string approver;                                  // Who has to decide; empty: anybody.
  std::optional<absl::Duration> timeout = std::nullopt;  // None: nobody gives up waiting.
  // Empty: made from the token, so that a repeated request asks once. Ids made elsewhere forget the
  // loops that the run is in.
  std::string approval_id;
};

struct ApprovalRequested {
  std::string approval_id;
  // kApplied: the run waits now. kDuplicate: it was asked before. kRunGone and kRefused: there is
  // no such token any more, and nothing was asked.
  CounterChange::Outcome outcome = CounterChange::Outcome::kRunGone;
};

// What the person says beside yes and no; empty texts are left out.
struct DecisionDetails {
  // No aggregate: g++ 12 frees a braced one twice inside a co_await expression.
  DecisionDetails() {}

  std::string decided_by;
  std::string comment;
};

enum class DecisionOutcome {
  kDecided,
  kNotPending,  // Decided before, or there is no such approval.
  kRunGone,     // The run is over; the approval is cancelled.
};

class Approvals {
 public:
  // Store and clock must outlive this.
  Approvals(store::Store& store, base::Clock& clock, Keys keys,
            Mutation mutation = Mutation::kNone);

  // Lets the run of a token wait for an approval. Announces it once. Four round trips; two more
  // when the run has to live longer.
  base::Task<absl::StatusOr<ApprovalRequested>> Request(const Token& token, ApprovalTerms terms);

  // Decides. Two round trips, three for an approval that outlived its run.
  base::Task<absl::StatusOr<DecisionOutcome>> Approve(std::string_view run_id,
                                                      std::string_view approval_id,
                                                      DecisionDetails details = DecisionDetails());
  base::Task<absl::StatusOr<DecisionOutcome>> Reject(std::string_view run_id,
                                                     std::string_view approval_id,
                                                     DecisionDetails details = DecisionDetails());

  // Decides "timeout" for those pending approvals of the run whose timeout_at has come. How many.
  // One round trip, one per pending approval, and those of the decisions.
  base::Task<absl::StatusOr<int64_t>> DecideOverdue(std::string_view run_id);

  // Pushes the signals of decided approvals whose token is not consumed. How many; some of them may
  // have been on their way.
  base::Task<absl::StatusOr<int64_t>> PushUndelivered(std::string_view run_id);

  // The approval; none when there is none.
  base::Task<absl::StatusOr<std::optional<Approval>>> Find(std::string_view run_id,
                                                           std::string_view approval_id);

 private:
  base::Task<absl::StatusOr<DecisionOutcome>> Decide(RunApproval approval, ApprovalStatus status,
                                                     DecisionDetails details);
  base::Task<absl::StatusOr<Decision>> Claim(const DecisionRequest& request);
  base::Task<absl::Status> Signal(RunApproval approval, const Approval& decided,
                                  const DecisionDetails& details);
  base::Task<absl::Status> Prolong(RunApproval approval, std::optional<absl::Duration> timeout);

  store::Store& store_;
  base::Clock& clock_;
  const Keys keys_;
  const Mutation mutation_;
};

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_APPROVALS_H_
