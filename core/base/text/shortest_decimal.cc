#include "redouble/core/base/text/shortest_decimal.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace redouble::inline v0_1::base {

std::string ShortestDecimal::Mantissa() const {
  if (digits.size() == 1) return digits;
  return digits.substr(0, 1) + "." + digits.substr(1);
}

std::string ShortestDecimal::Positional() const {
  if (exponent < 0) return "0." + std::string(-exponent - 1, '0') + digits;
  const size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return digits + std::string(whole - digits.size(), '0');
  return digits.substr(0, whole) + "." + digits.substr(whole);
}

ShortestDecimal ShortestDecimalOf(double value) {
  std::array<char, 32> buffer;
  const std::to_chars_result end = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                                 value, std::chars_format::scientific);
  const std::string_view text(buffer.data(), end.ptr - buffer.data());
  const size_t e = text.find('e');
  ShortestDecimal decimal;
  for (const char c : text.substr(0, e)) {
    if (c != '.') decimal.digits.push_back(c);
  }
  const size_t digits_begin = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + digits_begin, text.data() + text.size(), decimal.exponent);
  return decimal;
}

}  // namespace redouble::inline v0_1::base
