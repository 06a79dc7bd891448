// AdmissionControl: what the gateway does with Redis around one request, from arrival to end.
//
// Admit counts the request against its rate limit, checks the budget and, if the route estimates
// costs beforehand, reserves the estimate; what it decides is typed, with the HTTP status and the
// error code of a refusal. Settle does once, when the request is over, what its outcome asks for.
//
//   gateway::AdmissionControl admission(store);
//   gateway::AdmissionRequest arriving{.request = {key_id, request_id}, .rpm_limit = 60, ...};
//   absl::StatusOr<AdmissionDecision> decision = co_await admission.Admit(arriving);
//   if (const auto refusal = decision->refusal()) ...  // 429 rate_limit_exceeded, 402, 503
//   ...
//   gateway::Settlement over{.request = arriving.request, .reserved = decision->reserved, ...};
//   const gateway::SettlementReport report = co_await admission.Settle(over);
//
// Refused requests stay counted by the rate limit. When Redis cannot be asked the request is
// refused; a settlement that fails is not repeated, and the answer to the client has left already,
// so the failure only goes into the report.
//
// Thread-safety: as Store.
// Source: reference/gateway.md section 5.
#ifndef REDOUBLE_CORE_GATEWAY_ADMISSION_H_
#define REDOUBLE_CORE_GATEWAY_ADMISSION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/gateway/budget.h"
#include "core/gateway/hardening.h"
#include "core/gateway/keys.h"
#include "core/gateway/rate_limiter.h"
#include "core/store/store.h"

namespace redouble::gateway {

struct AdmissionRequest {
  BudgetRequest request;
  // The policy of the virtual key; none means unlimited.
  std::optional<int32_t> rpm_limit;
  BudgetLimits budget;
  // The estimate of a route that has one; such a request reserves. In release 0.0.10 these are the
  // streaming requests.
  std::optional<double> estimated_cost_usd;
  absl::Time now;
};

// What a refused client is told: HTTP status and the `code` and `retry_after_seconds` (left out
// when none) of the error body. There is no Retry-After header.
struct Refusal {
  int http_status = 0;
  std::string_view code;
  std::optional<int64_t> retry_after_seconds;
};

struct AdmissionDecision {
  enum class Outcome {
    kAdmitted,
    kRateLimitExceeded,        // 429 rate_limit_exceeded
    kBudgetExceeded,           // 402 budget_exceeded
    kControlStateUnavailable,  // 503 control_state_unavailable
  };
  Outcome outcome = Outcome::kAdmitted;
  // As far as they were asked.
  RateLimitDecision rate;
  BudgetDecision budget;
  // For Settlement. True also for an estimate of 0 or below, for which nothing was written.
  bool reserved = false;
  // Why the control state is unavailable; see control_state.h.
  absl::Status error;

  // None when the request was admitted.
  std::optional<Refusal> refusal() const;
};

// How an admitted request ended.
struct Settlement {
  BudgetRequest request;
  bool reserved = false;
  // False: it broke off, and what it cost is not charged.
  bool completed = true;
  // None: the answer does not tell.
  std::optional<double> final_cost_usd;
  // When it ended.
  absl::Time now;
};

struct SettlementReport {
  enum class Action { kNothing, kReconciled, kSpendAdded, kReleased };
  // What was asked of Redis.
  Action action = Action::kNothing;
  // How that went.
  absl::Status status;
};

class AdmissionControl {
 public:
  // `store` must outlive this.
  explicit AdmissionControl(store::Store& store, Hardening hardening = Hardening())
      : limiter_(store), budgets_(store, hardening) {}

  // Decides in the order rate limit, budget, reservation, and stops at the first refusal. Round
  // trips: those of the three operations that the policy asks for. Errors: InvalidArgument when the
  // key id is not a UUID in lower case; a failure of Redis is a decision.
  base::Task<absl::StatusOr<AdmissionDecision>> Admit(AdmissionRequest request);

  // Reconciles (cost known, reserved), adds the cost (known, not reserved), releases (reserved, and
  // unknown or broken off) or does nothing. To be called once per admitted request; see hazard R6
  // in reference/gateway.md for what a second call does.
  base::Task<SettlementReport> Settle(Settlement settlement);

 private:
  base::Task<absl::StatusOr<BudgetDecision>> CheckAndReserve(const AdmissionRequest& request);

  RateLimiter limiter_;
  BudgetStore budgets_;
};

}  // namespace redouble::gateway

#endif  // REDOUBLE_CORE_GATEWAY_ADMISSION_H_
