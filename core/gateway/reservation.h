// The value of a reservation key: the amount that a request reserved, and the counters it charged.
//
// The value names the counters because a request can end on another day than it began; the
// settlement adjusts the counters that were charged.
//
//   EncodeReservation({0.25, {"budget:daily:K:20260509", "budget:monthly:K:202605"}})
//   // "0.25|budget:daily:K:20260509|budget:monthly:K:202605"
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/gateway.md 2.3.
#ifndef REDOUBLE_CORE_GATEWAY_RESERVATION_H_
#define REDOUBLE_CORE_GATEWAY_RESERVATION_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/gateway/keys.h"

namespace redouble::inline v0_1::gateway {

struct Reservation {
  double amount_usd = 0;
  BudgetCounterKeys counters;
};

// `<amount>|<daily_key>|<monthly_key>`, with the amount as FormatFloatDisplay writes it.
std::string EncodeReservation(const Reservation& reservation);

// Decodes a value; `value` is nullopt if the key is missing. `current` are the counters of the
// settlement's own time. Any UTF-8 text is accepted:
//
//   * three parts, the first a finite number >= 0: that amount, and the other two parts verbatim as
//     the counters, even if empty;
//   * one part, a finite number >= 0 (an older format): that amount, and `current`;
//   * any other text, and a missing value: amount 0, and `current`.
//
// Errors: InvalidArgument if the value is not UTF-8.
absl::StatusOr<Reservation> DecodeReservation(std::optional<std::string_view> value,
                                              const BudgetCounterKeys& current);

// Returns a value with the two keys that it names replaced by `respell`, and the amount's text
// unchanged; for a copy of a reservation in another key layout. A value that names no keys is
// returned unchanged. Errors: InvalidArgument, with the key, if `respell` returns nullopt.
absl::StatusOr<std::string> RespellReservation(
    std::string_view value,
    const std::function<std::optional<std::string>(std::string_view key)>& respell);

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_RESERVATION_H_
