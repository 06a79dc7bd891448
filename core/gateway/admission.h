// AdmissionControl: the Redis operations of the gateway around one request, from arrival to end.
//
// Admit counts the request against its rate limits, checks the budget and, if the route has an
// estimated cost, reserves the estimate. Settle runs once after the request has ended and charges
// the final cost. Use this class in a gateway; use RateLimiter and BudgetStore for single steps.
//
//   gateway::AdmissionControl admission(store);
//   gateway::AdmissionRequest arriving;
//   arriving.request = {key_id, request_id};
//   arriving.rpm_limit = 60;
//   arriving.now = clock.Now();
//   absl::StatusOr<AdmissionDecision> decision = co_await admission.Admit(arriving);
//   if (!decision.ok()) ...                            // The key id is invalid.
//   if (const auto refusal = decision->refusal()) ...  // 429, 402 or 503.
//   ...
//   gateway::Settlement end;
//   end.request = arriving.request;
//   end.reserved = decision->reserved;
//   end.final_cost_usd = 0.75;
//   end.now = clock.Now();
//   const gateway::SettlementReport report = co_await admission.Settle(end);
//
// A refused request stays counted by the rate limit. If Redis fails, Admit refuses the request. A
// failed settlement is not repeated: the response has been sent already, so the failure appears in
// the report only.
//
// Thread-safety: as Store.
// Source: docs/systems/gateway.md 4.9, 4.10.
#ifndef REDOUBLE_CORE_GATEWAY_ADMISSION_H_
#define REDOUBLE_CORE_GATEWAY_ADMISSION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/gateway/budget.h"
#include "redouble/core/gateway/hardening.h"
#include "redouble/core/gateway/keys.h"
#include "redouble/core/gateway/rate_limiter.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::gateway {

struct AdmissionRequest {
  BudgetRequest request;
  // The policy of the virtual key; nullopt means unlimited.
  std::optional<int32_t> rpm_limit;
  // The limit of later releases, in tokens per minute, and the tokens that this request counts.
  std::optional<int64_t> tpm_limit;
  int64_t tokens = 0;
  BudgetLimits budget;
  // The estimated cost; a request with an estimate reserves it. In release 0.0.10 only streaming
  // requests have one.
  std::optional<double> estimated_cost_usd;
  absl::Time now;
};

// The response to a refused client: the HTTP status, and members of the error body. There is no
// Retry-After header.
struct Refusal {
  int http_status = 0;
  std::string_view code;
  // The original documents do not define this text.
  std::string_view message;
  std::optional<int64_t> retry_after_seconds;
};

// The JSON document of a refusal, without `retry_after_seconds` if it is nullopt:
//
//   {"error":{"code":"rate_limit_exceeded","message":"...","request_id":"req-1",
//             "retry_after_seconds":70}}
//
// on one line and without spaces. Bytes of the request id that are not UTF-8 become U+FFFD.
// Source: docs/systems/gateway.md 2.7.
std::string ErrorBody(const Refusal& refusal, std::string_view request_id);

struct AdmissionDecision {
  enum class Outcome {
    kAdmitted,
    kRateLimitExceeded,        // 429 rate_limit_exceeded
    kTokenRateLimitExceeded,   // 429 token_rate_limit_exceeded
    kBudgetExceeded,           // 402 budget_exceeded
    kControlStateUnavailable,  // 503 control_state_unavailable
  };
  Outcome outcome = Outcome::kAdmitted;
  // The results of the checks. A check that did not run leaves its default.
  RateLimitDecision rate;
  RateLimitDecision token_rate;
  BudgetDecision budget;
  // Pass it to Settle. Also true for an estimate of 0 or less, for which nothing was written.
  bool reserved = false;
  // The cause if the outcome is kControlStateUnavailable; see errors.h.
  absl::Status error;

  // Nullopt if the request was admitted.
  std::optional<Refusal> refusal() const;
};

// How an admitted request ended.
struct Settlement {
  BudgetRequest request;
  bool reserved = false;
  // False if the request was aborted; its cost is then not charged.
  bool completed = true;
  // Nullopt if the response does not report a cost.
  std::optional<double> final_cost_usd;
  // The time at which the request ended.
  absl::Time now;
};

struct SettlementReport {
  enum class Action { kNothing, kReconciled, kSpendAdded, kReleased };
  Action action = Action::kNothing;
  // The result of the action: OK, or ControlStateUnavailable or InvalidArgument as in budget.h.
  absl::Status status;
};

class AdmissionControl {
 public:
  // `store` must outlive this.
  explicit AdmissionControl(store::Store& store, Hardening hardening = Hardening(),
                            Keys keys = Keys())
      : limiter_(store, keys), budgets_(store, hardening, keys) {}

  // Checks the request rate, the token rate and the budget, then reserves, and stops at the first
  // refusal. A
  // failure of Redis is the decision kControlStateUnavailable and no error.
  //
  // Round trips: the sum of the operations that the policy requires, at most 5; at most 3 with
  // Hardening::atomic_check_and_reserve. Errors: InvalidArgument if the key id is not a UUID in
  // lower case or the year of `now` does not have four digits; nothing is sent.
  // Source: docs/systems/gateway.md 4.9.
  base::Task<absl::StatusOr<AdmissionDecision>> Admit(AdmissionRequest request);

  // Reconciles (reserved, completed, cost known), adds the cost (not reserved, completed, cost
  // known), releases (reserved, and aborted or cost unknown) or does nothing. Call it once for each
  // admitted request: a second call can charge again (hazard R6 in docs/systems/gateway.md 5).
  // Round trips: 0, 2 or 4. Source: docs/systems/gateway.md 4.10.
  base::Task<SettlementReport> Settle(Settlement settlement);

 private:
  base::Task<absl::StatusOr<BudgetDecision>> CheckAndReserve(const AdmissionRequest& request);

  RateLimiter limiter_;
  BudgetStore budgets_;
};

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_ADMISSION_H_
