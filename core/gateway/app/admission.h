// Admission: the whole control state of one gateway process, built from its settings.
//
// Use it in a gateway; RateLimiter, BudgetStore and AdmissionControl are its parts for programs
// that need only one of them. It adds the clock, the HTTP responses, the metrics, the view of a
// key's spend and the sweep of abandoned reservations.
//
//   absl::StatusOr<std::unique_ptr<Admission>> admission = Admission::Create(store, clock,
//   settings); AdmissionRequest arrival; arrival.request = {key_id, request_id}; arrival.rpm_limit
//   = 60; absl::StatusOr<AdmissionDecision> decision = co_await (*admission)->Admit(arrival); if
//   (const auto response = RefusalResponse(*decision, request_id)) return *response;
//   ...
//   co_await (*admission)->Settle(ended);
//
// What a crash leaves: after Admit, the request is counted and its estimate stays reserved until
// the sweep releases it, or until it expires and stays charged (hazard R9). Settle may be repeated
// only with Hardening::idempotent_settlement (R6). A sweep may be repeated at any time.
//
// Thread-safety: as Store. Operations may overlap on one thread or strand.
// Source: docs/systems/gateway.md 1.4, 4.9 to 4.16.
#ifndef REDOUBLE_CORE_GATEWAY_APP_ADMISSION_H_
#define REDOUBLE_CORE_GATEWAY_APP_ADMISSION_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/gateway/admission.h"
#include "redouble/core/gateway/app/metrics.h"
#include "redouble/core/gateway/app/settings.h"
#include "redouble/core/gateway/app/spend.h"
#include "redouble/core/gateway/budget.h"
#include "redouble/core/gateway/keys.h"
#include "redouble/core/gateway/readiness.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::gateway {

// An HTTP response with a JSON body.
struct HttpResponse {
  int status = 0;
  std::string body;

  friend bool operator==(const HttpResponse&, const HttpResponse&) = default;
};

// The response to a refused request; nullopt if it was admitted.
// Source: docs/systems/gateway.md 2.7.
std::optional<HttpResponse> RefusalResponse(const AdmissionDecision& decision,
                                            std::string_view request_id);

class Admission {
 public:
  // `store` and `clock` must outlive the object. Sends nothing. Errors: InvalidArgument if
  // `abandoned_after` and the pause between two sweeps are together not shorter than
  // ReservationTtl(): reservations would expire unseen.
  static absl::StatusOr<std::unique_ptr<Admission>> Create(store::Store& store, base::Clock& clock,
                                                           const AdmissionSettings& settings = {});
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // As AdmissionControl::Admit and Settle; `now` is set to the time of the clock.
  base::Task<absl::StatusOr<AdmissionDecision>> Admit(AdmissionRequest request);
  base::Task<SettlementReport> Settle(Settlement settlement);

  // Probes Redis and returns the response of the readiness route; the caller probes PostgreSQL. One
  // round trip.
  base::Task<HttpResponse> Ready(absl::Status postgres);

  // The spend of a key today and this month; see spend.h. One round trip each.
  base::Task<absl::StatusOr<KeySpend>> ReadSpend(std::string_view key_id);
  base::Task<absl::Status> AdjustSpend(std::string_view key_id, double delta_usd);
  base::Task<absl::Status> SetSpend(std::string_view key_id, SpendAmounts amounts);

  // Releases abandoned reservations once. As BudgetStore::SweepReservations.
  base::Task<absl::StatusOr<BudgetStore::Sweep>> Sweep();
  // Sweeps after each `sweep_interval` until it is destroyed; without an interval it returns at
  // once. Errors are counted in the metrics.
  base::Task<void> SweepLoop();

  const AdmissionMetrics& metrics() const { return metrics_; }

 private:
  Admission(store::Store& store, base::Clock& clock, const AdmissionSettings& settings);

  store::Store& store_;
  base::Clock& clock_;
  const AdmissionSettings settings_;
  const Keys keys_;
  AdmissionControl control_;
  BudgetStore budgets_;
  AdmissionMetrics metrics_;
};

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_APP_ADMISSION_H_
