// AdmissionSettings: the settings of the gateway's control state, with their names and defaults.
//
// Fill in the members, or read them from variables:
//
//   const std::pair<std::string_view, std::string_view> variables[] = {
//       {"REDIS_URL", "redis://cache:6379/0"}, {"GATEWAY_HASH_REQUEST_IDS", "true"}};
//   absl::StatusOr<AdmissionSettings> settings = ReadAdmissionSettings(variables);
//
// Thread-safety: plain values and a pure function.
// Source: docs/systems/gateway.md 1.4.
#ifndef REDOUBLE_CORE_GATEWAY_APP_SETTINGS_H_
#define REDOUBLE_CORE_GATEWAY_APP_SETTINGS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/settings/variables.h"
#include "redouble/core/gateway/hardening.h"
#include "redouble/core/store/keyspace/key_layout.h"

namespace redouble::inline v0_1::gateway {

struct AdmissionSettings {
  // The server, for the program that connects the store. The documented name.
  std::string redis_url = {};
  Hardening hardening = {};
  // All gateways that share a Redis must have the same layout.
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
  // The pause between two sweeps of abandoned reservations. Nullopt: no sweep, as in the original.
  std::optional<absl::Duration> sweep_interval = std::nullopt;
  // The age at which a reservation is abandoned; shorter than ReservationTtl() by more than the
  // pause, because a reservation that has expired cannot be released.
  absl::Duration abandoned_after = absl::Minutes(50);
};

// Returns the defaults, changed by REDIS_URL and the variables whose names begin with GATEWAY_. A
// blank value means the default, except that GATEWAY_SWEEP_INTERVAL_SECONDS is off if it is blank,
// "none", "null" or "off". Other variables are ignored; of a repeated one the last counts.
//
// Errors: InvalidArgument that begins with the name of the variable, for a value that is not of its
// kind.
absl::StatusOr<AdmissionSettings> ReadAdmissionSettings(base::Variables variables);

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_APP_SETTINGS_H_
