#include "redouble/core/base/text/shortest_double.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "redouble/core/base/text/shortest_decimal.h"

namespace redouble::inline v0_1::base {
namespace {

// As emit_digits of fpconv_dtoa.c.
std::string Text(const ShortestDecimal& decimal) {
  const int count = static_cast<int>(decimal.digits.size());
  // The value is digits * 10^scale.
  const int scale = decimal.exponent - count + 1;
  const int magnitude = std::abs(decimal.exponent);
  const bool is_near_integer = scale >= 0 && magnitude < count + 7;
  const bool is_near_fraction = scale < 0 && (scale > -7 || magnitude < 4);
  if (is_near_integer || is_near_fraction) return decimal.Positional();
  return decimal.Mantissa() + (decimal.exponent < 0 ? "e-" : "e+") + std::to_string(magnitude);
}

}  // namespace

std::string FormatShortestDouble(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  constexpr double kLargest = static_cast<double>(std::numeric_limits<int64_t>::max() / 2);
  if (std::fabs(value) <= kLargest && value == std::trunc(value)) {
    return std::to_string(static_cast<int64_t>(value));
  }
  return (value < 0 ? "-" : "") + Text(ShortestDecimalOf(std::fabs(value)));
}

}  // namespace redouble::inline v0_1::base
