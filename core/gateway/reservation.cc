#include "redouble/core/gateway/reservation.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/text/utf8.h"
#include "redouble/core/gateway/rust_float.h"

namespace redouble::inline v0_1::gateway {
namespace {

// Whether an amount is valid. Minus zero is.
std::optional<double> ParseAmount(std::string_view text) {
  const std::optional<double> amount = ParseFloat(text);
  if (!amount || !std::isfinite(*amount) || *amount < 0) return std::nullopt;
  return amount;
}

}  // namespace

std::string EncodeReservation(const Reservation& reservation) {
  return absl::StrCat(FormatFloatDisplay(reservation.amount_usd), "|", reservation.counters.daily,
                      "|", reservation.counters.monthly);
}

absl::StatusOr<Reservation> DecodeReservation(std::optional<std::string_view> value,
                                              const BudgetCounterKeys& current) {
  if (!value) return Reservation{0, current};
  if (!base::IsValidUtf8(*value)) {
    return absl::InvalidArgumentError("the value of a reservation is not UTF-8");
  }
  const std::vector<std::string> parts = absl::StrSplit(base::ToAbsl(*value), '|');
  if (parts.size() == 3) {
    const std::optional<double> amount = ParseAmount(parts[0]);
    if (!amount) return Reservation{0, current};
    return Reservation{*amount, {parts[1], parts[2]}};
  }
  return Reservation{ParseAmount(*value).value_or(0), current};
}

absl::StatusOr<std::string> RespellReservation(
    std::string_view value,
    const std::function<std::optional<std::string>(std::string_view key)>& respell) {
  std::vector<std::string> parts = absl::StrSplit(base::ToAbsl(value), '|');
  if (parts.size() != 3 || !ParseAmount(parts[0])) return std::string(value);
  for (size_t i = 1; i < parts.size(); ++i) {
    std::optional<std::string> key = respell(parts[i]);
    if (!key) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a reservation names \"", parts[i], "\", which is no budget counter of this layout"));
    }
    parts[i] = *std::move(key);
  }
  return absl::StrJoin(parts, "|");
}

}  // namespace redouble::inline v0_1::gateway
