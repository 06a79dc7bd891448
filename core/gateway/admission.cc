#include "redouble/core/gateway/admission.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "redouble/core/gateway/errors.h"

namespace redouble::inline v0_1::gateway {
namespace {

using Outcome = AdmissionDecision::Outcome;
using Action = SettlementReport::Action;

std::optional<ErrorCode> ErrorCodeFor(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAdmitted:
      return std::nullopt;
    case Outcome::kRateLimitExceeded:
      return ErrorCode::kRateLimitExceeded;
    case Outcome::kTokenRateLimitExceeded:
      return ErrorCode::kTokenRateLimitExceeded;
    case Outcome::kBudgetExceeded:
      return ErrorCode::kBudgetExceeded;
    case Outcome::kControlStateUnavailable:
      return ErrorCode::kControlStateUnavailable;
  }
  return std::nullopt;
}

// A failure of Redis refuses the request. Any other error is a mistake of the caller.
absl::StatusOr<AdmissionDecision> RefuseOrFail(const absl::Status& error,
                                               AdmissionDecision decision) {
  if (!IsControlStateUnavailable(error)) return error;
  decision.outcome = Outcome::kControlStateUnavailable;
  decision.error = error;
  return decision;
}

Action ActionFor(const Settlement& settlement) {
  if (settlement.completed && settlement.final_cost_usd) {
    return settlement.reserved ? Action::kReconciled : Action::kSpendAdded;
  }
  return settlement.reserved ? Action::kReleased : Action::kNothing;
}

}  // namespace

std::string ErrorBody(const Refusal& refusal, std::string_view request_id) {
  nlohmann::ordered_json error = {
      {"code", refusal.code}, {"message", refusal.message}, {"request_id", request_id}};
  if (refusal.retry_after_seconds) error["retry_after_seconds"] = *refusal.retry_after_seconds;
  const nlohmann::ordered_json body = {{"error", std::move(error)}};
  return body.dump(-1, ' ', /*ensure_ascii=*/false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

std::optional<Refusal> AdmissionDecision::refusal() const {
  const std::optional<ErrorCode> code = ErrorCodeFor(outcome);
  if (!code) return std::nullopt;
  const ErrorSpec& spec = SpecOf(*code);
  Refusal refusal{spec.http_status, spec.name, spec.message, std::nullopt};
  if (outcome == Outcome::kRateLimitExceeded) {
    refusal.retry_after_seconds = rate.retry_after_seconds;
  }
  if (outcome == Outcome::kTokenRateLimitExceeded) {
    refusal.retry_after_seconds = token_rate.retry_after_seconds;
  }
  return refusal;
}

base::Task<absl::StatusOr<BudgetDecision>> AdmissionControl::CheckAndReserve(
    const AdmissionRequest& request) {
  if (request.estimated_cost_usd) {
    return budgets_.CheckAndReserveBudget(request.request, request.budget,
                                          *request.estimated_cost_usd, request.now);
  }
  return budgets_.CheckBudget(request.request.key_id, request.budget, request.now);
}

base::Task<absl::StatusOr<AdmissionDecision>> AdmissionControl::Admit(AdmissionRequest request) {
  AdmissionDecision decision;
  const absl::StatusOr<RateLimitDecision> rate = co_await limiter_.CheckRequestRateLimit(
      request.request.key_id, request.rpm_limit, request.now);
  if (!rate.ok()) co_return RefuseOrFail(rate.status(), decision);
  decision.rate = *rate;
  if (rate->outcome == RateLimitDecision::Outcome::kExceeded) {
    decision.outcome = Outcome::kRateLimitExceeded;
    co_return decision;
  }

  const absl::StatusOr<RateLimitDecision> tokens = co_await limiter_.CheckTokenRateLimit(
      request.request.key_id, request.tpm_limit, request.tokens, request.now);
  if (!tokens.ok()) co_return RefuseOrFail(tokens.status(), decision);
  decision.token_rate = *tokens;
  if (tokens->outcome == RateLimitDecision::Outcome::kExceeded) {
    decision.outcome = Outcome::kTokenRateLimitExceeded;
    co_return decision;
  }

  const absl::StatusOr<BudgetDecision> budget = co_await CheckAndReserve(request);
  if (!budget.ok()) co_return RefuseOrFail(budget.status(), decision);
  decision.budget = *budget;
  if (budget->outcome == BudgetDecision::Outcome::kExceeded) {
    decision.outcome = Outcome::kBudgetExceeded;
    co_return decision;
  }
  decision.reserved = request.estimated_cost_usd.has_value();
  co_return decision;
}

base::Task<SettlementReport> AdmissionControl::Settle(Settlement settlement) {
  SettlementReport report;
  report.action = ActionFor(settlement);
  switch (report.action) {
    case Action::kReconciled:
      report.status = co_await budgets_.ReconcileBudgetReservation(
          settlement.request, *settlement.final_cost_usd, settlement.now);
      break;
    case Action::kSpendAdded:
      report.status = co_await budgets_.AddBudgetSpend(settlement.request.key_id,
                                                       *settlement.final_cost_usd, settlement.now);
      break;
    case Action::kReleased:
      report.status =
          co_await budgets_.ReleaseBudgetReservation(settlement.request, settlement.now);
      break;
    case Action::kNothing:
      break;
  }
  co_return report;
}

}  // namespace redouble::inline v0_1::gateway
