#include "redouble/core/python/float_text.h"

#include <cmath>
#include <cstdlib>

#include "redouble/core/base/text/shortest_decimal.h"

namespace redouble::inline v0_1::python {
namespace {

using base::ShortestDecimal;

// Returns the digits with a point that has a digit on both sides.
std::string Positional(const ShortestDecimal& decimal) {
  std::string text = decimal.Positional();
  if (text.find('.') == text.npos) text += ".0";
  return text;
}

std::string PythonExponent(int exponent) {
  const std::string digits = std::to_string(std::abs(exponent));
  return std::string(exponent < 0 ? "e-" : "e+") + (digits.size() < 2 ? "0" : "") + digits;
}

constexpr int kFirstExponentWithE = 16;

}  // namespace

std::string FloatRepr(double value) {
  if (std::isnan(value)) return "nan";
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "inf";
  constexpr int kLeastPlainExponent = -4;
  const ShortestDecimal decimal = base::ShortestDecimalOf(std::fabs(value));
  if (decimal.exponent < kLeastPlainExponent || decimal.exponent >= kFirstExponentWithE) {
    return sign + decimal.Mantissa() + PythonExponent(decimal.exponent);
  }
  return sign + Positional(decimal);
}

std::string PydanticFloatText(double value) {
  constexpr int kLeastPlainExponent = -5;
  const std::string sign = std::signbit(value) ? "-" : "";
  const ShortestDecimal decimal = base::ShortestDecimalOf(std::fabs(value));
  if (decimal.exponent < kLeastPlainExponent || decimal.exponent >= kFirstExponentWithE) {
    return sign + decimal.Mantissa() + "e" + std::to_string(decimal.exponent);
  }
  return sign + Positional(decimal);
}

}  // namespace redouble::inline v0_1::python
