// The value of a reservation key: what a request reserved, and in which two counters.
//
// The value names the counters because a request may end on another day than it began; the
// settlement adjusts the counters that were charged.
//
//   EncodeReservation({0.25, {"budget:daily:K:20260509", "budget:monthly:K:202605"}})
//   // "0.25|budget:daily:K:20260509|budget:monthly:K:202605"
//
// Thread-safety: plain values and pure functions.
// Source: seed 002 "budget:reservation", reference/gateway.md 3.7.
#ifndef REDOUBLE_CORE_GATEWAY_RESERVATION_H_
#define REDOUBLE_CORE_GATEWAY_RESERVATION_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/gateway/keys.h"

namespace redouble::gateway {

struct Reservation {
  double amount_usd = 0;
  BudgetCounterKeys counters;
};

// `<amount>|<daily_key>|<monthly_key>`, the amount as FormatFloatDisplay writes it.
std::string EncodeReservation(const Reservation& reservation);

// Reads a value back; `value` is none when the key is missing. Never refuses a text:
//
//   * three parts, the first a finite number that is >= 0: that amount, and the other two parts as
//     the counters, verbatim, even if empty;
//   * a finite number that is >= 0, alone (an old format): that amount, and `current`, the counters
//     of now;
//   * anything else, also a missing value: 0, and `current`.
//
// Errors: InvalidArgument when the bytes are not UTF-8, which the gateway cannot decode.
absl::StatusOr<Reservation> DecodeReservation(std::optional<std::string_view> value,
                                              const BudgetCounterKeys& current);

}  // namespace redouble::gateway

#endif  // REDOUBLE_CORE_GATEWAY_RESERVATION_H_
