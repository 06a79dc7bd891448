#include "redouble/core/gateway/rust_float.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

#include "absl/strings/match.h"
#include "redouble/core/base/text/shortest_decimal.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::gateway {
namespace {

using base::ShortestDecimal;
using base::ShortestDecimalOf;

// The range of the layout with a point, as decimal exponents of d1.d2...
constexpr int kLeastPlainExponent = -5;
constexpr int kMostPlainExponent = 15;
constexpr int64_t kHugeExponent = 1'000'000'000'000'000;

std::string Scientific(const ShortestDecimal& decimal) {
  return decimal.Mantissa() + "e" + std::to_string(decimal.exponent);
}

std::string_view NotFinite(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "inf" : "-inf";
}

std::string_view Sign(double value) { return std::signbit(value) ? "-" : ""; }

// Removes the digits at the front of `text` and returns their number.
size_t TakeDigits(std::string_view& text) {
  size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
  text.remove_prefix(count);
  return count;
}

// Whether the whole text is digits with an optional point and an optional exponent.
bool IsUnsignedDecimal(std::string_view text) {
  size_t digits = TakeDigits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += TakeDigits(text);
  }
  if (digits == 0) return false;
  if (!text.starts_with('e') && !text.starts_with('E')) return text.empty();
  text.remove_prefix(1);
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return TakeDigits(text) > 0 && text.empty();
}

// The exponent, limited to a range in which sums do not overflow.
int64_t ExponentOf(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int64_t exponent = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (read.ec == std::errc::result_out_of_range) exponent = kHugeExponent;
  exponent = std::min(exponent, kHugeExponent);
  return negative ? -exponent : exponent;
}

// The rounded value of a decimal outside the range of a double: 0 or infinity. The place of the
// first digit decides, because such a number is far from 1.
double RoundOutOfRange(std::string_view text) {
  const size_t e = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, e);
  const size_t first = mantissa.find_first_not_of("0.");
  if (first == mantissa.npos) return 0.0;
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const int64_t exponent = e == text.npos ? 0 : ExponentOf(text.substr(e + 1));
  const auto place = static_cast<int64_t>(point) - static_cast<int64_t>(first) + exponent;
  return place > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

std::optional<double> ParseUnsigned(std::string_view text) {
  const absl::string_view word = base::ToAbsl(text);
  if (absl::EqualsIgnoreCase(word, "inf") || absl::EqualsIgnoreCase(word, "infinity")) {
    return std::numeric_limits<double>::infinity();
  }
  if (absl::EqualsIgnoreCase(word, "nan")) return std::numeric_limits<double>::quiet_NaN();
  if (!IsUnsignedDecimal(text)) return std::nullopt;
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc::result_out_of_range ? RoundOutOfRange(text) : value;
}

}  // namespace

std::string FormatFloatArgument(double value) {
  if (!std::isfinite(value)) return std::string(NotFinite(value));
  const ShortestDecimal decimal = ShortestDecimalOf(std::fabs(value));
  std::string text(Sign(value));
  if (decimal.exponent < kLeastPlainExponent || decimal.exponent > kMostPlainExponent) {
    return text + Scientific(decimal);
  }
  text += decimal.Positional();
  if (text.find('.') == text.npos) text += ".0";
  return text;
}

std::string FormatFloatDisplay(double value) {
  if (!std::isfinite(value)) return std::string(NotFinite(value));
  return std::string(Sign(value)) + ShortestDecimalOf(std::fabs(value)).Positional();
}

std::optional<double> ParseFloat(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::optional<double> value = ParseUnsigned(text);
  if (!value) return std::nullopt;
  return negative ? -*value : *value;
}

}  // namespace redouble::inline v0_1::gateway
