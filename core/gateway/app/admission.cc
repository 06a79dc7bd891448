#include "redouble/core/gateway/app/admission.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/gateway/keys.h"

namespace redouble::inline v0_1::gateway {

std::optional<HttpResponse> RefusalResponse(const AdmissionDecision& decision,
                                            std::string_view request_id) {
  const std::optional<Refusal> refusal = decision.refusal();
  if (!refusal) return std::nullopt;
  return HttpResponse{refusal->http_status, ErrorBody(*refusal, request_id)};
}

absl::StatusOr<std::unique_ptr<Admission>> Admission::Create(store::Store& store,
                                                             base::Clock& clock,
                                                             const AdmissionSettings& settings) {
  const absl::Duration pause = settings.sweep_interval.value_or(absl::ZeroDuration());
  if (settings.abandoned_after + pause >= ReservationTtl()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "abandoned_after and sweep_interval must together be shorter than ",
        absl::FormatDuration(ReservationTtl()), ", the time to live of a reservation; got ",
        absl::FormatDuration(settings.abandoned_after), " and ", absl::FormatDuration(pause)));
  }
  return std::unique_ptr<Admission>(new Admission(store, clock, settings));
}

Admission::Admission(store::Store& store, base::Clock& clock, const AdmissionSettings& settings)
    : store_(store),
      clock_(clock),
      settings_(settings),
      keys_(settings.key_layout),
      control_(store, settings.hardening, keys_),
      budgets_(store, settings.hardening, keys_) {}

base::Task<absl::StatusOr<AdmissionDecision>> Admission::Admit(AdmissionRequest request) {
  request.now = clock_.Now();
  absl::StatusOr<AdmissionDecision> decision = co_await control_.Admit(request);
  if (decision.ok()) metrics_.Count(*decision);
  co_return decision;
}

base::Task<SettlementReport> Admission::Settle(Settlement settlement) {
  settlement.now = clock_.Now();
  SettlementReport report = co_await control_.Settle(settlement);
  metrics_.Count(report);
  co_return report;
}

base::Task<HttpResponse> Admission::Ready(absl::Status postgres) {
  const absl::Status redis = co_await ProbeControlState(store_);
  const ReadinessResponse response = Readiness(postgres, redis);
  HttpResponse http;
  http.status = response.http_status;
  http.body = std::string(response.body);
  co_return http;
}

base::Task<absl::StatusOr<KeySpend>> Admission::ReadSpend(std::string_view key_id) {
  return ReadKeySpend(store_, key_id, clock_.Now(), keys_);
}

base::Task<absl::Status> Admission::AdjustSpend(std::string_view key_id, double delta_usd) {
  return AdjustKeySpend(store_, key_id, delta_usd, clock_.Now(), keys_);
}

base::Task<absl::Status> Admission::SetSpend(std::string_view key_id, SpendAmounts amounts) {
  return SetKeySpend(store_, key_id, amounts, clock_.Now(), keys_);
}

base::Task<absl::StatusOr<BudgetStore::Sweep>> Admission::Sweep() {
  absl::StatusOr<BudgetStore::Sweep> sweep =
      co_await budgets_.SweepReservations(settings_.abandoned_after);
  if (!sweep.ok()) {
    ++metrics_.failed_sweeps;
    co_return sweep.status();
  }
  ++metrics_.sweeps;
  metrics_.released_reservations += sweep->released;
  metrics_.released_usd += sweep->released_usd;
  co_return sweep;
}

base::Task<void> Admission::SweepLoop() {
  if (!settings_.sweep_interval) co_return;
  while (true) {
    co_await clock_.Sleep(*settings_.sweep_interval);
    (void)co_await Sweep();
  }
}

}  // namespace redouble::inline v0_1::gateway
