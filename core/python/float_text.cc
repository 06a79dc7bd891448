#include "core/python/float_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace redouble::python {
namespace {

// A finite number as d.ddd * 10^exponent.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal ShortestDecimal(double value) {
  std::array<char, 32> buffer;
  const std::to_chars_result end = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                                 value, std::chars_format::scientific);
  const std::string_view text(buffer.data(), end.ptr - buffer.data());
  const size_t e = text.find('e');
  Decimal decimal;
  for (const char c : text.substr(0, e)) {
    if (c != '.') decimal.digits.push_back(c);
  }
  const size_t digits_begin = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + digits_begin, text.data() + text.size(), decimal.exponent);
  return decimal;
}

// With a point and a digit on both sides of it.
std::string Positional(const Decimal& decimal) {
  const auto& [digits, exponent] = decimal;
  if (exponent < 0) return "0." + std::string(-exponent - 1, '0') + digits;
  const size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return digits + std::string(whole - digits.size(), '0') + ".0";
  return digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string Mantissa(const Decimal& decimal) {
  std::string text = decimal.digits.substr(0, 1);
  if (decimal.digits.size() > 1) text += "." + decimal.digits.substr(1);
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
  const Decimal decimal = ShortestDecimal(std::fabs(value));
  if (decimal.exponent < kLeastPlainExponent || decimal.exponent >= kFirstExponentWithE) {
    return sign + Mantissa(decimal) + PythonExponent(decimal.exponent);
  }
  return sign + Positional(decimal);
}

std::string PydanticFloatText(double value) {
  constexpr int kLeastPlainExponent = -5;
  const std::string sign = std::signbit(value) ? "-" : "";
  const Decimal decimal = ShortestDecimal(std::fabs(value));
  if (decimal.exponent < kLeastPlainExponent || decimal.exponent >= kFirstExponentWithE) {
    return sign + Mantissa(decimal) + "e" + std::to_string(decimal.exponent);
  }
  return sign + Positional(decimal);
}

}  // namespace redouble::python
