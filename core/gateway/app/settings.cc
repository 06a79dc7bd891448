#include "redouble/core/gateway/app/settings.h"

#include <array>
#include <string_view>

#include "absl/status/status.h"

namespace redouble::inline v0_1::gateway {
namespace {

using S = AdmissionSettings;

template <bool Hardening::*kOption>
absl::Status ReadHardening(std::string_view value, S& settings) {
  return base::ReadFlag<kOption>(value, settings.hardening);
}

using Row = base::VariableRow<S>;
constexpr std::array kRows = {
    Row{"REDIS_URL", base::ReadText<&S::redis_url>},
    Row{"GATEWAY_HEAL_COUNTER_TTL", ReadHardening<&Hardening::heal_counter_ttl>},
    Row{"GATEWAY_IDEMPOTENT_SETTLEMENT", ReadHardening<&Hardening::idempotent_settlement>},
    Row{"GATEWAY_ATOMIC_CHECK_AND_RESERVE", ReadHardening<&Hardening::atomic_check_and_reserve>},
    Row{"GATEWAY_ATOMIC_SPEND", ReadHardening<&Hardening::atomic_spend>},
    Row{"GATEWAY_HASH_REQUEST_IDS", ReadHardening<&Hardening::hash_request_ids>},
    Row{"GATEWAY_KEY_LAYOUT", store::ReadKeyLayout<S, &S::key_layout>},
    Row{"GATEWAY_SWEEP_INTERVAL_SECONDS", base::ReadOptionalSeconds<&S::sweep_interval>},
    Row{"GATEWAY_ABANDONED_AFTER_SECONDS", base::ReadSeconds<&S::abandoned_after>},
};

}  // namespace

absl::StatusOr<AdmissionSettings> ReadAdmissionSettings(base::Variables variables) {
  return base::ReadVariables<AdmissionSettings>(kRows, variables);
}

}  // namespace redouble::inline v0_1::gateway
